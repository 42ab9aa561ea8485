import TestSupport
import Testing

/// Waits until a condition holds that others bring about; fails the test at the end of the patience.
func until(_ condition: () async throws -> Bool, location: SourceLocation = #_sourceLocation) async throws {
  let end = Patience.end
  while true {
    // The last check is after the end: this task may have its turn late.
    let isLast = ContinuousClock.now >= end
    if try await condition() { return }
    if isLast { break }
    // The length of the pause decides nothing.
    try await Task.sleep(for: .milliseconds(10))
  }
  Issue.record("the condition did not come true within \(Patience.seconds) s", sourceLocation: location)
}
