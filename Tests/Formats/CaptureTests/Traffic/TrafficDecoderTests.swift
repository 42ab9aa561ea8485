import Bluetooth
import Testing

@testable import Capture

/// Packets in words, and recordings as files.
@Suite struct TrafficDecoderTests {
  private func record(_ kind: MonitorPacket.Kind, _ text: String) -> CaptureRecord {
    let octets = Hex.decode(text.replacing(" ", with: "")) ?? []
    return CaptureRecord(adapter: 0, packet: MonitorPacket(kind, octets), time: 1_700_000_000_123_456)
  }

  @Test("a link and its ATT packets, of which the answers belong to the questions")
  func link() {
    var decoder = TrafficDecoder()
    let lines = [
      record(.event, "3e13 01 00 4000 00 01 0100000000c0 1800 0000 2a00 00"),
      record(.sentACL, "4000 0700 0300 0400 0a 1200"), record(.receivedACL, "4020 0600 0200 0400 0b 06"),
      record(.receivedACL, "4020 0700 0500 0400 1b 1200"), record(.receivedACL, "4010 0200 0650"),
      record(.receivedACL, "4020 0900 0500 0400 01 0a 1300 02"), record(.sentACL, "4000 0700 0300 0600 0b 1200"),
      record(.event, "0504 00 4000 13"),
    ].flatMap { decoder.decode($0) }
    #expect(
      lines.map(\.text) == [
        "connected as central, interval 30 ms", "Read Request", "Read Response", "Notification",
        "Error Response to Read Request: readNotPermitted", "Security Request",
        "disconnected: 0x13 remoteUserTerminatedConnection",
      ])
    #expect(lines.map(\.opcode) == [nil, 0x0A, 0x0B, 0x1B, 0x01, nil, nil])
    #expect(lines.map(\.handle) == [nil, 0x12, 0x12, 0x12, 0x13, nil, nil])
    #expect(lines.map(\.value) == [nil, nil, [6], [6, 0x50], nil, nil, nil])
    #expect(lines.map(\.direction) == [.none, .sent, .received, .received, .received, .sent, .none])
    #expect(lines.allSatisfy { $0.peer == DeviceAddress(value: 0xC000_0000_0001, kind: .random) })
  }

  @Test("a recording of btsnoop is read as it was written, in pieces of any length", arguments: [1, 7, 4096])
  func btsnoop(length: Int) throws {
    let writer = CaptureWriter(.btsnoop)
    let written = [
      CaptureRecord(adapter: 15, packet: MonitorPacket(.openIndex, []), time: 1),
      CaptureRecord(
        adapter: 0, packet: Annotation("session 1: scan.start").packet, time: 1_700_000_000_123_456, lost: 7),
    ]
    let octets = writer.start + written.flatMap { writer.piece($0) }
    var reader = RecordingParser()
    var read: [CaptureRecord] = []
    for start in stride(from: 0, to: octets.count, by: length) {
      reader.append(octets[start..<min(start + length, octets.count)])
      while let record = try reader.next() { read.append(record) }
    }
    #expect(read == written)
    var other = RecordingParser()
    other.append(Array("GET / HTTP/1.1\r\n".utf8)[...])
    #expect(throws: RecordingProblem.unknownForm) { try other.next() }
  }

  @Test("no piece is longer than a pipe takes as a whole, and the real length of a cut packet stays")
  func longest() throws {
    let packet = MonitorPacket(.sentACL, [UInt8](repeating: 1, count: 65_535))
    let record = CaptureRecord(
      adapter: 0, packet: packet, time: 0, lost: 9, lostBefore: 9, comment: String(repeating: "x", count: 9999))
    for format in CaptureFormat.allCases {
      var writer = CaptureWriter(format)
      writer.wroteInterface(of: 0)
      #expect(writer.piece(record).count <= CaptureWriter.longestPiece)
    }
    var reader = RecordingParser()
    reader.append((CaptureWriter(.btsnoop).start + CaptureWriter(.btsnoop).piece(record))[...])
    #expect(try reader.next()?.packet.length == 65_535)
  }
}
