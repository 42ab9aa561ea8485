import Adapter
import Bluetooth
import Testing

@testable import Host
@testable import Controllers

/// Channels of either mode, and a device that keeps to the rules or breaks them. The names are from the SIG's test
/// suite for L2CAP (L2CAP.TS, 4.15): first the case of LE credit-based flow control, then that of the enhanced mode.
@Suite struct ChannelConformanceTests {
  static let modes: [ChannelMode] = [.leCreditBased, .enhanced]
  /// Our request to close the channel.
  private static let disconnection = "0500 06 01 0400 4100 4000"

  /// The device sends a frame that costs it the channel.
  private func breaks(_ far: FrameStage, _ frame: String, location: SourceLocation = #_sourceLocation) throws {
    try far.exchange(frame, Self.disconnection, location: location)
    try far.channel.isReading = true
    try far.stage.settle()
    #expect(far.ends.count == 1 && far.stage.ends.isEmpty, sourceLocation: location)
    // Nothing is accepted on it afterwards, and its end is not reported twice.
    let before = far.packets
    try far.exchange("4000 0100 07")
    try far.exchange("0500 07 01 0400 4100 4000")
    #expect(far.packets == before && far.ends.count == 1, sourceLocation: location)
    // The link is still good for another channel.
    try far.exchange("0500 14 03 0a00 8000 4200 c800 4000 0300", "0500 15 03 0a00 4000 2c01 f700 1000 0000")
  }

  // MARK: - Opening and closing

  @Test("LE/CFC/BV-03, ECFC/BV-03: data go on a channel that the device opened", arguments: modes)
  func response(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.channel.send([1, 2, 3])
    try far.stage.settle()
    #expect(try far.received() == [plain("4100 0300 010203")])
    try far.channel.isReading = true
    try far.exchange("4000 0200 0405")
    #expect(far.packets == [[4, 5]])
  }

  @Test("LE/CFC/BV-22, ECFC/BV-28: nothing listens on the number")
  func unsupported() throws {
    let far = try FrameStage()
    try far.exchange("0500 14 01 0a00 8100 4100 c800 4000 0300", "0500 15 01 0a00 0000 0000 0000 0000 0200")
    try far.exchange("0500 17 02 0c00 8100 c800 4000 0300 4100 4200", "0500 18 02 0c00 0000 0000 0000 0200 0000 0000")
    // The listener of the one mode does not accept the other.
    _ = try far.stage.adapter.publishChannel(0x27, ChannelParameters(receiveMTU: 300, mode: .enhanced))
    try far.exchange("0500 14 03 0a00 2700 4100 c800 4000 0300", "0500 15 03 0a00 0000 0000 0000 0000 0200")
    #expect(far.channels.isEmpty)
  }

  @Test("LE/CFC/BV-08, ECFC/BV-08: we close a channel", arguments: modes)
  func weDisconnect(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.channel.close()
    try far.stage.settle()
    #expect(try far.received() == [plain(Self.disconnection)])
    try far.exchange("0500 07 01 0400 4100 4000")
    // The number is free.
    try far.open(0x90, .leCreditBased)
    #expect(try far.received() == [plain("0500 14 02 0a00 9000 4000 2c01 f700 1000")])
  }

  @Test("LE/CFC/BV-09, ECFC/BV-09: the device closes a channel", arguments: modes)
  func theDeviceDisconnects(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.channel.isReading = true
    try far.exchange("0500 06 02 0400 4000 4100", "0500 07 02 0400 4000 4100")
    #expect(far.ends.count == 1)
    try far.exchange("0500 06 03 0400 4000 4100", "0500 01 03 0600 0200 4000 4100")
  }

  @Test("LE/CFC/BV-23, ECFC/BV-30: the device closes a channel that there is not", arguments: modes)
  func unknownChannel(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.exchange("0500 06 02 0400 5500 4100", "0500 01 02 0600 0200 5500 4100")
    // With the number of another channel at the device it is ignored.
    try far.exchange("0500 06 03 0400 4000 4200")
    try far.channel.isReading = true
    try far.exchange("4000 0100 07")
    #expect(far.packets == [[7]] && far.ends.isEmpty)
  }

  // MARK: - Credits

  @Test("LE/CFC/BV-06, ECFC/BV-06: as many pieces leave as there are credits", arguments: modes)
  func receivingCredits(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    for _ in 0..<3 { try far.channel.send([UInt8](repeating: 7, count: 200)) }
    try far.stage.settle()
    #expect(try far.received().count == 3)
    for (credits, pieces) in [("0100", 1), ("0200", 2), ("0500", 5), ("0900", 1)] {
      try far.send("0500 16 02 0400 4100 \(credits)")
      #expect(try far.received().count == pieces)
    }
  }

