import Bluetooth
import Testing

@testable import Capture

/// The forms of recordings that other programs write.
@Suite struct RecordingParserTests {
  /// Octets as hex digits with spaces.
  private func octets(_ text: String) -> [UInt8] { Hex.decode(text.replacing(" ", with: "")) ?? [] }

  /// Reads a recording in pieces of one length.
  private func read(_ recording: [UInt8], pieces length: Int = 4096) throws -> [CaptureRecord] {
    var parser = RecordingParser()
    var records: [CaptureRecord] = []
    for start in stride(from: 0, to: recording.count, by: length) {
      parser.append(recording[start..<min(start + length, recording.count)])
      while let record = try parser.next() { records.append(record) }
    }
    #expect(parser.unreadCount == 0)
    return records
  }

  private static let command = MonitorPacket(.command, [0x03, 0x0C, 0x00])
  private static let sent = MonitorPacket(.sentACL, [0x40, 0x00, 0x02, 0x00, 0xAA, 0xBB])
  private static let received = MonitorPacket(.receivedACL, [0x40, 0x20, 0x01, 0x00, 0xCC])
  private static let event = MonitorPacket(.event, [0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00])
  private static let all = [command, event, sent, received]

  @Test("Android's btsnoop has H4 and directions", arguments: [1, 5, 4096])
  func android(length: Int) throws {
    let header = "62 74 73 6e 6f 6f 70 00 0000 0001 0000 03ea"
    func packet(_ flags: String, _ content: String) -> String {
      let count = String(octets(content).count, radix: 16)
      let number = String(repeating: "0", count: 8 - count.count) + count
      return "\(number) \(number) \(flags) 00000000 00e2 5fe5 fe26 c240 \(content)"
    }
    let recording = octets(
      header + packet("00000002", "01 030c00") + packet("00000003", "04 0e0401030c00")
        + packet("00000000", "02 40000200aabb") + packet("00000001", "02 40200100cc"))
    let records = try read(recording, pieces: length)
    #expect(records.map(\.packet) == Self.all)
    #expect(records.allSatisfy { $0.time == 1_550_530_152_710_720 })
  }

  @Test("btsnoop without H4 tells the kind by flags")
  func bare() throws {
    let recording = octets(
      """
      62 74 73 6e 6f 6f 70 00 0000 0001 0000 03e9 \
      00000003 00000003 00000002 00000000 00e25fe5fe26c240 030c00 \
      00000005 00000005 00000001 00000000 00e25fe5fe26c240 40200100cc
      """)
    #expect(try read(recording).map(\.packet) == [Self.command, Self.received])
  }

