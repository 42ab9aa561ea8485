import ArgumentParser

/// Runs a function for at most so many seconds; 0 is for ever.
/// - Returns: What it gave, or nil if time ran out: it is cancelled then.
func withDeadline<Value: Sendable>(
  _ seconds: Double, _ body: @escaping @Sendable () async throws -> Value
) async throws -> Value? {
  guard seconds > 0 else { return try await body() }
  return try await withThrowingTaskGroup(of: Value?.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: .seconds(seconds))
      return nil
    }
    defer { group.cancelAll() }
    return try await group.next() ?? nil
  }
}

/// Refuses a `--time` that is none.
func checkTime(_ time: Double?) throws {
  guard time ?? 1 > 0, time?.isFinite != false else { throw ValidationError("--time takes seconds above 0") }
}
