import Bluetooth
import HCI

/// Links that devices initiated and that the kernel is to offer to the listener on channel 4. It offers each to the
/// latest listener, of any user: another program has accepted a link that is not offered in time.
///
/// | State    | Input                                       | Then                                              |
/// |----------|---------------------------------------------|---------------------------------------------------|
/// | none     | the link is up                              | → asking, or → due where the kernel asks nothing  |
/// | asking   | the kernel knows the device's features      | → due                                             |
/// | asking   | 10 s                                        | overdue                                           |
/// | due      | 1 s                                         | overdue                                           |
/// | overdue  | the kernel's offers could not be accepted   | → due                                             |
/// | any      | the link was offered                        | → none                                            |
/// | asking   | the link has ended                          | → none                                            |
/// | due      | the link has ended                          | → none; it may have been taken                    |
///
/// The kernel asks a device for its features before it offers the link, if the controller lets a peripheral ask.
struct ExpectedOffers {
  private enum State: Hashable {
    case asking(until: Instant)
    case due(until: Instant)

    var deadline: Instant {
      switch self {
      case .asking(let end), .due(let end): end
      }
    }
  }

  private static let askingTime = Duration.seconds(10)
  private static let dueTime = Duration.seconds(1)

  private var states: [UInt16: State] = [:]

  /// The time at which a link becomes overdue; nil while nothing is expected.
  var deadline: Instant? { states.values.map(\.deadline).min() }

  /// A device's link is up.
  /// - Parameter asks: true if the kernel asks the device for its features.
  mutating func began(_ handle: UInt16, asks: Bool, at now: Instant) {
    states[handle] =
      asks ? .asking(until: now.advanced(by: Self.askingTime)) : .due(until: now.advanced(by: Self.dueTime))
  }

  /// The kernel has the device's answer, or knows that none will arrive.
  mutating func asked(_ handle: UInt16, at now: Instant) {
    switch states[handle] {
    case .asking: states[handle] = .due(until: now.advanced(by: Self.dueTime))
    case .due, nil: break
    }
  }

  /// The link was offered.
  mutating func offered(_ handle: UInt16) { states[handle] = nil }

  /// The link has ended, or its handle is reused.
  /// - Returns: true if it should have been offered by then.
  mutating func ended(_ handle: UInt16) -> Bool {
    switch states.removeValue(forKey: handle) {
    case .due: true
    case .asking, nil: false
    }
  }

  /// The links that were not offered in time; they are no longer expected.
  mutating func overdue(at now: Instant) -> [UInt16] {
    let handles = states.filter { $0.value.deadline <= now }.keys.sorted()
    for handle in handles { states[handle] = nil }
    return handles
  }

  /// Offers could not be accepted: the overdue links, which may be among them, get more time.
  mutating func postpone(at now: Instant) {
    for (handle, state) in states where state.deadline <= now {
      states[handle] = .due(until: now.advanced(by: Self.dueTime))
    }
  }

  /// Nothing is expected from now on.
  mutating func clear() { states = [:] }
}
