private import Glibc

/// An address and a TCP port on which to listen: `127.0.0.1:9459` or `[::1]:9459`.
public struct ListenAddress: Sendable {
  private enum Address {
    case v4(in_addr)
    case v6(in6_addr)
  }

  private let address: Address
  private let port: UInt16

  /// The loopback address, with a port; 0 is any free one.
  public init(loopback port: UInt16) {
    address = .v4(in_addr(s_addr: UInt32(0x7F00_0001).bigEndian))
    self.port = port
  }

  /// - Returns: nil if the text is not a numeric address and a port; port 0 is any free one.
  public init?(argument: String) {
    guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...]) else {
      return nil
    }
    let host = argument[..<colon]
    var (v4, v6) = (in_addr(), in6_addr())
    if host.hasPrefix("["), host.hasSuffix("]") {
      guard inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &v6) == 1 else { return nil }
      address = .v6(v6)
    } else {
      guard inet_pton(AF_INET, String(host), &v4) == 1 else { return nil }
      address = .v4(v4)
    }
    self.port = port
  }

  /// Opens a socket that listens there.
  /// - Throws: `ListenError`, for instance if another program has the port.
  public func listen() throws(ListenError) -> TCPListener {
    switch address {
    case .v4(let host):
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = port.bigEndian
      place.sin_addr = host
      return try TCPListener(place, family: AF_INET)
    case .v6(let host):
      var place = sockaddr_in6()
      place.sin6_family = sa_family_t(AF_INET6)
      place.sin6_port = port.bigEndian
      place.sin6_addr = host
      return try TCPListener(place, family: AF_INET6)
    }
  }
}

/// A call of the system that failed.
public struct ListenError: Error, CustomStringConvertible {
  /// The call and the reason, in words.
  public let description: String
}

/// A socket that listens for TCP connections, closed when its last reference is released.
public final class TCPListener: Sendable {
  let descriptor: Int32

  /// - Parameter place: A `sockaddr` of the family.
  fileprivate init(_ place: some Any, family: Int32) throws(ListenError) {
    let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(family, Int32(type), 0)
    guard descriptor >= 0 else { throw Self.failure("socket") }
    // Connections of the previous process may still be closing on the same port.
    var yes: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    let bound = withUnsafeBytes(of: place) { octets in
      octets.withMemoryRebound(to: sockaddr.self) { bind(descriptor, $0.baseAddress, socklen_t(octets.count)) }
    }
    guard bound == 0, Glibc.listen(descriptor, 16) == 0 else {
      let failure = Self.failure(bound == 0 ? "listen" : "bind")
      close(descriptor)
      throw failure
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }

  /// The port on which it listens; 0 if the system does not tell.
  public var port: UInt16 { name.lastIndex(of: ":").flatMap { UInt16(name[name.index(after: $0)...]) } ?? 0 }

  /// The address and the port on which it listens, such as "127.0.0.1:9459".
  public var name: String {
    var place = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
    var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
    let result = withUnsafeMutableBytes(of: &place) { octets in
      octets.withMemoryRebound(to: sockaddr.self) { place in
        guard getsockname(descriptor, place.baseAddress, &length) == 0 else { return Int32(EAI_SYSTEM) }
        return getnameinfo(
          place.baseAddress, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
          NI_NUMERICHOST | NI_NUMERICSERV)
      }
    }
    guard result == 0 else { return "?" }
    let texts = [host, port].map { text in
      String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
    return "\(place.ss_family == AF_INET6 ? "[\(texts[0])]" : texts[0]):\(texts[1])"
  }

  private static func failure(_ call: String) -> ListenError {
    ListenError(description: "\(call) failed: \(String(cString: strerror(errno)))")
  }
}
