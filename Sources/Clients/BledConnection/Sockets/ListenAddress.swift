private import Glibc

/// The address of a program that listens: an IP address and a port, or the path of a Unix socket.
package struct ListenAddress: Sendable {
  private enum Place {
    case v4(in_addr, port: UInt16)
    case v6(in6_addr, port: UInt16)
    case file(String)
  }

  private static let filePrefix = "unix:"
  private let place: Place

  private init(_ place: Place) { self.place = place }

  /// The loopback address, with a port; 0 is any free one.
  package init(loopback port: UInt16) {
    place = .v4(in_addr(s_addr: UInt32(0x7F00_0001).bigEndian), port: port)
  }

  /// All addresses of both families, or of IPv4 if the kernel has no IPv6.
  package init(all port: UInt16) { place = .v6(in6_addr(), port: port) }

  /// A numeric address of IPv4 or IPv6; `::` is `all`.
  /// - Returns: nil for any other text.
  package init?(host: String, port: UInt16) {
    guard let place = Self.v4(host, port) ?? Self.v6(host, port) else { return nil }
    self.init(place)
  }

  /// `127.0.0.1:9459`, `[::1]:9459` or `unix:PATH`; port 0 is any free one.
  /// - Returns: nil if the text is neither a numeric address and a port nor `unix:` and a path.
  package init?(argument: String) {
    if argument.hasPrefix(Self.filePrefix) {
      let path = argument.dropFirst(Self.filePrefix.count)
      guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
      self.init(.file(String(path)))
      return
    }
    guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...]) else {
      return nil
    }
    let host = argument[..<colon]
    let isV6 = host.hasPrefix("[") && host.hasSuffix("]")
    guard let place = isV6 ? Self.v6(String(host.dropFirst().dropLast()), port) : Self.v4(String(host), port) else {
      return nil
    }
    self.init(place)
  }

  private static func v4(_ host: String, _ port: UInt16) -> Place? {
    var address = in_addr()
    return inet_pton(AF_INET, host, &address) == 1 ? .v4(address, port: port) : nil
  }

  private static func v6(_ host: String, _ port: UInt16) -> Place? {
    var address = in6_addr()
    return inet_pton(AF_INET6, host, &address) == 1 ? .v6(address, port: port) : nil
  }

  /// True if only programs of this machine reach it.
  package var isLocal: Bool {
    switch place {
    case .v4(let host, _): UInt32(bigEndian: host.s_addr) >> 24 == 127
    case .v6(let host, _): withUnsafeBytes(of: host) { $0.elementsEqual([UInt8](repeating: 0, count: 15) + [1]) }
    case .file: true
    }
  }

  /// Begins to connect to a program that listens there; the socket is writable when it has connected or failed.
  package func connect() throws(Errno) -> Socket {
    switch place {
    case .v4(let host, let port): return try Socket(connectingTo: Self.socketAddress(host, port), family: AF_INET)
    case .v6(let host, let port): return try Socket(connectingTo: Self.socketAddress(host, port), family: AF_INET6)
    case .file(let path): return try Socket(connectedTo: path)
    }
  }

  /// Opens a socket that listens there. The file of a Unix socket replaces one without a listening process; the umask
  /// limits the users that can connect.
  /// - Throws: `ListenError`, for instance if another program has the port.
  package func listen() throws(ListenError) -> Listener {
    switch place {
    case .v4(let host, let port): return try Listener(Self.socketAddress(host, port), family: AF_INET)
    case .v6(let host, let port):
      do throws(ListenError) {
        return try Listener(Self.socketAddress(host, port), family: AF_INET6)
      } catch {
        let isAll = withUnsafeBytes(of: host) { $0.allSatisfy { $0 == 0 } }
        guard isAll, error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
        return try Self(.v4(in_addr(), port: port)).listen()
      }
    case .file(let path): return try Listener(path: path)
    }
  }

  private static func socketAddress(_ host: in_addr, _ port: UInt16) -> sockaddr_in {
    var place = sockaddr_in()
    place.sin_family = sa_family_t(AF_INET)
    place.sin_port = port.bigEndian
    place.sin_addr = host
    return place
  }

  private static func socketAddress(_ host: in6_addr, _ port: UInt16) -> sockaddr_in6 {
    var place = sockaddr_in6()
    place.sin6_family = sa_family_t(AF_INET6)
    place.sin6_port = port.bigEndian
    place.sin6_addr = host
    return place
  }
}
