/// Decides when reading of a link is paused because its only reader falls behind.
///
/// | State   | Input                                                     | Action, next state |
/// |---------|-----------------------------------------------------------|--------------------|
/// | open    | a value for the only reader, which has too much to read   | hold → holding     |
/// | holding | the reader has caught up, is gone, or is not the only one | release → open     |
/// | holding | `timeout` has passed                                      | release → spent    |
/// | spent   | the reader has caught up, is gone, or is not the only one | → open             |
///
/// When the time is over, values queue for the reader as far as there is room. After that it loses its subscription,
/// or the writes of the device.
struct Brake {
  enum Action: Hashable { case hold, release }

  private enum State { case open, holding, spent }

  /// How long a link is held at most. Answers and requests of the device are held back together with its values, and
  /// the device gives up on an answer after 30 s (Core 5.4, Vol 3, Part F, 3.3.3).
  static let timeout = Duration.seconds(10)

  private var state = State.open

  /// Whether there is nothing to undo.
  var isOpen: Bool { state == .open }

  mutating func overrun() -> Action? {
    guard state == .open else { return nil }
    state = .holding
    return .hold
  }

  mutating func relieved() -> Action? {
    defer { state = .open }
    return state == .holding ? .release : nil
  }

  mutating func timedOut() -> Action? {
    guard state == .holding else { return nil }
    state = .spent
    return .release
  }
}
