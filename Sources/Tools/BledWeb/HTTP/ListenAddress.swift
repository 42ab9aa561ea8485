private import Glibc

/// A place on which to listen: `127.0.0.1:9459`, `[::1]:9459` or `unix:PATH`.
public struct ListenAddress: Sendable {
  private enum Address {
    case v4(in_addr, port: UInt16)
    case v6(in6_addr, port: UInt16)
    case file(String)
  }

  private static let filePrefix = "unix:"
  private let address: Address

  /// The loopback address, with a port; 0 is any free one.
  public init(loopback port: UInt16) {
    address = .v4(in_addr(s_addr: UInt32(0x7F00_0001).bigEndian), port: port)
  }

  /// - Returns: nil if the text is neither a numeric address and a port nor `unix:` and a path; port 0 is any free one.
  public init?(argument: String) {
    if argument.hasPrefix(Self.filePrefix) {
      let path = argument.dropFirst(Self.filePrefix.count)
      guard !path.isEmpty, !path.utf8.contains(0) else { return nil }
      address = .file(String(path))
      return
    }
    guard let colon = argument.lastIndex(of: ":"), let port = UInt16(argument[argument.index(after: colon)...]) else {
      return nil
    }
    let host = argument[..<colon]
    var (v4, v6) = (in_addr(), in6_addr())
    if host.hasPrefix("["), host.hasSuffix("]") {
      guard inet_pton(AF_INET6, String(host.dropFirst().dropLast()), &v6) == 1 else { return nil }
      address = .v6(v6, port: port)
    } else {
      guard inet_pton(AF_INET, String(host), &v4) == 1 else { return nil }
      address = .v4(v4, port: port)
    }
  }

  /// Whether only programs of this machine reach it.
  public var isLocal: Bool {
    switch address {
    case .v4(let host, _): UInt32(bigEndian: host.s_addr) >> 24 == 127
    case .v6(let host, _): withUnsafeBytes(of: host) { $0.elementsEqual([UInt8](repeating: 0, count: 15) + [1]) }
    case .file: true
    }
  }

  /// Opens a socket that listens there. The file of a Unix socket takes the place of one on which no process listens;
  /// the umask limits the users that can connect.
  /// - Throws: `ListenError`, for instance if another program has the port.
  public func listen() throws(ListenError) -> Listener {
    switch address {
    case .v4(let host, let port):
      var place = sockaddr_in()
      place.sin_family = sa_family_t(AF_INET)
      place.sin_port = port.bigEndian
      place.sin_addr = host
      return try Listener(place, family: AF_INET)
    case .v6(let host, let port):
      var place = sockaddr_in6()
      place.sin6_family = sa_family_t(AF_INET6)
      place.sin6_port = port.bigEndian
      place.sin6_addr = host
      return try Listener(place, family: AF_INET6)
    case .file(let path): return try Listener(path: path)
    }
  }
}
