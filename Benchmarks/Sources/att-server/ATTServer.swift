import EventLoop
import Glibc

/// `att-server SOCKET`: a GATT server behind a Unix socket, one ATT packet a packet, with the daemon's machines, event
/// loop and packet sockets.
@main
enum ATTServer {
  static func main() throws {
    guard let path = CommandLine.arguments.dropFirst().first else {
      print("usage: att-server SOCKET")
      exit(2)
    }
    let loop = try EventLoop()
    let listener = try Listener(path: path)
    let watch = try Watch(listener.descriptor, on: loop) { _ in
      do { try serve(try listener.accept(), loop) } catch { print("\(error)") }
    }
    try loop.run()
    watch.cancel()
  }

  /// The socket keeps itself alive through its events, until the client goes.
  private static func serve(_ client: Int32, _ loop: EventLoop) throws {
    let socket = PacketSocket(Descriptor(client), on: loop, priority: .high)
    let peer = try GATTPeer(loop: loop)
    peer.send = { [unowned socket] packet in _ = socket.send(packet) }
    peer.isWritable = { [unowned socket] in socket.isWritable }
    socket.onEvent = { event in
      switch event {
      case .received(let packet): peer.received(packet)
      case .writable: peer.stream()
      case .lost: break
      case .ended: socket.close()
      }
    }
    try socket.start()
  }
}
