import BledRPC
import Bluetooth

/// A device of a presence scan appeared or disappeared.
public enum DevicePresence: Hashable, Sendable {
  /// The device is present.
  case found(ScanFound.Params)
  /// The device was not received for the time.
  case lost(ScanLost.Params)

  /// The devices that appear and disappear, in order.
  public typealias Changes = AsyncThrowingStream<DevicePresence, any Error>

  /// Begins such a scan, which ends with the stream.
  static func changes(_ parameters: ScanStart.Params, _ core: ClientCore) async throws(BluetoothError) -> Changes {
    // The last change of a device counts, so none is dropped.
    let buffering = StreamBuffering.all(1024)
    let (stream, output) = AsyncThrowingStream.makeStream(of: DevicePresence.self, buffering)
    var parameters = parameters
    parameters.presence = true
    let scan = parameters.scan
    let found = core.observe(
      ScanFound.self, value: { if $0.scan == scan { output.offer(.found($0), buffering) } },
      end: { output.finish(throwing: $0) })
    let lost = core.observe(
      ScanLost.self, value: { if $0.scan == scan { output.offer(.lost($0), buffering) } },
      end: { output.finish(throwing: $0) })
    try await core.scan(parameters, output) {
      found.cancel()
      lost.cancel()
    }
    return stream
  }
}
