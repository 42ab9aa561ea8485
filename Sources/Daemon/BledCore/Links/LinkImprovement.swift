/// The procedures that give a new link longer packets and another PHY, and the calls that wait for their end.
struct LinkImprovement {
  /// How many have not ended.
  private var running = 0
  /// Calls that tell the parameters in force: while a procedure runs, these are about to change.
  private var waiting: [() -> Void] = []

  mutating func begins() { running += 1 }

  /// - Returns: the calls that no longer have to wait.
  mutating func ends() -> [() -> Void] {
    running -= 1
    return running > 0 ? [] : linkEnded()
  }

  /// - Returns: the calls that no longer have to wait.
  mutating func linkEnded() -> [() -> Void] {
    defer { (running, waiting) = (0, []) }
    return waiting
  }

  /// - Returns: Whether a call waits.
  mutating func waits(_ call: @escaping () -> Void) -> Bool {
    guard running > 0 else { return false }
    waiting.append(call)
    return true
  }
}
