/// The updates of values that have not left yet.
///
/// | State | Input                | What happens                                            |
/// |-------|----------------------|---------------------------------------------------------|
/// | open  | the 16th waits       | the next one is refused → full                          |
/// | full  | one more             | refused                                                 |
/// | full  | at most 8 wait again | open: the program is told, once                         |
struct WaitingUpdates {
  private var count = 0
  private var hasRefused = false

  /// One more is to be sent. False: there is no room.
  mutating func begin() -> Bool {
    guard count < 16, !hasRefused else {
      hasRefused = true
      return false
    }
    count += 1
    return true
  }

  /// One has left. True: the program is to be told that there is room again.
  mutating func end() -> Bool {
    count = max(0, count - 1)
    guard hasRefused, count <= 8 else { return false }
    hasRefused = false
    return true
  }
}