  @Test(
    "pcapng of Wireshark with H4, also in the other order of octets and with nanoseconds", arguments: [true, false])
  func pcapng(isLittle: Bool) throws {
    func number(_ value: UInt32, _ count: Int = 4) -> [UInt8] {
      let big = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32(count - 1 - $0))) }
      return isLittle ? big.reversed() : big
    }
    func block(_ type: UInt32, _ body: [UInt8]) -> [UInt8] {
      let padded = body + [UInt8](repeating: 0, count: -body.count & 3)
      return number(type) + number(UInt32(padded.count + 12)) + padded + number(UInt32(padded.count + 12))
    }
    func packet(_ interface: UInt32, _ content: [UInt8], time: UInt64) -> [UInt8] {
      block(
        6,
        number(interface) + number(UInt32(time >> 32)) + number(UInt32(truncatingIfNeeded: time))
          + number(UInt32(content.count)) + number(UInt32(content.count)) + content)
    }
    let section = block(
      0x0A0D_0D0A, number(0x1A2B_3C4D) + number(1, 2) + number(0, 2) + [UInt8](repeating: 255, count: 8))
    let interface = block(1, number(201, 2) + number(0, 2) + number(0))
    // if_tsresol: nanoseconds.
    let ethernet = block(1, number(1, 2) + number(0, 2) + number(0) + number(9, 2) + number(1, 2) + [9, 0, 0, 0])
    let precise = block(1, number(201, 2) + number(0, 2) + number(0) + number(9, 2) + number(1, 2) + [9, 0, 0, 0])
    let names = block(4, [0, 0, 0, 0])
    let recording =
      section + interface + ethernet + precise + names
      + packet(0, [0, 0, 0, 0, 1, 3, 0x0C, 0], time: 1_700_000_000_123_456)
      + packet(1, [1, 2, 3, 4], time: 5)
      + packet(2, [0, 0, 0, 1, 2, 0x40, 0x20, 1, 0, 0xCC], time: 1_700_000_000_123_456_000)
    let records = try read(recording, pieces: 7)
    #expect(records.map(\.packet) == [Self.command, Self.received])
    #expect(records.map(\.time) == [1_700_000_000_123_456, 1_700_000_000_123_456])
  }

  @Test("pcapng is read as bled writes it")
  func own() throws {
    var writer = CaptureWriter(.pcapng)
    let records = Self.all.map { CaptureRecord(adapter: 3, packet: $0, time: 1_700_000_000_123_456) }
    var recording = writer.start
    recording += writer.interface(of: 3, name: "hci3") ?? []
    writer.wroteInterface(of: 3)
    for record in records { recording += writer.piece(record) }
    let read = try read(recording, pieces: 3)
    #expect(read.map(\.packet) == Self.all && read.allSatisfy { $0.adapterName == "hci3" && $0.adapter == 3 })
    #expect(read.allSatisfy { $0.time == 1_700_000_000_123_456 })
  }

  @Test("the older pcap, in microseconds and nanoseconds")
  func pcap() throws {
    let packet = "6553f100 %1 00000008 00000008 00000000 01030c00"
    for (magic, fraction) in [("a1b2c3d4", "0001e240"), ("a1b23c4d", "075bca00")] {
      let recording = octets(
        "\(magic) 0002 0004 00000000 00000000 0000ffff 000000c9" + packet.replacing("%1", with: fraction))
      let records = try read(recording)
      #expect(records.map(\.packet) == [Self.command])
      #expect(records.map(\.time) == [1_700_000_000_123_456])
    }
  }

  @Test("Apple's PacketLogger, old and new", arguments: [true, false])
  func packetLogger(isLittle: Bool) throws {
    func number(_ value: UInt32) -> [UInt8] {
      let big = (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32(3 - $0))) }
      return isLittle ? big.reversed() : big
    }
    func packet(_ type: UInt8, _ content: [UInt8]) -> [UInt8] {
      number(UInt32(content.count + 9)) + number(1_700_000_000) + number(123_456) + [type] + content
    }
    let recording =
      packet(0, Self.command.octets) + packet(0xFC, Array("a note".utf8)) + packet(1, Self.event.octets)
      + packet(2, Self.sent.octets) + packet(3, Self.received.octets)
    let records = try read(recording, pieces: 11)
    #expect(records.map(\.packet) == Self.all)
    #expect(Set(records.map(\.time)) == [1_700_000_000_123_456])
  }

  @Test("forms that are not read are named, and damaged lengths end the reading")
  func refused() throws {
    func problem(_ text: String) throws -> RecordingProblem? {
      var parser = RecordingParser()
      parser.append(octets(text)[...])
      do throws(RecordingProblem) {
        while try parser.next() != nil {}
        return nil
      } catch {
        return error
      }
    }
    #expect(try problem("6274736e6f6f7000 00000002 000007d1") == .unsupported("btsnoop of version 2"))
    #expect(try problem("6274736e6f6f7000 00000001 000003ec") == .unsupported("btsnoop of datalink type 1004"))
    #expect(
      try problem("a1b2c3d4 00020004 00000000 00000000 0000ffff 00000001") == .unsupported("pcap of link type 1"))
    #expect(
      try problem("6274736e6f6f7000 00000001 000007d1 00ffffff 00ffffff 00000000 00000000 0000000000000000")
        == .tooLong(0xFF_FFFF))
    #expect(try problem("0a0d0d0a 08000000 4d3c2b1a 01000000") == .damaged)
    #expect(try problem("ffffffffffffffff ffffffffffffffff") == .unknownForm)
  }
}
