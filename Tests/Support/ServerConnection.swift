import Glibc

/// A connection of a test to a server on this machine, closed with its last reference.
public final class ServerConnection {
  /// A call of the system that failed, or a server that does not close.
  public struct Failure: Error, CustomStringConvertible {
    /// The call and the error number.
    public let description: String
  }

  /// The socket.
  public let descriptor: CInt

  /// Connects to a port of 127.0.0.1.
  public convenience init(port: UInt16) throws {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    try self.init(address, family: AF_INET)
  }

  /// Connects to a port of ::1.
  public convenience init(version6 port: UInt16) throws {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    address.sin6_addr = in6addr_loopback
    try self.init(address, family: AF_INET6)
  }

  /// Connects to a Unix socket.
  public convenience init(path: String) throws {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw Failure(description: "\(path) is too long for a socket")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    try self.init(address, family: AF_UNIX)
  }

  /// - Parameter address: A `sockaddr` of the family.
  private init(_ address: some Any, family: CInt) throws {
    descriptor = socket(family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
    let result = withUnsafeBytes(of: address) { octets in
      octets.withMemoryRebound(to: sockaddr.self) { connect(descriptor, $0.baseAddress, socklen_t(octets.count)) }
    }
    guard result == 0 else { throw Failure(description: "connect: \(errno)") }
  }

  deinit { close(descriptor) }

  /// Sends text.
  public func send(_ text: String) throws {
    guard Glibc.send(descriptor, text, text.utf8.count, CInt(MSG_NOSIGNAL)) == text.utf8.count else {
      throw Failure(description: "send: \(errno)")
    }
  }

  /// The text received until the server closes. It blocks its thread.
  public func readAnswer() throws -> String {
    var all: [UInt8] = []
    var octets = [UInt8](repeating: 0, count: 65_536)
    while Patience.wait(for: descriptor) {
      let count = recv(descriptor, &octets, octets.count, 0)
      guard count > 0 else { return String(decoding: all, as: UTF8.self) }
      all += octets[..<count]
    }
    throw Failure(description: "the server did not close the connection")
  }

  /// True once the server has closed it.
  public var hasEnded: Bool {
    var octet: UInt8 = 0
    return recv(descriptor, &octet, 1, CInt(MSG_DONTWAIT)) == 0
  }
}
