import Bluetooth
import HCI
import Testing

@testable import Controllers

/// A controller at the end of a transport, which a test plays. It answers each command with success.
final class ScriptedController {
  /// The parameters that it returns behind the status, by opcode; other commands return zeros.
  var returned: [UInt16: [UInt8]] = [0x2002: [27, 0, 3], 0x1009: [1, 2, 3, 4, 5, 6]]
  /// The opcodes that it refuses, each with the status.
  var refused: [UInt16: HCIErrorCode] = [:]
  /// The opcodes that it answers with Command Status: an event follows.
  var started: Set<UInt16> = [0x2013, 0x2016, 0x0406, 0x2019]
  /// The opcodes that it does not answer.
  var unanswered: Set<UInt16> = []
  /// Octets that it sends before its first answer.
  var stray: [UInt8] = []
  private(set) var commands: [CommandPacket] = []
  private(set) var data: [ACLDataPacket] = []
  private let end: any ControllerEnd

  init(_ end: any ControllerEnd) { self.end = end }

  /// The number of hosts so far.
  var connections: Int { end.connections }

  /// Handles all pending input.
  /// - Returns: true if there was any.
  func work() throws -> Bool {
    guard let packets = try end.receive() else { return false }
    for packet in packets {
      switch packet {
      case .command(let packet):
        commands.append(packet)
        if !stray.isEmpty { try #require(end.send(stray)) }
        stray = []
        if !unanswered.contains(packet.opcode.rawValue) { try tell(answer(packet.opcode)) }
      case .acl(let packet): data.append(packet)
      case .event: break
      }
    }
    return true
  }

  /// The transport ends.
  func hangUp() { end.hangUp() }

  /// True while a host is connected.
  var hasHost: Bool { end.isOpen }

  /// Sends events, in one piece.
  func tell(_ events: HCIEvent...) throws { try send(events.map { .event($0.packet) }) }

  func send(_ packets: [HCIPacket]) throws {
    try #require(end.send(packets))
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
