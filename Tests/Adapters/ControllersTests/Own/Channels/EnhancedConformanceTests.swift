import Adapter
import Bluetooth
import Testing

@testable import Host
@testable import Controllers

/// Channels in enhanced credit-based flow control mode: several with one request, and other sizes later. The names are
/// from the SIG's test suite for L2CAP (L2CAP.TS, 4.15.1).
@Suite struct EnhancedConformanceTests {
  /// Both ends of two channels: 0x41 and 0x42 at the device, 0x40 and 0x41 here. The second one accepts longer pieces.
  private func two() throws -> FrameStage {
    let far = try FrameStage.opened(.enhanced)
    try far.exchange("0500 17 02 0a00 8000 c800 5000 0300 4200", "0500 18 02 0a00 2c01 f700 1000 0000 4100")
    return far
  }

  @Test("ECFC/BV-03: five channels with one request")
  func fiveChannels() throws {
    let far = try FrameStage()
    try far.exchange(
      "0500 17 01 1200 8000 4000 4000 0500 4100 4200 4300 4400 4500",
      "0500 18 01 1200 2c01 f700 1000 0000 4000 4100 4200 4300 4400")
    #expect(far.channels.count == 5)
    for channel in far.channels { channel.send([7]) }
    try far.stage.settle()
    #expect(try far.received() == ["41", "42", "43", "44", "45"].map { "\($0)00010007" })
  }

  @Test("more than five channels, and none")
  func sixChannels() throws {
    let far = try FrameStage()
    try far.exchange(
      "0500 17 01 1400 8000 4000 4000 0500 4100 4200 4300 4400 4500 4600",
      "0500 18 01 1200 0000 0000 0000 0c00 0000 0000 0000 0000 0000")
    try far.exchange("0500 17 02 0800 8000 4000 4000 0500", "0500 01 02 0200 0000")
    // Half a number.
    try far.exchange("0500 17 03 0b00 8000 4000 4000 0500 4100 42", "0500 01 03 0200 0000")
    #expect(far.channels.isEmpty)
  }

  @Test(
    "ECFC/BV-26: parameters outside the specification",
    arguments: ["3f00 4000 0500", "4000 3f00 0500", "4000 feff 0500", "4000 4000 0000"])
  func invalidParameters(_ parameters: String) throws {
    let far = try FrameStage()
    try far.exchange("0500 17 01 0a00 8000 \(parameters) 4100", "0500 18 01 0a00 0000 0000 0000 0c00 0000")
  }

  @Test("ECFC/BV-27: the shortest packets and pieces")
  func shortest() throws {
    let far = try FrameStage()
    try far.exchange("0500 17 01 0a00 8000 4000 4000 0500 4100", "0500 18 01 0a00 2c01 f700 1000 0000 4000")
    #expect(try far.channel.sendMTU == 64)
  }

  @Test("ECFC/BV-17: there is no room for all")
  func insufficientResources() throws {
    let far = try FrameStage()
    for number in 0x41...0x7E {
      let remote = Hex.encode([UInt8(number), 0])
      try far.send("0500 17 01 0a00 8000 4000 4000 0500 \(remote)")
    }
    _ = try far.received()
    #expect(far.channels.count == 62)
    try far.open(0x90, .enhanced)
    #expect(try far.received().count == 1)
    try far.exchange("0500 17 02 0c00 8000 4000 4000 0500 4000 7f00", "0500 18 02 0c00 2c01 f700 1000 0400 7f00 0000")
    #expect(far.channels.count == 63 && far.results.isEmpty)
    try far.open(0x90, .enhanced)
    #expect(throws: BluetoothError.self) { _ = try far.results[0].get() }
    try far.exchange("0500 17 03 0a00 8000 4000 4000 0500 7f00", "0500 18 03 0a00 0000 0000 0000 0400 0000")
  }

  @Test("ECFC/BV-29: the device's response has the number of another channel")
  func duplicateNumber() throws {
    let far = try FrameStage.opened(.enhanced)
    try far.channel.isReading = true
    try far.open(0x90, .enhanced)
    _ = try far.received()
    try far.exchange("0500 18 01 0a00 4000 4000 0300 0000 4100", "0500 06 02 0400 4100 4000")
    #expect(throws: BluetoothError.self) { _ = try far.results[0].get() }
    #expect(far.ends.count == 1 && far.stage.ends.isEmpty)
    try far.exchange("4000 0100 07")
    #expect(far.packets.isEmpty)
  }

  @Test("ECFC/BV-02: another response follows one that is pending", arguments: ["0d00", "0e00", "0f00"])
  func pending(_ result: String) throws {
    let far = try FrameStage()
    try far.open(0x90, .enhanced)
    _ = try far.received()
    try far.stage.wait(.seconds(29))
    try far.exchange("0500 18 01 0800 0000 0000 0000 \(result)")
    try far.stage.wait(.seconds(29))
    #expect(far.results.isEmpty)
    try far.exchange("0500 18 01 0a00 4000 4000 0300 0000 4100")
    #expect(try far.channel.sendMTU == 64)
    // Without another response the request fails after 30 s, and with further ones like it after 5 minutes.
    try far.open(0x90, .enhanced)
    try far.exchange("0500 18 02 0800 0000 0000 0000 \(result)", "0500 17 02 0a00 9000 2c01 f700 1000 4100")
    try far.stage.wait(.seconds(30))
    #expect(throws: BluetoothError.self) { _ = try far.results[1].get() }
    try far.open(0x90, .enhanced)
    _ = try far.received()
    for _ in 0..<10 {
      try far.exchange("0500 18 03 0800 0000 0000 0000 \(result)")
      #expect(far.results.count == 2)
      try far.stage.wait(.seconds(29))
    }
    try far.exchange("0500 18 03 0800 0000 0000 0000 \(result)")
    try far.stage.wait(.seconds(10))
    #expect(throws: BluetoothError.self) { _ = try far.results[2].get() }
  }

