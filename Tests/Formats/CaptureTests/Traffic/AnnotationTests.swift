import Bluetooth
import Testing

@testable import Capture

/// Notes in recordings.
@Suite struct AnnotationTests {
  @Test("a note that is too long is cut between characters, in packets and in comments")
  func long() throws {
    // Two octets each, behind one octet: the longest comment ends within one.
    let text = "a" + String(repeating: "é", count: 200)
    let shown = try #require(Annotation(Annotation(text).packet)?.text)
    #expect(shown == "a" + String(repeating: "é", count: 127))
    var writer = CaptureWriter(.pcapng)
    writer.wroteInterface(of: 0)
    let record = CaptureRecord(adapter: 0, packet: MonitorPacket(.userLogging, []), time: 0, comment: text)
    let piece = writer.piece(record)
    #expect(String(validating: piece.dropFirst(36).prefix(255), as: UTF8.self) == shown)
    // The option and its length.
    #expect(piece.dropFirst(32).prefix(4).elementsEqual([1, 0, 255, 0]))
  }
}
