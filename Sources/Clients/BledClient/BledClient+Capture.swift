import BledRPC
import Bluetooth

extension BledClient {
  /// Records the packets of adapters, of all programs.
  ///
  /// - Parameters:
  ///   - format: "pcapng" or "btsnoop".
  ///   - adapter: Only this adapter; nil: all.
  ///   - keys: True to record keys, too.
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
  /// - Returns: the numbers of its packets and of missing ones.
  public func stopCapture(_ capture: Int) async throws(BluetoothError) -> CaptureStop.Result {
    try await call(CaptureStop.self, .init(capture: capture))
  }
}
