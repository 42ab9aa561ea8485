import Glibc

/// The address of this machine on which clients are awaited.
enum ListenAddress: Equatable {
  /// All addresses of both families, or of the one that the kernel has.
  case all
  case version4(in_addr_t)
  /// 16 octets.
  case version6([UInt8])

  static let loopback = ListenAddress.version4(in_addr_t(0x7F00_0001).bigEndian)

  /// - Returns: nil unless the text is an address of IPv4 or IPv6.
  init?(_ text: String) {
    var version4 = in_addr()
    var version6 = in6_addr()
    if inet_pton(AF_INET, text, &version4) == 1 {
      self = .version4(version4.s_addr)
    } else if inet_pton(AF_INET6, text, &version6) == 1 {
      let octets = withUnsafeBytes(of: version6) { Array($0) }
      self = octets.allSatisfy { $0 == 0 } ? .all : .version6(octets)
    } else {
      return nil
    }
  }

  var isLoopback: Bool {
    switch self {
    case .all: false
    case .version4(let address): UInt32(bigEndian: address) >> 24 == 127
    case .version6(let octets): octets.dropLast().allSatisfy { $0 == 0 } && octets.last == 1
    }
  }

  /// Opens a listening socket, nonblocking.
  /// - Throws: `ListenError`.
  func open(port: UInt16) throws(ListenError) -> Int32 {
    switch self {
    case .all:
      do throws(ListenError) {
        return try Self.open(AF_INET6, Self.address(version6: [UInt8](repeating: 0, count: 16), port: port))
      } catch {
        guard error.code == EAFNOSUPPORT || error.code == EADDRNOTAVAIL else { throw error }
        return try Self.open(AF_INET, Self.address(version4: 0, port: port))
      }
    case .version4(let address): return try Self.open(AF_INET, Self.address(version4: address, port: port))
    case .version6(let octets): return try Self.open(AF_INET6, Self.address(version6: octets, port: port))
    }
  }

  private static func address(version4: in_addr_t, port: UInt16) -> sockaddr_in {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = version4
    return address
  }

  private static func address(version6: [UInt8], port: UInt16) -> sockaddr_in6 {
    var address = sockaddr_in6()
    address.sin6_family = sa_family_t(AF_INET6)
    address.sin6_port = port.bigEndian
    withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: version6.prefix(16)) }
    return address
  }

  private static func open<Address>(_ family: Int32, _ address: Address) throws(ListenError) -> Int32 {
    let type = SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue
    let descriptor = socket(family, Int32(type), 0)
    guard descriptor >= 0 else { throw ListenError(call: "socket", code: errno) }
    var (on, off): (Int32, Int32) = (1, 0)
    let size = socklen_t(MemoryLayout<Int32>.size)
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, size)
    if family == AF_INET6 { setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &off, size) }
    let bound = withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
      }
    }
    guard bound == 0, listen(descriptor, 64) == 0 else {
      let error = ListenError(call: "bind", code: errno)
      close(descriptor)
      throw error
    }
    return descriptor
  }
}

/// A socket that could not be opened.
struct ListenError: Error, CustomStringConvertible {
  let call: String
  let code: Int32

  var description: String { "\(call): \(String(cString: strerror(code)))" }
}
