/// The writes without response that have not left yet.
///
/// | State   | Input                | What happens                                     |
/// |---------|----------------------|--------------------------------------------------|
/// | open    | the 32nd waits       | blocked: `canSendWriteWithoutResponse` is false  |
/// | blocked | 256 wait             | what comes is dropped                            |
/// | blocked | at most 8 wait again | open: the program is told, once                  |
struct UnansweredWrites {
  private(set) var isBlocked = false
  private var count = 0

  /// One more is to be sent. False: there is no room.
  mutating func begin() -> Bool {
    guard count < 256 else { return false }
    count += 1
    if count >= 32 { isBlocked = true }
    return true
  }

  /// One has left. True: the program is to be told that there is room again.
  mutating func end() -> Bool {
    guard count > 0 else { return false }
    count -= 1
    guard isBlocked, count <= 8 else { return false }
    isBlocked = false
    return true
  }
}
