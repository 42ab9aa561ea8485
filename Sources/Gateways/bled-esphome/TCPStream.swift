import BledConnection
import ESPHome
import Glibc

/// The connection of a client.
final class TCPStream: ClientStream {
  /// The octets that the kernel holds for a client that does not read.
  private static let sendBuffer: Int32 = 65536

  let origin: [UInt8]
  private let stream: SocketStream

  init(_ socket: Socket, on waiter: any SocketWaiter) throws(Errno) {
    origin = Self.origin(of: socket.descriptor)
    var (on, size) = (Int32(1), Self.sendBuffer)
    let length = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(socket.descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, length)
    setsockopt(socket.descriptor, SOL_SOCKET, SO_SNDBUF, &size, length)
    stream = try SocketStream(socket, on: waiter)
  }

  /// A host has the whole second half of the addresses of IPv6 (RFC 4291, 2.5.4).
  private static func origin(of descriptor: Int32) -> [UInt8] {
    var address = sockaddr_in6()
    var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
    let result = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
    }
    guard result == 0 else { return [] }
    if address.sin6_family == sa_family_t(AF_INET) {
      // The address of IPv4 is where IPv6 has its flow (ip(7), ipv6(7)).
      return withUnsafeBytes(of: address.sin6_flowinfo) { Array($0) }
    }
    let octets = withUnsafeBytes(of: address.sin6_addr) { Array($0) }
    let isVersion4 = octets.prefix(10).allSatisfy { $0 == 0 } && octets[10...11].allSatisfy { $0 == 0xFF }
    return isVersion4 ? Array(octets.suffix(4)) : Array(octets.prefix(8))
  }

  var unsent: Int { stream.unsent }

  func send(_ octets: [UInt8]) { stream.send(octets) }

  func close() { stream.close() }

  /// Begins to read.
  /// - Parameters:
  ///   - received: receives the octets of the client.
  ///   - ended: called when the client has disconnected.
  func start(received: @escaping (ArraySlice<UInt8>) -> Void, ended: @escaping () -> Void) {
    stream.received = { octets, _ in received(Array(octets)[...]) }
    stream.ended = { _ in ended() }
    stream.start()
  }
}
