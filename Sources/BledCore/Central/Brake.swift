/// Slows a link down whose only reader falls behind.
///
/// | State   | Input                                                      | Action, next state |
/// |---------|------------------------------------------------------------|--------------------|
/// | open    | a value for the only reader, who has too much to read      | hold → holding     |
/// | holding | the reader has caught up, is gone, or is not the only one  | release → open     |
/// | holding | `patience` has passed                                      | release → spent    |
/// | spent   | the reader has caught up, is gone, or is not the only one  | → open             |
///
/// When patience is spent values wait for the reader as far as there is room. Then its subscription is lost, or what devices write to it.
struct Brake {
  enum Action: Hashable { case hold, release }

  private enum State { case open, holding, spent }

  /// How long a link is held at the most. Answers and requests of the device are held with its values, and it gives up on an answer
  /// after 30 s (Core 5.4, Vol 3, Part F, 3.3.3).
  static let patience = Duration.seconds(10)

  private var state = State.open

  /// Whether nothing was done that has to be undone.
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

  mutating func patienceEnded() -> Action? {
    guard state == .holding else { return nil }
    state = .spent
    return .release
  }
}
