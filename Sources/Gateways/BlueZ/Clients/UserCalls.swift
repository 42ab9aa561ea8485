/// The pending method calls of one user's programs.
///
/// The bus limits this process's pending calls (dbus-daemon(1), `max_replies_per_connection`: 128), so that the
/// programs of a user that do not answer must not use them all up.
final class UserCalls {
  private static let maximum = 32

  private var pending = 0
  /// The programs with calls that wait, the longest waiting first.
  private var line: [ProgramCalls] = []

  /// Claims room for one call of a program; without room the program gets its turn later.
  func claim(_ program: ProgramCalls) -> Bool {
    guard pending < Self.maximum else {
      if !line.contains(where: { $0 === program }) { line.append(program) }
      return false
    }
    pending += 1
    return true
  }

  /// A call has ended.
  func release() {
    pending -= 1
    while pending < Self.maximum, !line.isEmpty { line.removeFirst().sendWaiting() }
  }
}
