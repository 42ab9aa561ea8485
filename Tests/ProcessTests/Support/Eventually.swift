import Glibc

/// Polls until something that other processes do has happened, for at most 120 s, which only a broken
/// program reaches.
/// - Parameter what: what is waited for, for the failure.
func eventually(_ what: String, _ condition: () throws -> Bool) throws {
  let deadline = ContinuousClock.now + .seconds(120)
  while ContinuousClock.now < deadline {
    if try condition() { return }
    usleep(10_000)
  }
  throw ChildProcess.Failure(description: "within 120 s it was not so that \(what)")
}
