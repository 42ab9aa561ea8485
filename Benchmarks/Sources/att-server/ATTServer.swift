import Glibc
import NIOCore
import NIOPosix

/// `att-server SOCKET [nio]`: a GATT server behind a Unix socket, one ATT packet a packet, with the daemon's machines,
/// event loop and packet sockets. With "nio" a NIO pipe channel takes the place of the packet sockets.
@main
enum ATTServer {
  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let path = arguments.first else {
      print("usage: att-server SOCKET [nio]")
      exit(2)
    }
    let eventLoop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let listener = try Listener(path: path)
    if arguments.dropFirst().first == "nio" {
      while true { try servePipe(try listener.accept(), eventLoop) }
    }
    let poller = try eventLoop.submit { NIOLoopBound(try Poller(eventLoop: eventLoop), eventLoop: eventLoop) }.wait()
    while true {
      let client = try listener.accept()
      try eventLoop.submit { try servePackets(client, poller.value, eventLoop.assumeIsolated()) }.wait()
    }
  }

  private static func servePipe(_ client: Int32, _ eventLoop: any EventLoop) throws {
    _ = try NIOPipeBootstrap(group: eventLoop)
      .channelOption(.writeBufferWaterMark, value: .init(low: 1, high: 1))
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          let peer = try GATTPeer(eventLoop: channel.eventLoop.assumeIsolated())
          try channel.pipeline.syncOperations.addHandler(PipeHandler(peer))
        }
      }
      .takingOwnershipOfDescriptor(inputOutput: client).wait()
  }

  /// The socket keeps itself alive through its events, until the client goes.
  private static func servePackets(_ client: Int32, _ poller: Poller, _ eventLoop: NIOIsolatedEventLoop) throws {
    let socket = PacketSocket(try Descriptor(client, poller: poller, ready: { _ in }), eventLoop: eventLoop)
    let peer = try GATTPeer(eventLoop: eventLoop)
    peer.send = { [unowned socket] packet in _ = socket.send(packet) }
    peer.isWritable = { [unowned socket] in socket.isWritable }
    socket.onEvent = { event in
      switch event {
      case .received(let packet): peer.received(Array(packet))
      case .writable: peer.stream()
      case .lost: break
      case .ended: socket.close()
      }
    }
    socket.start()
  }
}
