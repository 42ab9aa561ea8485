/// The path of the daemon's socket, unless the configuration or the environment names another.
public enum SocketPath {
  /// The socket of the system's daemon.
  public static let system = "/run/bled/bled.sock"

  /// The socket of a daemon that an ordinary user starts: no other user may write to the directory that the environment
  /// names for such files (XDG Base Directory Specification).
  /// - Returns: nil if the environment names none.
  public static func ofUser(_ environment: [String: String]) -> String? {
    guard let directory = environment["XDG_RUNTIME_DIR"], directory.utf8.first == UInt8(ascii: "/") else { return nil }
    return "\(directory)/bled/bled.sock"
  }
}
