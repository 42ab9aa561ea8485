import Adapter
import Bluetooth
import BluetoothCrypto
import Radio

/// The addresses of one controller: when the next private one takes the place of the last, and the activities that
/// pause meanwhile, since a controller takes no other address while it scans, advertises or connects, nor another
/// resolving list.
///
/// | State    | Input                                 | Actions and next state                                  |
/// |----------|---------------------------------------|---------------------------------------------------------|
/// | idle     | `begin`                               | gives the first address: used                           |
/// | used     | the address was used for long enough, the list differs | `pauseIsDue`: due                      |
/// | due      | `pause`                               | pausing, for 5 s at most                                |
/// | pausing  | `quiet`, the list differs             | `changeList`: listing                                   |
/// | pausing  | `quiet`, it does not                  | `set`: setting; `resume` if the address is not private: used |
/// | listing  | `listed`                              | as `quiet`                                              |
/// | pausing  | no quiet in time                      | `resume` under the last address: used, for a minute     |
/// | setting  | the controller has it                 | `resume` under it: used                                 |
/// | setting  | the controller refuses it             | `resume` under the last one: used, for a minute         |
/// | setting  | no answer                             | `set` the last one: restoring                           |
/// | restoring | the controller has it                | `resume` under it: used, for a minute                   |
/// | restoring | it refuses it, no answer             | `failed`: idle                                          |
/// | any      | `close`                               | idle                                                    |
///
/// From `pause` to `resume` ends of the scan and of advertisements are withheld from programs (`withholds`).
package struct OwnAddresses {
  package enum Action: Hashable {
    /// Scan, advertising and connecting are to pause.
    case pauseIsDue
    /// The controller's resolving list is to be changed; `listed` follows.
    case changeList
    /// The controller is to be given this address.
    case set(DeviceAddress)
    /// They go on under this address. Programs were not told of activities that ended for the pause.
    case resume(DeviceAddress, scanEnded: Bool, ended: Set<AdvertisingSetID>)
    /// Which address the controller has is not known: it cannot be used.
    case failed
  }

  /// The controller's answer to an address.
  package enum Answer: Hashable {
    case taken
    case refused
    /// Nothing: it may have the address or not.
    case missing
  }

  private enum State {
    case idle
    /// `until` is nil for an address that is not private.
    case used(until: Instant?)
    case due
    case pausing(until: Instant)
    case listing
    case setting(DeviceAddress)
    case restoring
  }

  /// After the controller took no new address.
  static let retry = Duration.seconds(60)
  /// How long the activities of a controller may take to end.
  static let timeout = Duration.seconds(5)

  private let key: Key128?
  private let rotation: Duration
  private var state = State.idle
  /// The address of the moment.
  private var current = DeviceAddress.none
  /// Whether the resolving list is to be changed.
  private var isListDue = false
  /// The ends of the present pause.
  private var withheld = WithheldEnds()

  /// - Parameters:
  ///   - key: the identity resolving key; nil: the controller keeps its address.
  ///   - rotation: how long one address is used.
  package init(key: Key128?, rotation: Duration) {
    self.key = key
    self.rotation = rotation
  }

  /// When `tick` is due.
  package var deadline: Instant? {
    switch state {
    case .used(let until): until
    case .pausing(let until): until
    case .idle, .due, .listing, .setting, .restoring: nil
    }
  }

  /// Whether scan, advertising and connecting pause until there is another address.
  package var isPausing: Bool {
    switch state {
    case .pausing, .listing, .setting, .restoring: true
    case .idle, .used, .due: false
    }
  }

  /// The controller is in use.
  /// - Parameter own: the address that it keeps.
  /// - Returns: its first address.
  package mutating func begin(
    _ own: DeviceAddress, at now: Instant, using random: inout some RandomNumberGenerator
  ) -> DeviceAddress {
    current = key.map { .privateAddress(of: $0, using: &random) } ?? own
    state = .used(until: key == nil ? nil : now.advanced(by: rotation))
    return current
  }

  /// The resolving list differs from the wanted one.
  package mutating func listChanged() -> [Action] {
    isListDue = true
    guard case .used = state else { return [] }
    state = .due
    return [.pauseIsDue]
  }

  /// The controller is not in use any more.
  package mutating func close() {
    (state, isListDue) = (.idle, false)
    withheld = WithheldEnds()
  }

  /// Scan, advertising and connecting pause.
  package mutating func pause(at now: Instant) {
    if case .due = state { state = .pausing(until: now.advanced(by: Self.timeout)) }
  }

  /// Whether this is an end for the pause, which programs need not notice.
  package mutating func withholds(_ action: RadioAction) -> Bool { isPausing && withheld.withhold(action) }

  /// All activities have ended for the pause.
  package mutating func quiet(
    at now: Instant, using random: inout some RandomNumberGenerator
  ) -> [Action] {
    guard case .pausing = state else { return [] }
    guard isListDue else { return replace(at: now, using: &random) }
    isListDue = false
    state = .listing
    return [.changeList]
  }

  /// The resolving list is as wanted, or as the controller has it.
  package mutating func listed(at now: Instant, using random: inout some RandomNumberGenerator) -> [Action] {
    guard case .listing = state else { return [] }
    return replace(at: now, using: &random)
  }

  private mutating func replace(at now: Instant, using random: inout some RandomNumberGenerator) -> [Action] {
    guard let key else { return resume(for: .zero, at: now) }
    let next = DeviceAddress.privateAddress(of: key, using: &random)
    state = .setting(next)
    return [.set(next)]
  }

  /// The controller was given an address, and has answered or not.
  package mutating func answered(_ answer: Answer, at now: Instant) -> [Action] {
    switch (state, answer) {
    case (.setting(let next), .taken):
      current = next
      return resume(for: rotation, at: now)
    case (.setting, .refused), (.restoring, .taken): return resume(for: Self.retry, at: now)
    case (.setting, .missing):
      state = .restoring
      return [.set(current)]
    case (.restoring, _):
      close()
      return [.failed]
    case (.idle, _), (.used, _), (.due, _), (.pausing, _), (.listing, _): return []
    }
  }

  /// Time has passed.
  package mutating func tick(at now: Instant) -> [Action] {
    switch state {
    case .used(let until?) where until <= now:
      state = .due
      return [.pauseIsDue]
    case .pausing(let until) where until <= now: return resume(for: Self.retry, at: now)
    case .idle, .used, .due, .pausing, .listing, .setting, .restoring: return []
    }
  }

  private mutating func resume(for time: Duration, at now: Instant) -> [Action] {
    // A list that changed meanwhile is next.
    state = .used(until: key == nil && !isListDue ? nil : now.advanced(by: isListDue ? min(time, Self.retry) : time))
    defer { withheld = WithheldEnds() }
    return [.resume(current, scanEnded: withheld.scan, ended: withheld.sets)]
  }
}
