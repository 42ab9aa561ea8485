import EventLoop
import Glibc
import Testing

@testable import BledCore

/// A client of a daemon on one end of a socket pair; the test reads the other.
final class Wire {
  let loop: EventLoop
  let world = World()
  let session: Session
  let client: Int32
  private let socket: ClientSocket

  init() throws {
    loop = try EventLoop()
    var ends: [Int32] = [-1, -1]
    try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0)
    client = ends[1]
    let before = Set(world.daemon.sessions.map(\.id))
    socket = try ClientSocket(
      ends[0], loop: loop, host: world.daemon, turns: try ClientTurns(on: loop), farewells: Farewells(on: loop),
      onClose: { _ in })
    session = try #require(world.daemon.sessions.first { !before.contains($0.id) })
  }

  deinit {
    socket.disconnect()
    close(client)
  }

  /// True if there is something to read.
  var isReadable: Bool {
    var waiting = pollfd(fd: client, events: Int16(POLLIN), revents: 0)
    return poll(&waiting, 1, 0) == 1
  }

  func settle() throws { while try loop.poll() {} }
  func disconnect() { socket.disconnect() }

  /// The result of one read: its octets as text, and the descriptor received with them.
  func read(upTo most: Int = 1 << 20) throws -> (text: String, descriptor: Int32?) {
    var octets = [UInt8](repeating: 0, count: most)
    var control: (length: Int, level: Int32, type: Int32, descriptor: Int32, padding: Int32) = (0, 0, 0, -1, 0)
    let count = octets.withUnsafeMutableBytes { octets in
      withUnsafeMutableBytes(of: &control) { control in
        var part = iovec(iov_base: octets.baseAddress, iov_len: octets.count)
        return withUnsafeMutablePointer(to: &part) { part in
          var message = msghdr()
          (message.msg_iov, message.msg_iovlen) = (part, 1)
          (message.msg_control, message.msg_controllen) = (control.baseAddress, control.count)
          return recvmsg(client, &message, Int32(MSG_DONTWAIT))
        }
      }
    }
    try #require(count >= 0, "errno \(errno)")
    return (String(decoding: octets[..<count], as: UTF8.self), control.length > 0 ? control.descriptor : nil)
  }
}
