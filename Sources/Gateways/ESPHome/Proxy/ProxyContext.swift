import BledConnection
import Bluetooth

/// The parts of a proxy that all its clients use.
final class ProxyContext {
  let connector: any DaemonConnector
  let clock: any Scheduler
  /// The adapter to connect with; nil: any.
  let adapter: String?
  var counters = ProxyCounters()
  private(set) var slots: Slots
  /// The slots have changed.
  var slotsChanged: () -> Void = {}

  init(_ connector: any DaemonConnector, _ clock: any Scheduler, adapter: String?, slots: Int) {
    self.connector = connector
    self.clock = clock
    self.adapter = adapter
    self.slots = Slots(limit: slots)
  }

  func claim(_ address: UInt64, by client: Int) -> Bool {
    guard slots.claim(address, by: client) else { return false }
    slotsChanged()
    return true
  }

  func release(_ address: UInt64, by client: Int) {
    if slots.release(address, by: client) { slotsChanged() }
  }
}
