import BledRPC
import Bluetooth

extension BledClient {
  /// Records the packets of adapters, of all programs.
  ///
  /// - Parameters:
  ///   - format: "pcapng" or "btsnoop".
  ///   - adapter: Only this adapter; nil: all.
  ///   - keys: Whether keys are recorded, too.
  /// - Returns: the number of the recording, and the descriptor from which it is read: a pipe, which blocks. The
  ///   recording ends when the descriptor is closed, and with `stopCapture`.
  /// - Throws: `BledError.notPermitted`, `.limitReached`, `GAPError.notSupported`; and as `call`.
  public func startCapture(
    format: CaptureFormat = .pcapng, adapter: String? = nil, keys: Bool = false
  ) async throws(BluetoothError) -> (capture: Int, descriptor: ReceivedDescriptor) {
    let (result, descriptor) = try await core.callForDescriptor(
      CaptureStart.self, .init(format: format, adapter: adapter, keys: keys ? true : nil))
    return (result.capture, descriptor)
  }

  /// Ends a recording: earlier packets are still read, and then the end.
  /// - Returns: how many packets it has, and how many are missing.
  public func stopCapture(_ capture: Int) async throws(BluetoothError) -> CaptureStop.Result {
    try await call(CaptureStop.self, .init(capture: capture))
  }
}
