import BledClient
import BledRPC

extension Device {
  /// Reports each loss of packets of the device, and so perhaps of values, until it is cancelled.
  func observeLosses(_ report: @escaping @MainActor @Sendable (String) -> Void) -> Observation {
    peripheral.client.observe(GATTValuesLost.self) { [identifier = peripheral.identifier] loss in
      guard loss.peripheral == identifier else { return }
      let text = "packets dropped because a buffer was full: \(loss.packets); values may be missing here"
      Task { @MainActor in report(text) }
    } end: { _ in
    }
  }
}
