import EventLoop
import Logging

extension Daemon: SessionOpener {}

extension SocketServer {
  /// Begins to accept a daemon's clients.
  /// - Throws: `EventLoopError` if the socket cannot be watched.
  public convenience init(
    _ socket: ListeningSocket, daemon: Daemon, loop: EventLoop, logger: Logger
  ) throws(EventLoopError) {
    try self.init(socket, host: daemon, loop: loop, logger: logger)
    daemon.passDescriptors(ValueSockets(loop: loop, turns: turns))
    daemon.passCaptures(on: loop)
  }
}

extension ChannelSocket {
  /// Begins to accept a daemon's programs with channel tokens.
  /// - Parameter path: the socket's path, for answers.
  /// - Throws: `EventLoopError` if the socket cannot be watched.
  public convenience init(
    _ socket: ListeningSocket, path: String, daemon: Daemon, loop: EventLoop, logger: Logger
  ) throws(EventLoopError) {
    try self.init(
      socket, path: path, channels: daemon.channels, rules: daemon.rules, loop: loop, logger: logger)
  }
}
