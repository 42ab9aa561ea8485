import TestSupport

/// Waits for a condition that other processes bring about.
/// - Parameter what: the condition in words, for the failure.
func eventually(_ what: String, _ condition: () throws -> Bool) throws {
  guard try Patience.wait(until: condition) else {
    throw ChildProcess.Failure(description: "within \(Patience.seconds) s it was not so that \(what)")
  }
}
