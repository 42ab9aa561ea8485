import Bluetooth

/// The attempts to connect to Home Assistant where it cannot connect to the proxy, such as behind NAT.
///
/// | State      | Input                  | Action  | Next                                        |
/// |------------|------------------------|---------|---------------------------------------------|
/// | idle       | required               | connect | connecting                                  |
/// | pausing    | not required           |         | idle                                        |
/// | pausing    | the deadline           | connect | connecting                                  |
/// | connecting | not required           | cancel  | idle                                        |
/// | connecting | the deadline           | cancel  | pausing                                     |
/// | connecting | failed                 |         | pausing                                     |
/// | connecting | opened                 |         | open                                        |
/// | open       | served                 |         | open, and the next pause is the shortest    |
/// | open       | ended                  |         | pausing, or idle if not required            |
///
/// A pause is 5 s, then twice the one before, up to 5 minutes; a fifth more or less by chance.
struct OutgoingAttempts {
  enum Action: Hashable {
    case connect
    case cancel
  }

  private enum State {
    case idle
    case pausing(until: Instant)
    case connecting(until: Instant)
    case open
  }

  private static let shortestPause = 5.0
  private static let longestPause = 300.0
  private static let connectTime = Duration.seconds(10)

  private var state = State.idle
  private var isRequired = false
  private var failures = 0

  /// The time of the next call of `expire`; nil: none.
  var deadline: Instant? {
    switch state {
    case .pausing(let until), .connecting(let until): until
    case .idle, .open: nil
    }
  }

  /// - Parameter isRequired: true if the proxy is ready, and Home Assistant is not connected to it.
  mutating func require(_ isRequired: Bool, at now: Instant) -> Action? {
    self.isRequired = isRequired
    switch (state, isRequired) {
    case (.idle, true): return connect(at: now)
    case (.pausing, false): state = .idle
    case (.connecting, false):
      state = .idle
      return .cancel
    case (.idle, false), (.pausing, true), (.connecting, true), (.open, _): break
    }
    return nil
  }

  /// The deadline has come.
  /// - Parameter chance: a random number, 0 to 1.
  mutating func expire(at now: Instant, chance: Double) -> Action? {
    guard let deadline, deadline <= now else { return nil }
    if case .pausing = state { return connect(at: now) }
    pause(at: now, chance)
    return .cancel
  }

  mutating func failed(at now: Instant, chance: Double) {
    if case .connecting = state { pause(at: now, chance) }
  }

  mutating func opened() {
    if case .connecting = state { state = .open }
  }

  /// The client at the other end has shown the key, and said hello.
  mutating func served() { failures = 0 }

  /// The opened connection has ended.
  mutating func ended(at now: Instant, chance: Double) {
    if case .open = state { pause(at: now, chance) }
  }

  private mutating func connect(at now: Instant) -> Action {
    state = .connecting(until: now.advanced(by: Self.connectTime))
    return .connect
  }

  private mutating func pause(at now: Instant, _ chance: Double) {
    let pause = min(Self.longestPause, Self.shortestPause * Double(1 << min(failures, 6)))
    failures += failures < 6 ? 1 : 0
    let spread = 0.8 + 0.4 * min(1, max(0, chance))
    state = isRequired ? .pausing(until: now.advanced(by: .seconds(pause * spread))) : .idle
  }
}
