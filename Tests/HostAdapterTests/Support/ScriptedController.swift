import Bluetooth
import Glibc
import HCI
import Host
import Testing

@testable import HostAdapter

/// A controller behind a Unix socket, which a test plays. It answers each command with success.
final class ScriptedController {
  /// The parameters that it returns behind the status, by opcode; other commands return zeros.
  var returned: [UInt16: [UInt8]] = [0x2002: [27, 0, 3], 0x1009: [1, 2, 3, 4, 5, 6]]
  /// The opcodes that it refuses, and with which status.
  var refused: [UInt16: HCIErrorCode] = [:]
  /// The opcodes that it answers with Command Status: an event follows.
  var started: Set<UInt16> = [0x2013, 0x2016, 0x0406, 0x2019]
  /// The opcodes that it does not answer.
  var unanswered: Set<UInt16> = []
  private(set) var commands: [CommandPacket] = []
  private(set) var data: [ACLDataPacket] = []
  /// How often a host has come.
  private(set) var connections = 0
  let address: TransportAddress
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

  /// Does what there is to do.
  /// - Returns: whether there was anything.
  func work() throws -> Bool {
    if socket < 0 {
      socket = accept(listener, nil, nil)
      guard socket >= 0 else { return false }
      _ = fcntl(socket, F_SETFL, O_NONBLOCK)
      connections += 1
    }
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = read(socket, &buffer, buffer.count)
    if count == 0 { hangUp() }
    guard count > 0 else { return count == 0 }
    for case .packet(let octets) in framer.receive(buffer[..<count]) {
      switch try HCIPacket(decoding: octets) {
      case .command(let packet):
        commands.append(packet)
        if !unanswered.contains(packet.opcode.rawValue) { try tell(answer(packet.opcode)) }
      case .acl(let packet): data.append(packet)
      case .event: break
      }
    }
    return true
  }

  /// The transport ends.
  func hangUp() {
    if socket >= 0 { close(socket) }
    socket = -1
    framer.reset()
  }

  /// Tells events, in one piece.
  func tell(_ events: HCIEvent...) throws { try send(events.map { .event($0.packet) }) }

  func send(_ packets: [HCIPacket]) throws {
    let octets = packets.flatMap(\.octets)
    try #require(write(socket, octets, octets.count) == octets.count)
  }

  private func answer(_ opcode: Opcode) -> HCIEvent {
    let status = refused[opcode.rawValue].map { HCIStatus($0) } ?? .success
    if started.contains(opcode.rawValue) || !status.isSuccess {
      return .commandStatus(
        CommandStatus {
          $0.status = status
          $0.opcode = opcode
        })
    }
    return .commandComplete(
      CommandComplete {
        $0.opcode = opcode
        $0.returnParameters = [0] + (self.returned[opcode.rawValue] ?? [UInt8](repeating: 0, count: 251))
      })
  }
}
