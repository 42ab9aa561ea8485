import TestSupport
import Testing

/// Waits until a condition holds that others bring about; fails the test when patience ends.
func until(_ condition: () async throws -> Bool, location: SourceLocation = #_sourceLocation) async throws {
  let end = Patience.end
  while true {
    // The last look is after the end: the turn of this task may come late.
    let isLast = ContinuousClock.now >= end
    if try await condition() { return }
    if isLast { break }
    // How long the pause is decides nothing.
    try await Task.sleep(for: .milliseconds(10))
  }
  Issue.record("the condition did not come true within \(Patience.seconds) s", sourceLocation: location)
}
