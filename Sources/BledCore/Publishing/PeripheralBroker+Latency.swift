import Adapter
import BledRPC
import Bluetooth

extension PeripheralBroker {
  /// Asks a device that connected to us for other connection parameters.
  func setLatency(_ params: ServerSetLatency.Params) throws {
    guard let device = links.links.first(where: { $0.peripheral.id == params.central && $0.link.role == .peripheral })
    else {
      throw GAPError.notConnected.error("no device \(params.central) is connected to this machine")
    }
    device.link.request(ConnectionParameters(params.latency))
  }
}

extension ConnectionParameters {
  /// The intervals are multiples of 15 ms with room above, which every central takes; the timeout is that of a sound link.
  init(_ latency: ConnectionLatency) {
    let interval: ClosedRange<Duration> =
      switch latency {
      case .low: .milliseconds(15)...(.milliseconds(30))
      case .medium: .milliseconds(90)...(.milliseconds(120))
      case .high: .milliseconds(480)...(.milliseconds(510))
      }
    self.init(interval: interval, supervisionTimeout: .seconds(5))
  }
}
