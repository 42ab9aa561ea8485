import Adapter
import Bluetooth

/// The events of an adapter on their way to its user, in order. Events raised inside a user's call are delivered after
/// it returns.
final class EventQueue {
  /// Called on the scheduler's thread.
  var onEvent: ((AdapterEvent) -> Void)?
  private let scheduler: any Scheduler
  private var waiting: [AdapterEvent] = []
  private var isFlushing = false

  init(on scheduler: any Scheduler) { self.scheduler = scheduler }

  /// Reports an event, after the call in which it arose.
  func emit(_ event: AdapterEvent) {
    waiting.append(event)
    guard !isFlushing else { return }
    isFlushing = true
    scheduler.execute { self.flush() }
  }

  /// Reports an event that no call caused, at once unless others wait.
  func emitAtOnce(_ event: AdapterEvent) {
    guard waiting.isEmpty, !isFlushing else { return emit(event) }
    onEvent?(event)
  }

  /// A connection to a device is no longer wanted: its link, if still unreported, is not reported, but disconnected.
  func withdrawConnection(to device: DeviceAddress) {
    waiting.removeAll { event in
      guard case .connected(let link) = event, link.peer == device, link.role == .central else { return false }
      scheduler.execute { link.disconnect() }
      return true
    }
  }

  /// Reports the waiting events, before something that arrives another way. Not from inside a call of the user.
  func deliver() {
    // Waiting events are flushed soon; usually there are none.
    guard isFlushing else { return }
    while !waiting.isEmpty {
      // Removed even without a user: the arguments of an optional call that is not made are not evaluated.
      let event = waiting.removeFirst()
      onEvent?(event)
    }
  }

  private func flush() {
    deliver()
    isFlushing = false
  }
}
