import Host
import Testing

@Suite struct ChannelFlowTests {
  private func flow(_ receiving: (Int, Int) = (40, 23), _ sending: (Int, Int) = (100, 23), credits: UInt16 = 2)
    -> ChannelFlow
  {
    ChannelFlow(
      receiving: ChannelFlow.Sizes(packet: receiving.0, piece: receiving.1),
      sending: ChannelFlow.Sizes(packet: sending.0, piece: sending.1), credits: credits)
  }

  private func pieces(_ flow: inout ChannelFlow) -> [[UInt8]] {
    var pieces: [[UInt8]] = []
    while let piece = flow.nextPiece() { pieces.append(piece) }
    return pieces
  }

  @Test func aPacketIsCutAndWaitsForCredits() throws {
    var flow = flow()
    let packet = (0..<60).map { UInt8($0) }
    flow.send(packet)
    #expect(pieces(&flow) == [[60, 0] + packet[..<21], Array(packet[21..<44])])
    #expect(!flow.isWritable)
    try flow.credited(5)
    #expect(pieces(&flow) == [Array(packet[44...])])
    #expect(flow.isWritable)
  }

  @Test func piecesFillTheControllersPackets() {
    typealias Sizes = ChannelFlow.Sizes
    /// The piece of 247 octets at most, of packets of 1000, for a controller with packets of this length.
    func piece(_ length: Int, credits: UInt16 = 6) -> Int {
      Sizes(packet: 1000, piece: 247).filling(length, credits: credits).piece
    }
    #expect(piece(251) == 247)
    #expect(piece(192) == 188)
    #expect(piece(27) == 239)
    #expect(piece(1023) == 247, "shorter than one packet")
    #expect(piece(192, credits: 5) == 247, "the device may give no credit before it has the whole packet")
    #expect(Sizes(packet: 100, piece: 23).filling(27, credits: 9).piece == 23)
  }

  @Test func piecesMakeAPacket() throws {
    var flow = flow()
    try flow.receive([30, 0] + [UInt8](repeating: 1, count: 21))
    #expect(!flow.hasPackets)
    try flow.receive([UInt8](repeating: 2, count: 9))
    try flow.receive([0, 0])
    try flow.receive([1, 0, 7])
    #expect(flow.nextPacket() == [UInt8](repeating: 1, count: 21) + [UInt8](repeating: 2, count: 9))
    #expect(flow.nextPacket() == [7])
    #expect(flow.nextPacket() == nil)
  }

  @Test func creditsComeBackWhenPacketsAreRead() throws {
    var flow = flow()
    #expect(ChannelFlow.Sizes(packet: 40, piece: 23).credits == 16)
    #expect(ChannelFlow.Sizes(packet: 65_535, piece: 247).credits == 266)
    for number in 0..<16 { try flow.receive([1, 0, UInt8(number)]) }
    #expect(flow.creditsToGive() == 0, "nothing was read")
    #expect(throws: ChannelFlow.Fault.noCredit) { try flow.receive([1, 0, 16]) }
    #expect(flow.nextPacket() == [0])
    #expect(flow.creditsToGive() == 1, "the device has none")
    for _ in 0..<7 { _ = flow.nextPacket() }
    #expect(flow.creditsToGive() == 0, "the device has one")
    _ = flow.nextPacket()
    #expect(flow.creditsToGive() == 8)
  }

  /// Else a device that cuts its packets into short pieces would never end one.
  @Test func creditsComeBackForPiecesOfOnePacket() throws {
    var flow = flow((1000, 1000))
    try flow.receive([100, 0])
    for _ in 0..<99 {
      _ = flow.creditsToGive()
      try flow.receive([5])
    }
    _ = flow.creditsToGive()
    try flow.receive([5])
    #expect(flow.nextPacket()?.count == 100)
  }

  @Test func brokenRulesAreFaults() throws {
    var flow = flow()
    #expect(throws: ChannelFlow.Fault.pieceTooLong) { try flow.receive([24, 0] + [UInt8](repeating: 1, count: 24)) }
    flow = self.flow()
    try flow.receive([25, 0] + [UInt8](repeating: 1, count: 23))
    #expect(throws: ChannelFlow.Fault.pieceTooLong) { try flow.receive([UInt8](repeating: 1, count: 24)) }
    flow = self.flow()
    #expect(throws: ChannelFlow.Fault.pieceTooShort) { try flow.receive([1]) }
    flow = self.flow()
    #expect(throws: ChannelFlow.Fault.packetTooLong) { try flow.receive([41, 0, 1]) }
    flow = self.flow()
    #expect(throws: ChannelFlow.Fault.packetTooLong) { try flow.receive([1, 0, 1, 2]) }
    flow = self.flow()
    try flow.receive([10, 0, 1])
    #expect(throws: ChannelFlow.Fault.pieceTooShort) { try flow.receive([]) }
    flow = self.flow()
    try flow.credited(65_533)
    #expect(throws: ChannelFlow.Fault.tooManyCredits) { try flow.credited(1) }
  }
}
