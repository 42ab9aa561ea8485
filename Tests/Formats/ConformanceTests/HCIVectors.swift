import Bluetooth
import HCI
import Testing

/// 167 packets between a host and two emulated controllers, with an independent decoding.
@Suite(.enabled(if: Vectors.has("hci-vectors.json"), Vectors.missing("hci-vectors.json")))
struct HCIVectors {
  struct Vector: Decodable, CustomTestStringConvertible {
    struct Decoded: Decodable {
      let name: String
      let fields: [String: JSONValue]
    }
    let hex: String
    let decoded: Decoded
    var testDescription: String { "\(decoded.name) \(hex)" }
  }

  private struct File: Decodable { let packets: [Vector] }

  private func vectors() throws -> [Vector] { try Vectors.load("hci-vectors.json", as: File.self).packets }

  @Test func everyPacketComesBackAsItWas() throws {
    let vectors = try vectors()
    #expect(vectors.count == 167)
    Tally.run(.hci, "packets", vectors) { vector in
      let octets = try #require(Hex.decode(vector.hex))
      let packet = try HCIPacket(decoding: octets)
      try #require(Hex.encode(packet.octets) == vector.hex)
      switch packet {
      case .command(let command):
        guard let type = KnownCommands.type(of: command.opcode) else { return }
        try #require(try again(command, as: type) == command, "\(vector.testDescription)")
      case .event(let packet):
        let event = try HCIEvent(decoding: packet)
        try #require(event.packet == packet, "\(vector.testDescription)")
        let report = try CompletedPackets(packet: octets[...])
        let told = report.map { report in
          (0..<report.count).map { place in
            NumberOfCompletedPackets.Link {
              ($0.handle, $0.packets) = (report[place].handle, UInt16(report[place].packets))
            }
          }
        }
        if case .numberOfCompletedPackets(let event) = event {
          try #require(told == event.links, "\(vector.testDescription)")
        } else {
          try #require(told == nil, "\(vector.testDescription)")
        }
        if case .commandComplete(let complete) = event, complete.status.isSuccess,
          let type = KnownCommands.type(of: complete.opcode)
        {
          let returned = try returned(complete, by: type)
          try #require(returned.octets == complete.returnParameters, "\(vector.testDescription)")
        }
      case .acl(let packet): try #require(try ACLDataPacket(packet: octets) == packet, "\(vector.testDescription)")
      }
    }
  }

  @Test func everyFieldIsWhatTheOtherDecoderRead() throws {
    var compared = 0
    try Tally.run(.hci, "packets", vectors()) { vector in
      let packet = try HCIPacket(decoding: try #require(Hex.decode(vector.hex)))
      for (name, value) in try HCIFields.of(packet) {
        let expected = vector.decoded.fields[name] ?? vector.decoded.fields["return_parameters"]?[name]
        try #require(value == expected, "\(name) of \(vector.testDescription)")
        compared += 1
      }
    }
    #expect(compared > 400)
  }

  @Test func everyCutPacketIsRefused() throws {
    try Tally.run(.hci, "packets", vectors()) { vector in
      let octets = try #require(Hex.decode(vector.hex))
      for count in octets.indices {
        let cut = Array(octets.prefix(count))
        try #require(throws: HCICodingError.self) { try HCIPacket(decoding: cut) }
        if octets.first == 2, count >= ACLDataPacket.prefix {
          try #require(throws: HCICodingError.self) { try ACLDataPacket(packet: cut) }
        }
        guard octets.starts(with: [4, NumberOfCompletedPackets.code]), count > 2 else { continue }
        try #require(throws: HCICodingError.self) { try CompletedPackets(packet: cut[...]) }
      }
    }
  }

  private func again<Command: HCICommand>(
    _ packet: CommandPacket, as _: Command.Type
  ) throws -> CommandPacket { CommandPacket(try Command(decoding: packet)) }

  private func returned<Command: HCICommand>(
    _ complete: CommandComplete, by command: Command.Type
  ) throws -> any HCIReturnParameters { try complete.decoded(as: command) }
}
