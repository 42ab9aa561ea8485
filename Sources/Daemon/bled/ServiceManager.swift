import CSystemd
import Glibc

/// The interface between systemd and a service: sd_notify(3) and sd_listen_fds(3).
enum ServiceManager {
  /// An unusable passed socket.
  enum Problem: Error, CustomStringConvertible {
    case severalSockets(Int)
    case notAListeningSocket

    var description: String {
      switch self {
      case .severalSockets(let count): "systemd handed over \(count) sockets; bled.socket must list one ListenStream="
      case .notAListeningSocket:
        "systemd handed over something other than a listening Unix socket; bled.socket must list one ListenStream="
      }
    }
  }

  /// The socket on which systemd listens for us, if any.
  static func inheritedSocket() throws -> CInt? {
    let count = sd_listen_fds(1)
    guard count > 0 else { return nil }
    guard count == 1 else { throw Problem.severalSockets(Int(count)) }
    // SD_LISTEN_FDS_START
    let descriptor: CInt = 3
    guard sd_is_socket_unix(descriptor, CInt(SOCK_STREAM.rawValue), 1, nil, 0) > 0 else {
      throw Problem.notAListeningSocket
    }
    // The loop must not wait in accept(2).
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    return descriptor
  }

  /// Notifies systemd that the configuration is being reloaded; READY=1 follows.
  static func notifyReloading() {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    notify("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")
  }

  /// Notifies systemd about a change of state. Without systemd it does nothing.
  static func notify(_ message: String) { sd_notify(0, message) }
}
