import BledConnection
import ESPHome
import EventLoop
import Glibc

/// The connection of a client on an event loop.
final class TCPStream: ClientStream {
  /// The octets that one read takes, and those that the kernel holds for a client that does not read.
  private static let portion = 16384
  private static let sendBuffer: Int32 = 65536

  let origin: [UInt8]
  private let socket: Socket
  private var watch: Watch?
  private var octets = UnsentOctets()
  /// Octets of the client; nil: it has gone.
  var received: (ArraySlice<UInt8>?) -> Void = { _ in }

  /// Takes over a nonblocking socket.
  init(_ descriptor: Int32, on loop: EventLoop) throws(EventLoopError) {
    socket = Socket(owning: descriptor)
    origin = Self.origin(of: descriptor)
    var (on, size) = (Int32(1), Self.sendBuffer)
    let length = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, length)
    setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &size, length)
    watch = try Watch(descriptor, on: loop) { [unowned self] in ready($0) }
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

  var unsent: Int { octets.count }

  func send(_ octets: [UInt8]) {
    guard watch != nil else { return }
    self.octets.append(octets)
    write()
  }

  func close() {
    watch?.cancel()
    watch = nil
    received = { _ in }
  }

  private func ready(_ readiness: Watch.Readiness) {
    // The client may be dropped while its octets are handled.
    withExtendedLifetime(self) {
      if readiness.contains(.writable) { write() }
      if !readiness.isDisjoint(with: [.readable, .failed]) { read() }
    }
  }

  private func read() {
    guard watch != nil else { return }
    let octets = withUnsafeTemporaryAllocation(byteCount: Self.portion, alignment: 1) { buffer in
      socket.receive(buffer).map { Array(buffer[..<$0.count]) }
    }
    switch octets {
    case .failure(.again): break
    case .success(let octets) where !octets.isEmpty: received(octets[...])
    case .success, .failure: received(nil)
    }
  }

  private func write() {
    do {
      try octets.write(to: socket) { _ in }
      watch?.interest = .readable
    } catch {
      // The end of the connection is noticed by reading.
      watch?.interest = error == .again ? [.readable, .writable] : .readable
    }
  }
}
