/// Why the daemon's socket could not be opened, and what to do.
public enum SocketError: Error, Hashable, CustomStringConvertible {
  /// Another daemon answers on it.
  case inUse(path: String)
  /// The path is there and is no socket.
  case notASocket(path: String)
  /// The path is longer than a socket's may be, 107 octets.
  case pathTooLong(path: String)
  /// The system refused.
  case refused(path: String, call: String, code: CInt, reason: String)

  /// What is wrong and what to do, in one line.
  public var description: String {
    switch self {
    case .inUse(let path): "another bled answers on \(path): stop it, or choose another path with --socket"
    case .notASocket(let path): "\(path) is there and is no socket: move it away, or choose another path with --socket"
    case .pathTooLong(let path): "\(path) is longer than 107 octets: choose a shorter path with --socket"
    case .refused(let path, let call, _, let reason):
      "\(path): \(call): \(reason); run bled with rights on that directory, or choose another path with --socket"
    }
  }
}
