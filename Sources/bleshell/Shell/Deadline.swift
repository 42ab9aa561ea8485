import ArgumentParser

/// Runs a function for at most this many seconds; 0: no limit.
/// - Returns: Its result, or nil if it was cancelled because the time was over.
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

/// Validates `--time`.
func checkTime(_ time: Double?) throws {
  guard time ?? 1 > 0, time?.isFinite != false else { throw ValidationError("--time must be more than 0 seconds") }
}
