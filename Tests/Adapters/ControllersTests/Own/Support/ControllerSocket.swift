import Glibc
import HCI
import Host
import Testing

@testable import Controllers

/// The controllers' end of a transport.
protocol ControllerEnd: AnyObject {
  /// The number of hosts so far.
  var connections: Int { get }
  /// True while a host is connected.
  var isOpen: Bool { get }
  /// Accepts a host, or handles its packets.
  /// - Returns: the packets; nil without anything to do.
  func receive() throws -> [HCIPacket]?
  /// - Returns: true if all of them are on their way.
  func send(_ packets: [HCIPacket]) -> Bool
  /// - Returns: true if the octets are on their way.
  func send(_ octets: [UInt8]) -> Bool
  /// The transport ends.
  func hangUp()
}

/// The controllers' end of a transport with H4: a Unix socket for one host at a time.
final class ControllerSocket: ControllerEnd {
  let address: TransportAddress
  /// The number of hosts so far.
  private(set) var connections = 0
  private let listener: CInt
  private var socket: CInt = -1
  private var framer = H4Framer()

  init() throws {
    let name = "bled-host-\(getpid())-\(UInt64.random(in: .min ... .max))"
    address = .unix("@\(name)")
    listener = try Self.listen(name)
  }

  deinit {
    hangUp()
    close(listener)
  }

  /// True while a host is connected.
  var isOpen: Bool { socket >= 0 }

  /// Listens on a name in the abstract namespace.
  static func listen(_ name: String) throws -> CInt {
    let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_NONBLOCK.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
    let listener = Glibc.socket(AF_UNIX, type, 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let octets = [0] + Array(name.utf8)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: octets) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + octets.count)
    try withUnsafePointer(to: &address) { pointer in
      try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try #require(bind(listener, $0, length) == 0)
      }
    }
    try #require(Glibc.listen(listener, 4) == 0)
    return listener
  }

  /// Accepts a host, or handles its packets.
  /// - Returns: the packets; nil without anything to do. A host that has left leaves none.
  func receive() throws -> [HCIPacket]? {
    if socket < 0 {
      socket = accept(listener, nil, nil)
      guard socket >= 0 else { return nil }
      _ = fcntl(socket, F_SETFL, O_NONBLOCK)
      connections += 1
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(socket, &buffer, buffer.count)
    if count == 0 { hangUp() }
    guard count > 0 else { return count == 0 ? [] : nil }
    return try framer.receive(buffer[..<count]).compactMap {
      if case .packet(let octets) = $0 { try HCIPacket(decoding: octets) } else { nil }
    }
  }

  /// Sends packets in one piece.
  func send(_ packets: [HCIPacket]) -> Bool { send(packets.flatMap(\.octets)) }

  /// - Returns: true if all of them are on their way.
  func send(_ octets: [UInt8]) -> Bool {
    Glibc.send(socket, octets, octets.count, CInt(MSG_NOSIGNAL)) == octets.count
  }

  /// The transport ends.
  func hangUp() {
    if socket >= 0 { close(socket) }
    socket = -1
    framer.reset()
  }
}
