import Testing

/// Waits until a condition holds; fails the test after 10 s.
func until(_ condition: () async throws -> Bool, location: SourceLocation = #_sourceLocation) async throws {
  for _ in 0..<1000 {
    if try await condition() { return }
    try await Task.sleep(for: .milliseconds(10))
  }
  Issue.record("the condition did not come true within 10 s", sourceLocation: location)
}
