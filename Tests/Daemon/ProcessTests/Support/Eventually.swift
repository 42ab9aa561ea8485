import TestSupport

/// Waits until something that other processes do has happened.
/// - Parameter what: what is waited for, for the failure.
func eventually(_ what: String, _ condition: () throws -> Bool) throws {
  guard try Patience.wait(until: condition) else {
    throw ChildProcess.Failure(description: "within \(Patience.seconds) s it was not so that \(what)")
  }
}
