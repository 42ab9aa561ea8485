import Bluetooth

/// Decides when to request enhanced ATT bearers on one link.
///
/// | State   | Input                                               | Then                                      |
/// |---------|-----------------------------------------------------|-------------------------------------------|
/// | idle    | `begin`                                             | one is asked for: asking                  |
/// | asking  | `opened`, fewer than wanted                         | the next one is asked for: asking         |
/// | asking  | `opened`, as many as wanted                         | over                                      |
/// | asking  | `refused` for lack of room, and there is none yet   | after a time one is asked for: asking     |
/// | asking  | the same for the fourth time                        | over                                      |
/// | asking  | `refused` for another reason, or there is one       | over                                      |
/// | over    | any                                                 | over                                      |
///
/// A device that opens bearers itself at the same time may have no room for ours at first (Core 5.4, Vol 3, Part G,
/// 5.4). A central may repeat the request at any time; a peripheral has to wait first.
struct BearerOpening {
  private enum State {
    case idle
    case asking(opened: Int, refusals: Int)
    case over
  }

  /// Requested bearers.
  private static let wanted = 2
  /// The delays before repeated requests.
  private static let delays: [Duration] = [.seconds(1), .seconds(5), .seconds(25)]

  private var state = State.idle

  /// True if any was requested.
  var hasBegun: Bool { if case .idle = state { false } else { true } }

  /// They are wanted.
  /// - Returns: true to request one.
  mutating func begin() -> Bool {
    guard case .idle = state else { return false }
    state = .asking(opened: 0, refusals: 0)
    return true
  }

  /// The device has opened the requested bearer.
  /// - Returns: true to request another one.
  mutating func opened() -> Bool {
    guard case .asking(let opened, _) = state, opened + 1 < Self.wanted else {
      state = .over
      return false
    }
    state = .asking(opened: opened + 1, refusals: 0)
    return true
  }

  /// The device has not opened it.
  /// - Parameter lacksRoom: true if the device has no room at present.
  /// - Returns: the delay before the next request; nil: never on this link.
  mutating func refused(lacksRoom: Bool) -> Duration? {
    guard lacksRoom, case .asking(opened: 0, let refusals) = state, Self.delays.indices.contains(refusals) else {
      state = .over
      return nil
    }
    state = .asking(opened: 0, refusals: refusals + 1)
    return Self.delays[refusals]
  }
}