  @Test("LE/CFC/BV-07, ECFC/BV-07: the device gets credits for packets that were read", arguments: modes)
  func sendingCredits(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.channel.isReading = true
    for _ in 0..<7 { try far.exchange("4000 0100 07") }
    try far.exchange("4000 0100 07", "0500 16 01 0400 4000 0800")
    #expect(far.packets.count == 8)
  }

  @Test("ECFC/BI-01: no credits change nothing, too many end the channel", arguments: modes)
  func zeroAndTooManyCredits(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.exchange("0500 16 02 0400 4100 0000")
    // 3 and 65,532 are as many as there may be.
    try far.exchange("0500 16 03 0400 4100 fcff")
    try breaks(far, "0500 16 04 0400 4100 0100")
  }

  @Test("LE/CFC/BI-01, ECFC/BI-02: a piece without a credit ends the channel", arguments: modes)
  func noCredits(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    for _ in 0..<16 { try far.exchange("4000 0100 07") }
    try breaks(far, "4000 0100 08")
    #expect(far.packets == [[UInt8]](repeating: [7], count: 16))
  }

  // MARK: - Pieces

  @Test("LE/CFC/BV-26, ECFC/BV-33: a packet longer than we take ends the channel", arguments: modes)
  func packetTooLong(_ mode: ChannelMode) throws { try breaks(FrameStage.opened(mode), "4000 2d01 07") }

  @Test("LE/CFC/BV-27, ECFC/BV-34: a piece longer than we take ends the channel", arguments: modes)
  func pieceTooLong(_ mode: ChannelMode) throws {
    let piece = String(repeating: "07", count: 248)
    try breaks(FrameStage.opened(mode), "4000 2c01 \(piece)")
    let far = try FrameStage.opened(mode)
    try far.exchange("4000 2c01 07")
    try breaks(far, "4000 \(piece)")
  }

  @Test("LE/CFC/BV-28, ECFC/BV-35: pieces longer than the packet end the channel", arguments: modes)
  func packetOverflows(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.exchange("4000 0500 010203")
    try breaks(far, "4000 040506")
  }

  @Test("LE/CFC/BV-32, ECFC/BV-80: the length of a packet is no part of its first piece", arguments: modes)
  func fullPieces(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.channel.isReading = true
    for count in [247, 246, 248, 300] {
      let packet = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
      try far.send([0x40, 0, UInt8(count & 0xFF), UInt8(count >> 8)] + packet.prefix(247))
      if count > 247 { try far.send([0x40, 0] + packet.dropFirst(247)) }
      #expect(far.packets.last == packet)
    }
    #expect(far.ends.isEmpty)
  }

  @Test("a piece without the length of its packet, and one without an octet, end the channel", arguments: modes)
  func piecesTooShort(_ mode: ChannelMode) throws {
    try breaks(FrameStage.opened(mode), "4000 01")
    try breaks(FrameStage.opened(mode), "4000")
    let far = try FrameStage.opened(mode)
    try far.exchange("4000 0500 01")
    try breaks(far, "4000")
  }

  @Test("an empty packet is none", arguments: modes)
  func emptyPacket(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.channel.isReading = true
    for _ in 0..<7 { try far.exchange("4000 0000") }
    // An empty packet costs a credit like any other.
    try far.exchange("4000 0000", "0500 16 01 0400 4000 0800")
    #expect(far.packets.isEmpty && far.ends.isEmpty)
  }

