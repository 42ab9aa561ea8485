import Glibc
import Logging
import NIOCore
import NIOPosix

/// Accepts clients on a Unix socket and opens a session for each. Lives on the daemon's event loop.
public final class SocketServer {
  private let channel: any Channel
  private let socket: ListeningSocket
  private let clients: Clients

  /// The connections that are open.
  private final class Clients {
    var channels: [ObjectIdentifier: any Channel] = [:]
  }

  private init(channel: any Channel, socket: ListeningSocket, clients: Clients) {
    self.channel = channel
    self.socket = socket
    self.clients = clients
  }

  /// Begins to accept clients. To be called on the daemon's event loop.
  public static func start(
    _ socket: ListeningSocket, daemon: Daemon, eventLoop: any EventLoop, logger: Logger
  ) -> EventLoopFuture<NIOLoopBound<SocketServer>> {
    let clients = Clients()
    let bound = NIOLoopBound((daemon, clients), eventLoop: eventLoop)
    return ServerBootstrap(group: eventLoop)
      .serverChannelOption(.backlog, value: 128)
      .serverChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(patience(logger))
        }
      }
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let (daemon, clients) = bound.value
          clients.channels[ObjectIdentifier(channel)] = channel
          let bound = bound
          channel.closeFuture.whenComplete { _ in bound.value.1.channels[ObjectIdentifier(channel)] = nil }
          try channel.pipeline.syncOperations.addHandler(
            SessionHandler(daemon: daemon, credentials: try credentials(of: channel), eventLoop: channel.eventLoop))
        }
      }
      .withBoundSocket(socket.descriptor)
      .map { channel in
        NIOLoopBound(
          SocketServer(channel: channel, socket: socket, clients: bound.value.1), eventLoop: channel.eventLoop)
      }
  }

  /// Accepts no more clients, and removes the socket's file if it is ours.
  public func stopListening() {
    socket.removeFile()
    channel.close(promise: nil)
  }

  /// Waits until all clients are gone, but closes those that are left after `patience`.
  public func closeClients(within patience: TimeAmount) -> EventLoopFuture<Void> {
    let left = Array(clients.channels.values)
    let alarm = channel.eventLoop.scheduleTask(in: patience) {
      for channel in left { channel.close(promise: nil) }
    }
    return EventLoopFuture.andAllComplete(left.map(\.closeFuture), on: channel.eventLoop)
      .always { _ in alarm.cancel() }
  }

  /// When no more descriptors are to be had, clients wait in the kernel's queue until some are, instead of being asked for at once.
  private static func patience(_ logger: Logger) -> AcceptBackoffHandler {
    var told: NIODeadline?
    return AcceptBackoffHandler(shouldForwardIOErrorCaught: false) { error in
      let now = NIODeadline.now()
      if told.map({ now - $0 >= .seconds(60) }) ?? true {
        told = now
        logger.error(
          "no more clients can be accepted: \(error). They wait; have LimitNOFILE of bled's unit raised, or end programs"
        )
      }
      return .milliseconds(200)
    }
  }

  private static func credentials(of channel: any Channel) throws -> PeerCredentials? {
    try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
      PeerCredentials(ofSocket: $0)
    } ?? nil
  }
}
