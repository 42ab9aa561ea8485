import Adapter
import Bluetooth
import Radio

/// The address under which one controller is seen: when the next one takes its place, and the activities that pause
/// meanwhile, since a controller takes no other address while it scans, advertises or connects, nor another resolving
/// list.
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
    /// Scan, advertising and connecting are to pause, when that harms no link: `pause` or `postpone` follows.
    case pauseIsDue
    /// Nothing goes on: the controller is to be given its next address, and its resolving list. `changed` follows.
    case change
    /// They go on under this address. Programs were not told of activities that ended for the pause.
    case resume(DeviceAddress, scanEnded: Bool, ended: Set<AdvertisingSetID>)
  }

  private enum State {
    case idle
    /// `until` is nil for an address that stays.
    case used(until: Instant?)
    case due
    case pausing(until: Instant)
    case changing
  }

  /// The time until a change is tried again that was not possible.
  static let retry = Duration.seconds(60)
  /// How long the activities of a controller may take to end.
  private static let timeout = Duration.seconds(5)

  private var state = State.idle
  /// The address of the moment.
  private(set) var current = DeviceAddress.none
  /// Whether a pause is wanted, whether or not the address is to change.
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

  /// Whether scan, advertising and connecting pause.
  var isPausing: Bool {
    switch state {
    case .pausing, .changing: true
    case .idle, .used, .due: false
    }
  }

  /// The controller is in use under this address.
  /// - Parameter time: for how long; nil: the address stays.
  mutating func begin(_ address: DeviceAddress, for time: Duration?, at now: Instant) {
    self = AddressChanges()
    current = address
    state = .used(until: time.map(now.advanced))
  }

  /// The controller is not in use any more.
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

  /// Whether this is an end for the pause, which programs need not notice.
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
  ///   - address: the other one.
  ///   - time: the time until the next change; nil: there is none.
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
    // A pause that was wanted meanwhile is next.
    let time = isAsked ? min(time ?? Self.retry, Self.retry) : time
    state = .used(until: time.map(now.advanced))
    defer { withheld = WithheldEnds() }
    return [.resume(current, scanEnded: withheld.scan, ended: withheld.sets)]
  }
}
