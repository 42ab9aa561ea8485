import Adapter
import Bluetooth
import HCI
import Testing

@testable import Host
@testable import Controllers

/// The signalling channel of a link on which we are peripheral, and the frames that carry it. The names are from the
/// SIG's test suite for L2CAP (L2CAP.TS).
@Suite struct SignallingConformanceTests {
  private static let wanted = ConnectionParameters(
    interval: .milliseconds(30)...(.milliseconds(50)), latency: 2, supervisionTimeout: .seconds(4))

  @Test("LE/CPU/BV-01, LE/CPU/BI-01: we ask for parameters", arguments: ["0000", "0100"])
  func weAsk(_ result: String) throws {
    let far = try FrameStage { $0.refused[0x2013] = .unsupportedRemoteFeature }
    var results: [BluetoothError?] = []
    far.link.request(Self.wanted) { results.append($0) }
    try far.stage.settle()
    #expect(try far.received() == [plain("0500 12 01 0800 1800 2800 0200 9001")])
    // Answers to other requests, and to none.
    for other in ["13 02 0200 0000", "13 01 0100 00", "15 01 0a00 4100 c800 4000 0300 0000", "07 01 0400 4100 4000"] {
      try far.exchange("0500 \(other)")
    }
    #expect(results.isEmpty)
    try far.exchange("0500 13 01 0200 \(result)")
    #expect(results.count == 1 && (results[0] == nil) == (result == "0000"))
  }

  @Test("LE/CPU/BI-02: a central does not ask")
  func aCentralAsks() throws {
    try FrameStage().exchange("0500 12 01 0800 1800 2800 0200 9001", "0500 01 01 0200 0000")
  }

  @Test(
    "LE/REJ/BI-01, LE/REJ/BI-02: commands that LE does not have",
    arguments: [
      "0a 02 0200 0200", "02 02 0400 0100 4000", "08 02 0000", "0e 02 0400 4000 0000", "00 02 0000", "1b 02 0000",
      "7f 02 0100 07", "ff 02 0000",
    ])
  func unknownCommands(_ command: String) throws {
    try FrameStage().exchange("0500 \(command)", "0500 01 02 0200 0000")
  }

  @Test(
    "COS/CED/BI-11: commands that are too short or too long",
    arguments: [
      "06 02 0300 4000 41", "06 02 0500 4000 4100 00", "06 02 0400 4000", "06 02 0400 4000 4100 00", "06 02",
      "06 02 04",
      "14 02 0900 8000 4100 c800 4000 03", "14 02 0a00 8000 4100 c800 4000", "17 02 0900 8000 c800 4000 0300 41",
      "19 02 0500 c800 4000 41",
    ])
  func malformed(_ command: String) throws {
    try FrameStage().exchange("0500 \(command)", "0500 01 02 0200 0000")
  }

  @Test(
    "commands and responses that cannot be answered",
    arguments: [
      "", "06", "06 00 0400 4000 4100", "14 00 0a00 8000 4100 c800 4000 0300", "17 00 0a00 8000 c800 4000 0300 4100",
      "ff 00 0000", "16 02 0400 4100 0100", "16 02 0300 4100 01", "01 09 0200 0000", "01 09 0000", "13 09 0200 0000",
      "15 09 0a00 4100 c800 4000 0300 0000", "15 09 0000", "18 09 0800 4000 4000 0300 0000", "18 09 0000",
      "1a 09 0200 0000", "07 09 0400 4100 4000", "07 09 0000",
    ])
  func ignored(_ command: String) throws {
    let far = try FrameStage()
    try far.exchange("0500 \(command)")
    try far.exchange("0500 ff 02 0000", "0500 01 02 0200 0000")
  }

  @Test("a command longer than the channel takes")
  func tooLong() throws {
    let far = try FrameStage()
    try far.exchange("0500 14 02 fc00" + String(repeating: "00", count: 252), "0500 01 02 0400 0100 ff00")
  }

  @Test(
    "LE/CID/BI-01: channels that there are not", arguments: ["0000", "0100", "0300", "3a00", "4000", "7f00", "ffff"])
  func unknownChannels(_ number: String) throws {
    let far = try FrameStage()
    try far.exchange("\(number) 0100 07")
    try far.exchange("0500 ff 02 0000", "0500 01 02 0200 0000")
  }

  // MARK: - Frames

  @Test("a frame in fragments of each size", arguments: 1...14)
  func fragments(_ size: Int) throws {
    let far = try FrameStage()
    let frame = try octets("0e00 0500 14 01 0a00 8000 4100 c800 4000 0300")
    for start in stride(from: 0, to: frame.count, by: size) {
      try far.sendPacket(Array(frame[start...].prefix(size)), isFirst: start == 0)
    }
    #expect(try far.received() == [plain("0500 15 01 0a00 4000 2c01 f700 1000 0000")])
  }

  @Test("fragments that do not fit together")
  func brokenFragments() throws {
    let far = try FrameStage()
    // A frame without a beginning, a frame with more octets than its header says, and an endless one.
    try far.sendPacket(octets("ff02 0000"), isFirst: false)
    try far.sendPacket(octets("0400 0500 ff02 0000 00"))
    try far.sendPacket(octets("0400 0500 ff02"))
    try far.sendPacket([])
    #expect(try far.received().isEmpty)
    try far.exchange("0500 ff 03 0000", "0500 01 03 0200 0000")
  }

  @Test("requests whose answers are not read are bounded")
  func flood() throws {
    let far = try FrameStage()
    try far.stage.controller.send(Array(repeating: Self.unknown, count: 2000))
    try far.stage.settle()
    let answers = try far.received()
    #expect(answers.count < 300 && answers.allSatisfy { $0 == plain("0500 01 02 0200 0000") })
    try far.exchange("0500 ff 03 0000", "0500 01 03 0200 0000")
  }

  private static let unknown = HCIPacket.acl(
    ACLDataPacket {
      $0.handle = FrameStage.handle
      $0.boundary = 2
      $0.data = [4, 0, 5, 0, 0xFF, 2, 0, 0]
    })
}
