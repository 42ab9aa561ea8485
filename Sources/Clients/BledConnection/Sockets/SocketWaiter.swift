/// The source of sockets' readiness: an event loop, or a queue.
package protocol SocketWaiter: AnyObject {
  /// Watches a socket as long as the watch exists, at first without interest in anything.
  /// - Parameter ready: called with the readiness of the socket, never from inside this call; an end or a failure
  ///   counts as octets to read.
  /// - Throws: an `Errno` if the system has no room for it.
  func watch(
    _ socket: Socket, _ ready: @escaping (SocketReadiness) -> Void
  ) throws(Errno) -> any SocketWatch

  /// Calls `work` soon, and never from inside this call.
  func later(_ work: @escaping () -> Void)
}

/// The watch over a socket; it ends with its last reference.
package protocol SocketWatch: AnyObject {
  /// The readiness to report.
  var interest: SocketReadiness { get set }
}

/// The readiness of a socket.
package struct SocketReadiness: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let reading = SocketReadiness(rawValue: 1)
  package static let writing = SocketReadiness(rawValue: 2)
}
