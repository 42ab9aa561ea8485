/// Decides when reading from a link is paused because its only reader falls behind.
///
/// | State  | Input                                                       | Action, next state |
/// |--------|-------------------------------------------------------------|--------------------|
/// | open   | a value for the only reader, which has too much to read     | pause → paused     |
/// | paused | the reader has caught up, has ended, or is not the only one | resume → open      |
/// | paused | `timeout` has passed                                        | resume → spent     |
/// | spent  | the reader has caught up, has ended, or is not the only one | → open             |
///
/// After the timeout, values queue for the reader as far as there is room. After that it loses its subscription, or the
/// device's writes.
struct Brake {
  enum Action: Hashable { case pause, resume }

  private enum State { case open, paused, spent }

  /// Maximum time for holding a link. Responses and requests from the device are held back together with its values,
  /// and the device gives up on a response after 30 s (Core 5.4, Vol 3, Part F, 3.3.3).
  static let timeout = Duration.seconds(10)

  private var state = State.open

  var isOpen: Bool { state == .open }

  mutating func overrun() -> Action? {
    guard state == .open else { return nil }
    state = .paused
    return .pause
  }

  mutating func relieved() -> Action? {
    defer { state = .open }
    return state == .paused ? .resume : nil
  }

  mutating func timedOut() -> Action? {
    guard state == .paused else { return nil }
    state = .spent
    return .resume
  }
}
