import Glibc

/// What systemd and a service say to each other: sd_notify(3) and sd_listen_fds(3).
enum ServiceManager {
  /// A handed-over socket that cannot be used.
  enum Problem: Error, CustomStringConvertible {
    case severalSockets(Int)

    var description: String {
      switch self {
      case .severalSockets(let count): "systemd handed over \(count) sockets; bled.socket must list one ListenStream="
      }
    }
  }

  private static let firstDescriptor: CInt = 3

  /// The socket that systemd listens on for us, if there is one.
  static func inheritedSocket() throws -> CInt? {
    defer { for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { unsetenv(name) } }
    guard let pid = variable("LISTEN_PID").flatMap({ pid_t($0) }), pid == getpid(),
      let count = variable("LISTEN_FDS").flatMap({ Int($0) }), count > 0
    else { return nil }
    guard count == 1 else { throw Problem.severalSockets(count) }
    _ = fcntl(firstDescriptor, F_SETFD, FD_CLOEXEC)
    return firstDescriptor
  }

  /// The first directory of `StateDirectory=`, systemd.exec(5).
  static var stateDirectory: String? {
    variable("STATE_DIRECTORY").flatMap { $0.split(separator: ":").first }.map(String.init)
  }

  /// Tells systemd that the configuration is read again; READY=1 follows.
  static func notifyReloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    notify("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
  }

  /// Tells systemd of a change of state. Without systemd it does nothing.
  static func notify(_ message: String) {
    guard let path = variable("NOTIFY_SOCKET"), !path.isEmpty else { return }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var octets = Array(path.utf8)
    guard octets.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
    // "@" stands for the zero octet of an abstract address.
    if octets[0] == UInt8(ascii: "@") { octets[0] = 0 }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + octets.count)
    let descriptor = socket(AF_UNIX, CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    _ = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        sendto(descriptor, message, message.utf8.count, CInt(MSG_NOSIGNAL), address, length)
      }
    }
  }

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