  // MARK: - Reconfiguration

  @Test("ECFC/BV-23: the device takes longer packets")
  func longerPackets() throws {
    let far = try two()
    try far.exchange("0500 19 03 0800 2c01 5000 4100 4200", "0500 1a 03 0200 0000")
    #expect(far.channels.map(\.sendMTU) == [300, 300])
    // Repeated unchanged sizes are no error.
    try far.exchange("0500 19 04 0800 2c01 5000 4100 4200", "0500 1a 04 0200 0000")
  }

  @Test("ECFC/BV-25: the device takes longer and shorter pieces; waiting ones are cut again")
  func otherPieces() throws {
    let far = try FrameStage.opened(.enhanced)
    try far.exchange("0500 19 02 0600 c800 4100 4100", "0500 1a 02 0200 0000")
    try far.channel.send([UInt8](repeating: 7, count: 200))
    try far.stage.settle()
    // 202 octets in pieces of 65.
    #expect(try far.received().map { $0.count / 2 - 2 } == [65, 65, 65])
    try far.channel.send([UInt8](repeating: 8, count: 100))
    try far.exchange("0500 19 03 0600 c800 4000 4100", "0500 1a 03 0200 0000")
    try far.send("0500 16 04 0400 4100 0900")
    let pieces = try far.received()
    #expect(pieces.map { $0.count / 2 - 2 } == [7, 64, 1, 37])
    let octets = String(repeating: "07", count: 7) + "6400" + String(repeating: "08", count: 100)
    #expect(pieces.map { $0.dropFirst(4) }.joined() == octets)
  }

  @Test("ECFC/BV-25: the response leaves after the pieces that wait for the controller")
  func responseBehindPieces() throws {
    let far = try FrameStage.opened(.enhanced)
    // The controller's buffers are full.
    for _ in 0..<20 { far.link.send([UInt8](repeating: 0x1B, count: 8)) }
    try far.channel.send([UInt8](repeating: 7, count: 200))
    try far.send("0500 19 02 0600 c800 4000 4100")
    try far.send("0500 17 03 0a00 8000 c800 4000 0300 4200")
    let frames = try far.received()
    let last = try #require(frames.lastIndex { $0.hasPrefix("4100") })
    let response = try #require(frames.firstIndex(of: plain("0500 1a 02 0200 0000")))
    let other = try #require(frames.firstIndex { $0.hasPrefix("050018") })
    #expect(last < response && other < last, "other signalling goes first")
  }

  @Test("ECFC/BI-03: shorter packets are refused")
  func shorterPackets() throws {
    let far = try two()
    try far.exchange("0500 19 03 0600 c700 4000 4100", "0500 1a 03 0200 0100")
    try far.exchange("0500 19 04 0800 c700 5000 4100 4200", "0500 1a 04 0200 0100")
    #expect(far.channels.map(\.sendMTU) == [200, 200] && far.ends.isEmpty)
  }

  @Test("ECFC/BI-04, BI-07: shorter pieces of several channels are refused")
  func shorterPieces() throws {
    let far = try two()
    // Shorter than both, and than one of them.
    try far.exchange("0500 19 03 0800 c800 4000 4100 4200", "0500 1a 03 0200 0200")
    try far.exchange("0500 19 04 0800 c800 4f00 4100 4200", "0500 1a 04 0200 0200")
    // Pieces of one channel may become shorter.
    try far.exchange("0500 19 05 0600 c800 4000 4200", "0500 1a 05 0200 0000")
    #expect(far.ends.isEmpty)
  }

  @Test("ECFC/BI-05: a number of no enhanced channel")
  func invalidNumbers() throws {
    let far = try FrameStage.opened(.enhanced)
    try far.exchange("0500 14 02 0a00 8000 4200 c800 4000 0300", "0500 15 02 0a00 4100 2c01 f700 1000 0000")
    for numbers in ["4100 4300", "0000 4100", "4100 4200", "ffff 4000"] {
      try far.exchange("0500 19 03 0800 2c01 5000 \(numbers)", "0500 1a 03 0200 0300")
    }
    #expect(far.channels.map(\.sendMTU) == [200, 200])
  }

  @Test("ECFC/BI-06: sizes outside the specification", arguments: ["c800 3f00", "3f00 4000", "c800 feff"])
  func unacceptable(_ sizes: String) throws {
    let far = try FrameStage.opened(.enhanced)
    try far.exchange("0500 19 02 0600 \(sizes) 4100", "0500 1a 02 0200 0400")
  }

  @Test("a request for more than five channels, for none, and half a one")
  func malformed() throws {
    let far = try FrameStage.opened(.enhanced)
    try far.exchange("0500 19 02 1000 c800 4000 4100 4100 4100 4100 4100 4100", "0500 1a 02 0200 0400")
    try far.exchange("0500 19 03 0400 c800 4000", "0500 01 03 0200 0000")
    try far.exchange("0500 19 04 0700 c800 4000 4100 42", "0500 01 04 0200 0000")
    // Responses without a request.
    try far.exchange("0500 1a 05 0200 0000")
    try far.exchange("0500 18 06 0a00 4000 4000 0300 0000 4300")
    try far.channel.isReading = true
    try far.exchange("4000 0100 07")
    #expect(far.packets == [[7]])
  }
}
