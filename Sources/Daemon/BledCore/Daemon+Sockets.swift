import EventLoop
import Logging

extension Daemon: SessionHost {}

extension SocketServer {
  /// Begins to accept clients of a daemon.
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
  /// Begins to listen for programs of a daemon that have a channel's token.
  /// - Parameter path: the path of the socket, which answers name.
  /// - Throws: `EventLoopError` if the socket cannot be watched.
  public convenience init(
    _ socket: ListeningSocket, path: String, daemon: Daemon, loop: EventLoop, logger: Logger
  ) throws(EventLoopError) {
    try self.init(
      socket, path: path, channels: daemon.channels, rules: daemon.rules, loop: loop, logger: logger)
  }
}
