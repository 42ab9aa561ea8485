/// The procedures that give a new link longer packets and another PHY, and the calls waiting for their end.
struct LinkImprovement {
  /// Procedures in progress.
  private var running = 0
  /// Calls for the parameters in force: while a procedure runs, these are about to change.
  private var waiting: [() -> Void] = []

  mutating func begins() { running += 1 }

  /// - Returns: the calls that need not wait any longer.
  mutating func ends() -> [() -> Void] {
    running -= 1
    return running > 0 ? [] : linkEnded()
  }

  /// - Returns: the calls that need not wait any longer.
  mutating func linkEnded() -> [() -> Void] {
    defer { (running, waiting) = (0, []) }
    return waiting
  }

  /// - Returns: true if the call waits.
  mutating func waits(_ call: @escaping () -> Void) -> Bool {
    guard running > 0 else { return false }
    waiting.append(call)
    return true
  }
}