  @Test("COS/CFC/BV-01 to 04: packets are cut, whole, and put together", arguments: modes)
  func segmentation(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    let packet = (0..<100).map { UInt8($0) }
    try far.channel.send(packet)
    try far.stage.settle()
    #expect(
      try far.received() == [
        "41006400" + Hex.encode(packet.prefix(62)).lowercased(), "4100" + Hex.encode(packet.dropFirst(62)).lowercased(),
      ])
    try far.channel.isReading = true
    try far.exchange("4000 0600 0102")
    try far.exchange("4000 0304")
    #expect(far.packets.isEmpty)
    try far.exchange("4000 0506")
    #expect(far.packets == [[1, 2, 3, 4, 5, 6]])
  }

  // MARK: - Refusals

  @Test("LE/CFC/BV-11, ECFC/BV-11: the link is not protected enough")
  func insufficientAuthentication() throws {
    let far = try FrameStage(level: 2)
    try far.exchange(FrameStage.requests[.leCreditBased] ?? "", "0500 15 01 0a00 0000 0000 0000 0000 0500")
    try far.exchange(FrameStage.requests[.enhanced] ?? "", "0500 18 01 0a00 0000 0000 0000 0500 0000")
  }

  @Test("LE/CFC/BV-20, ECFC/BV-20: the device has the number in use", arguments: modes)
  func numberInUse(_ mode: ChannelMode) throws {
    let far = try FrameStage.opened(mode)
    try far.exchange("0500 14 02 0a00 8000 4100 c800 4000 0300", "0500 15 02 0a00 0000 0000 0000 0000 0a00")
    try far.exchange(
      "0500 17 03 0e00 8000 c800 4000 0300 4100 4200 4200",
      "0500 18 03 0e00 2c01 f700 1000 0a00 0000 4100 0000")
  }

  @Test("the device's response has the number of another channel, which is closed, too")
  func duplicateNumber() throws {
    let far = try FrameStage.opened(.leCreditBased)
    try far.channel.isReading = true
    try far.open(0x90, .leCreditBased)
    _ = try far.received()
    try far.exchange("0500 15 01 0a00 4100 4000 4000 0300 0000", "0500 06 02 0400 4100 4000")
    #expect(throws: BluetoothError.self) { _ = try far.results[0].get() }
    #expect(far.ends.count == 1 && far.stage.ends.isEmpty)
    try far.exchange("4000 0100 07")
    #expect(far.packets.isEmpty)
  }

  @Test("LE/CFC/BV-18, ECFC/BV-18 as responder: the device asks for a number that is none")
  func invalidNumber() throws {
    let far = try FrameStage()
    for number in ["0000", "3f00", "8000", "ffff"] {
      try far.exchange("0500 14 02 0a00 8000 \(number) c800 4000 0300", "0500 15 02 0a00 0000 0000 0000 0000 0900")
      try far.exchange("0500 17 03 0a00 8000 c800 4000 0300 \(number)", "0500 18 03 0a00 0000 0000 0000 0900 0000")
    }
    // The others are granted.
    try far.exchange(
      "0500 17 04 0c00 8000 c800 4000 0300 0100 4100", "0500 18 04 0c00 2c01 f700 1000 0900 0000 4000")
  }

  @Test("LE/CFC/BV-01, ECFC/BV-01: the device does not know the request", arguments: modes)
  func legacyPeer(_ mode: ChannelMode) throws {
    let far = try FrameStage()
    try far.open(0x90, mode)
    #expect(try far.received().count == 1)
    try far.exchange("0500 01 01 0200 0000")
    #expect(throws: BluetoothError.self) { _ = try far.results[0].get() }
    #expect(far.results.count == 1)
  }

  @Test(
    "LE/CFC/BV-04, 10, 12, 14, 16, 18, 19, 21, 24, ECFC/BV-04 to 31: the device refuses the channel", arguments: modes,
    ["0200", "0400", "0500", "0600", "0700", "0800", "0900", "0a00", "0b00", "0c00", "ffff"])
  func refusals(_ mode: ChannelMode, _ result: String) throws {
    let far = try FrameStage()
    try far.open(0x90, mode)
    let request = mode == .enhanced ? "17 01 0a00 9000 2c01 f700 1000 4000" : "14 01 0a00 9000 4000 2c01 f700 1000"
    #expect(try far.received() == [plain("0500 \(request)")])
    try far.exchange(
      mode == .enhanced
        ? "0500 18 01 0a00 0000 0000 0000 \(result) 0000" : "0500 15 01 0a00 0000 0000 0000 0000 \(result)")
    #expect(throws: BluetoothError.self) { _ = try far.results[0].get() }
    // The number may be requested again.
    try far.open(0x90, mode)
    #expect(try far.received().count == 1 && far.results.count == 1)
  }

  @Test("LE/CFC/BV-02, ECFC/BV-02: we open a channel; a second response to it is ignored", arguments: modes)
  func weOpen(_ mode: ChannelMode) throws {
    let far = try FrameStage()
    try far.open(0x90, mode)
    _ = try far.received()
    let response =
      mode == .enhanced ? "0500 18 01 0a00 c800 4000 0300 0000 4100" : "0500 15 01 0a00 4100 c800 4000 0300 0000"
    // A response with another identifier, and one of the other mode.
    try far.exchange("0500 18 02 0a00 c800 4000 0300 0000 4100")
    try far.exchange("0500 15 02 0a00 4100 c800 4000 0300 0000")
    #expect(far.results.isEmpty)
    for _ in 0..<2 { try far.exchange(response) }
    #expect(far.results.count == 1 && far.channels.map(\.mode) == [mode])
    try far.channel.isReading = true
    try far.exchange("4000 0100 07")
    #expect(far.packets == [[7]])
  }
}
