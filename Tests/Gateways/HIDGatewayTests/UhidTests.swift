import Testing

@testable import HIDGateway

/// The offsets are those of a C compiler for `struct uhid_event` of Linux 6.12.
@Suite("Events and requests of /dev/uhid")
struct UhidTests {
  @Test("A device")
  func creation() {
    let octets = UhidRequest.create(
      UhidDescription(
        name: "Desk", location: "02:00:00:00:00:01", identity: "f0:f1:f2:f3:f4:01", vendor: 0x046D, product: 0xB34A,
        version: 0x0102, country: 33, map: [1, 2, 3])
    ).octets
    #expect(octets.count == 280 + 3)
    #expect(octets[0..<4] == [11, 0, 0, 0])
    #expect(octets[4..<9] == [0x44, 0x65, 0x73, 0x6B, 0])
    #expect(octets[132..<134] == [0x30, 0x32])
    #expect(octets[196..<198] == [0x66, 0x30])
    #expect(octets[260..<264] == [3, 0, 5, 0])
    #expect(octets[264..<280] == [0x6D, 0x04, 0, 0, 0x4A, 0xB3, 0, 0, 2, 1, 0, 0, 33, 0, 0, 0])
    #expect(octets[280...] == [1, 2, 3])
  }

  @Test("A name is cut at a character, and has no control characters")
  func names() {
    let long = UhidDescription(
      name: "a\nb" + String(repeating: "é", count: 200), location: "", identity: "",
      map: [UInt8](repeating: 0, count: 5000))
    let octets = UhidRequest.create(long).octets
    #expect(octets.count == 280 + 4096)
    #expect(octets[4..<7] == [0x61, 0x3F, 0x62])
    #expect(octets[130..<132] == [0, 0x30] || octets[131] == 0)
    #expect(String(validating: octets[4..<131].prefix { $0 != 0 }, as: UTF8.self) != nil)
  }

  @Test("Reports and replies")
  func reports() {
    #expect(UhidRequest.destroy.octets == [1, 0, 0, 0])
    #expect(UhidRequest.input([1, 0xFF]).octets == [12, 0, 0, 0, 2, 0, 1, 0xFF])
    #expect(UhidRequest.report(request: 258, [7]).octets == [10, 0, 0, 0, 2, 1, 0, 0, 0, 0, 1, 0, 7])
    #expect(UhidRequest.report(request: 1, nil).octets == [10, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0])
    #expect(UhidRequest.reportSet(request: 1, isDone: true).octets == [14, 0, 0, 0, 1, 0, 0, 0, 0, 0])
    #expect(UhidRequest.reportSet(request: 1, isDone: false).octets == [14, 0, 0, 0, 1, 0, 0, 0, 5, 0])
  }

  @Test("Events")
  func events() {
    #expect(UhidEvent([2, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0]) == .start)
    #expect(UhidEvent([3, 0, 0, 0]) == .stop)
    #expect(UhidEvent([4, 0, 0, 0]) == .open)
    #expect(UhidEvent([5, 0, 0, 0]) == .close)
    var output = [UInt8](repeating: 0, count: UhidEvent.length)
    output.replaceSubrange(0..<6, with: [6, 0, 0, 0, 1, 2])
    output.replaceSubrange(4100..<4103, with: [2, 0, 1])
    #expect(UhidEvent(output) == .output(.output, [1, 2]))
    #expect(UhidEvent([9, 0, 0, 0, 2, 1, 0, 0, 5, 0]) == .getReport(request: 258, ReportKey(.feature, 5)))
    #expect(
      UhidEvent([13, 0, 0, 0, 9, 0, 0, 0, 5, 0, 2, 0, 5, 8]) == .setReport(request: 9, ReportKey(.feature, 5), [5, 8]))
  }

  @Test("Events that are cut off, of unknown kinds and with lengths beyond the end")
  func odd() {
    #expect(UhidEvent([]) == nil)
    #expect(UhidEvent([6]) == .output(.feature, []))
    #expect(UhidEvent([99, 0, 0, 0]) == nil)
    #expect(UhidEvent([9, 0, 0, 0, 1, 0, 0, 0, 1, 3]) == nil)
    guard case .setReport(_, _, let octets) = UhidEvent([13, 0, 0, 0, 9, 0, 0, 0, 5, 1, 0xFF, 0xFF, 7]) else {
      Issue.record("no event")
      return
    }
    #expect(octets.count == UhidEvent.longestReport && octets.first == 7)
  }
}
