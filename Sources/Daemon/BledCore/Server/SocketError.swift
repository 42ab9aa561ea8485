import Glibc

/// The reason why the daemon's socket could not be opened, and the remedy.
public enum SocketError: Error, Hashable, CustomStringConvertible {
  /// Another daemon listens on it.
  case inUse(path: String)
  /// The path exists and is not a socket.
  case notASocket(path: String)
  /// The path is longer than 107 octets, the limit for a socket.
  case pathTooLong(path: String)
  /// Other users could replace the socket.
  case unsafe(path: String, reason: String)
  /// The system refused.
  case refused(path: String, call: String, code: CInt, reason: String)

  /// The fault and the remedy, in one line.
  public var description: String {
    switch self {
    case .inUse(let path): "another bled is listening on \(path): stop it, or choose another path with --socket"
    case .notASocket(let path): "\(path) exists and is not a socket: move it away, or choose another path with --socket"
    case .pathTooLong(let path): "\(path) is longer than 107 octets: choose a shorter path with --socket"
    case .unsafe(let path, let reason):
      "\(path): \(reason), so they could replace the socket: choose a directory that is only yours with --socket"
    case .refused(let path, let call, EADDRINUSE, let reason), .refused(let path, let call, EADDRNOTAVAIL, let reason):
      "\(path): \(call): \(reason); stop the program that has it, or choose another address"
    case .refused(let path, let call, _, let reason):
      "\(path): \(call): \(reason); run bled with write access to that directory, or choose another path with --socket"
    }
  }
}
