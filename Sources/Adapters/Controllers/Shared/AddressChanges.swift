import Adapter
import Bluetooth
import Radio

/// The address of one controller: schedules its changes, and the pauses of activities that they require, since a
/// controller accepts neither another address nor another resolving list while it scans, advertises or connects.
///
/// | State    | Input                                       | Actions and next state                                |
/// |----------|---------------------------------------------|-------------------------------------------------------|
/// | idle     | `begin`                                     | used                                                  |
/// | used     | the address was used for long enough, `ask` | `pauseIsDue`: due                                     |
/// | due      | `postpone`                                  | used, for a second                                    |
/// | due      | `pause`                                     | pausing, for 5 s at most                              |
/// | pausing  | `quiet`                                     | `change`: changing                                    |
/// | pausing  | no quiet in time                            | `resume` under the last address: used, for a minute   |
/// | changing | `changed`                                   | `resume` under the address of the moment: used        |
/// | any      | `ask`                                       | once it is used, a pause is due in a minute at most   |
/// | any      | `close`                                     | idle                                                  |
///
/// From `pause` to `resume` ends of the scan and of advertisements are withheld from programs (`withholds`).
struct AddressChanges {
  enum Action: Hashable {
    /// Scan, advertising and connecting are to pause, once that harms no link: `pause` or `postpone` follows.
    case pauseIsDue
    /// All activities have ended: the controller is to be given its next address, and its resolving list. `changed`
    /// follows.
    case change
    /// Activities resume under this address. Programs were not notified of activities that ended for the pause.
    case resume(DeviceAddress, scanEnded: Bool, ended: Set<AdvertisingSetID>)
  }

  private enum State {
    case idle
    /// `until` is nil for a permanent address.
    case used(until: Instant?)
    case due
    case pausing(until: Instant)
    case changing
  }

  /// Delay before an impossible change is tried again.
  static let retry = Duration.seconds(60)
  /// Timeout for the activities of a controller to end.
  private static let timeout = Duration.seconds(5)

  private var state = State.idle
  /// The present address.
  private(set) var current = DeviceAddress.none
  /// True if a pause is wanted, even without a change of address.
  private var isAsked = false
  /// The ends of the present pause.
  private var withheld = WithheldEnds()

  /// When `tick` is due.
  var deadline: Instant? {
    switch state {
    case .used(let until): until
    case .pausing(let until): until
    case .idle, .due, .changing: nil
    }
  }

  /// True while scan, advertising and connecting pause.
  var isPausing: Bool {
    switch state {
    case .pausing, .changing: true
    case .idle, .used, .due: false
    }
  }

  /// The controller is in use under this address.
  /// - Parameter time: its lifetime; nil for a permanent address.
  mutating func begin(_ address: DeviceAddress, for time: Duration?, at now: Instant) {
    self = AddressChanges()
    current = address
    state = .used(until: time.map(now.advanced))
  }

  /// The controller is no longer in use.
  mutating func close() { self = AddressChanges() }

  /// A pause is wanted.
  mutating func ask() -> [Action] {
    if case .idle = state { return [] }
    isAsked = true
    guard case .used = state else { return [] }
    state = .due
    return [.pauseIsDue]
  }

  /// Scan, advertising and connecting pause.
  mutating func pause(at now: Instant) {
    if case .due = state { state = .pausing(until: now.advanced(by: Self.timeout)) }
  }

  /// A pause would harm a link.
  mutating func postpone(at now: Instant) {
    if case .due = state { state = .used(until: now.advanced(by: .seconds(1))) }
  }

  /// True if this end belongs to the pause, and is hidden from programs.
  mutating func withholds(_ action: RadioAction) -> Bool { isPausing && withheld.withhold(action) }

  /// All activities have ended for the pause.
  mutating func quiet() -> [Action] {
    guard case .pausing = state else { return [] }
    isAsked = false
    state = .changing
    return [.change]
  }

  /// The controller has another address, or keeps its own.
  /// - Parameters:
  ///   - address: the new address; nil if it keeps its own.
  ///   - time: the time until the next change; nil for none.
  mutating func changed(to address: DeviceAddress?, for time: Duration?, at now: Instant) -> [Action] {
    guard case .changing = state else { return [] }
    current = address ?? current
    return resume(for: time, at: now)
  }

  mutating func tick(at now: Instant) -> [Action] {
    switch state {
    case .used(let until?) where until <= now:
      state = .due
      return [.pauseIsDue]
    case .pausing(let until) where until <= now: return resume(for: Self.retry, at: now)
    case .idle, .used, .due, .pausing, .changing: return []
    }
  }

  private mutating func resume(for time: Duration?, at now: Instant) -> [Action] {
    // A pause requested meanwhile is next.
    let time = isAsked ? min(time ?? Self.retry, Self.retry) : time
    state = .used(until: time.map(now.advanced))
    defer { withheld = WithheldEnds() }
    return [.resume(current, scanEnded: withheld.scan, ended: withheld.sets)]
  }
}
