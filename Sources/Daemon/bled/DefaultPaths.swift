import BledRPC
import FoundationEssentials
import Glibc

/// Where the socket and the stored state are if neither the configuration nor the command line says it: root and
/// services have the system's directories, other users their own (XDG Base Directory Specification).
enum DefaultPaths {
  private static var environment: [String: String] { ProcessInfo.processInfo.environment }

  /// The socket.
  static var socket: String {
    if geteuid() == 0 { return SocketPath.system }
    if let directory = first("RUNTIME_DIRECTORY") { return "\(directory)/bled.sock" }
    return SocketPath.ofUser(environment) ?? SocketPath.system
  }

  /// True if an ordinary user started the daemon, without a prepared state directory.
  static var isUsers: Bool { geteuid() != 0 && first("STATE_DIRECTORY") == nil }

  /// The state directory; nil for a user without a home. A user's is made except for its last part: unlike `/var/lib`
  /// it need not exist yet.
  static var state: String? {
    if let directory = first("STATE_DIRECTORY") { return directory }
    guard geteuid() != 0 else { return "/var/lib/bled" }
    if let parent = absolute("XDG_STATE_HOME") {
      mkdir(parent, 0o700)
      return "\(parent)/bled"
    }
    guard let home = absolute("HOME") else { return nil }
    for parent in ["\(home)/.local", "\(home)/.local/state"] { mkdir(parent, 0o700) }
    return "\(home)/.local/state/bled"
  }

  private static func absolute(_ variable: String) -> String? {
    environment[variable].flatMap { $0.utf8.first == UInt8(ascii: "/") ? $0 : nil }
  }

  /// The first directory made by systemd for the service, systemd.exec(5).
  private static func first(_ variable: String) -> String? {
    environment[variable].flatMap { $0.split(separator: ":").first }.map(String.init)
  }
}
