import BledRPC
private import Glibc

extension SocketPath {
  /// The socket that a client uses if no option names one: the environment's BLED_SOCKET; else the system's, unless
  /// only the user's own daemon has one. A directory of another user, as `su` leaves it in the environment, is ignored.
  /// - Parameter system: The path of the system's socket.
  package static func ofClients(_ environment: (String) -> String?, system: String = SocketPath.system) -> String {
    if let path = environment("BLED_SOCKET"), !path.isEmpty { return path }
    guard access(system, F_OK) != 0, let directory = environment("XDG_RUNTIME_DIR"),
      let own = ofUser(["XDG_RUNTIME_DIR": directory]), access(own, F_OK) == 0, isOwn(directory)
    else { return system }
    return own
  }

  private static func isOwn(_ directory: String) -> Bool {
    var status = stat()
    return stat(directory, &status) == 0 && status.st_uid == geteuid()
  }
}
