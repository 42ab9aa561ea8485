import Host
import Testing

@Suite struct H4FramerTests {
  /// One packet of each type.
  static let packets: [[UInt8]] = [
    [0x01, 0x03, 0x0C, 0x00],
    [0x02, 0x40, 0x20, 0x05, 0x00, 0x01, 0x00, 0x04, 0x00, 0x03],
    [0x03, 0x01, 0x00, 0x02, 0xAA, 0xBB],
    [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00],
    // The two high bits of the length are reserved.
    [0x05, 0x60, 0x00, 0x01, 0xC0, 0x77],
    [0x04, 0xFF, 0x00],
  ]

  @Test(arguments: [1, 2, 3, 5, 7, 64])
  func packetsAreWholeHoweverTheStreamIsCut(_ size: Int) {
    var framer = H4Framer()
    let stream = Self.packets.flatMap { $0 }
    var outputs: [H4Framer.Output] = []
    for start in stride(from: 0, to: stream.count, by: size) {
      outputs += framer.receive(stream[start..<min(start + size, stream.count)])
    }
    #expect(outputs == Self.packets.map { .packet($0) })
  }

  @Test func aPieceOfAPacketIsKept() {
    var framer = H4Framer()
    #expect(framer.receive([0x04, 0x0E, 0x04, 0x01]) == [])
    #expect(framer.receive([0x03, 0x0C, 0x00, 0x04]) == [.packet([0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00])])
    #expect(framer.receive([0xFF, 0x00]) == [.packet([0x04, 0xFF, 0x00])])
  }

  @Test func anUnknownTypeLosesSynchrony() {
    var framer = H4Framer()
    #expect(framer.receive([0x04, 0xFF, 0x00, 0x06, 0x04, 0xFF]) == [.packet([0x04, 0xFF, 0x00]), .lost(0x06)])
    #expect(framer.receive([0x04, 0xFF, 0x00]) == [])
    framer.reset()
    #expect(framer.receive([0x04, 0xFF, 0x00]) == [.packet([0x04, 0xFF, 0x00])])
  }

  @Test func theLongestPacketIsWhole() {
    var framer = H4Framer()
    let packet: [UInt8] = [0x02, 0x01, 0x20, 0xFF, 0xFF] + Array(repeating: 0x5A, count: 65535)
    #expect(framer.receive(packet.dropLast()) == [])
    #expect(framer.receive([0x5A]) == [.packet(packet)])
  }

  // MARK: - The beginning of a line

  private static let answer: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]
  /// Number Of Completed Packets, which follows.
  private static let next: [UInt8] = [0x04, 0x13, 0x05, 0x01, 0x40, 0x00, 0x01, 0x00]
  /// A Command Complete that only gives credits, as Zephyr sends it when it starts.
  private static let credits: [UInt8] = [0x04, 0x0E, 0x03, 0x01, 0x00, 0x00]

  /// The octets that were dropped, and the packets.
  private func found(_ stream: [UInt8], cutInto size: Int) -> (skipped: Int, packets: [[UInt8]]) {
    var framer = H4Framer(isSearching: true)
    var (skipped, packets): (Int, [[UInt8]]) = (0, [])
    for start in stride(from: 0, to: stream.count, by: size) {
      for output in framer.receive(stream[start..<min(start + size, stream.count)]) {
        switch output {
        case .packet(let packet): packets.append(packet)
        case .skipped(let count): skipped += count
        case .lost(let type): Issue.record("\(type) is no packet type")
        }
      }
    }
    return (skipped, packets)
  }

  @Test(
    "Octets before the answer to Reset are dropped, however they and it are cut",
    arguments: [
      [], [0x00], [0xFF, 0xFF, 0xFF], [0x01], [0x02, 0x40, 0x20, 0xFF, 0xFF], [0x05],
      // A message of a boot loader.
      Array("*** Booting Zephyr OS ***\r\n".utf8),
      // Half an event, and the end of one.
      [0x04, 0x3E, 0x2B, 0x0D, 0x01], [0x0C, 0x00, 0x04, 0x0E],
      // The beginning of the same answer.
      [0x04], [0x04, 0x0E, 0x04], [0x04, 0x0E, 0x04, 0x01, 0x03], [0x04, 0x0E, 0x04, 0x04, 0x0E, 0x04],
      // Lookalikes: another opcode, or too short.
      [0x04, 0x0E, 0x04, 0x01, 0x01, 0x10, 0x00], [0x04, 0x0E, 0x03, 0x01, 0x03, 0x0C, 0x00],
      credits, credits + [0x00],
    ] as [[UInt8]], [1, 2, 3, 7, 64])
  func stray(_ stray: [UInt8], size: Int) {
    let (skipped, packets) = found(stray + Self.answer + Self.next, cutInto: size)
    #expect(packets == [Self.answer, Self.next])
    #expect(skipped == stray.count)
  }

  @Test(
    "Synchrony begins with any answer to Reset",
    arguments: [
      answer, [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x0C], [0x04, 0x0E, 0x06, 0x00, 0x03, 0x0C, 0x00, 0x01, 0x02],
      [0x04, 0x0F, 0x04, 0x01, 0x01, 0x03, 0x0C],
    ] as [[UInt8]], [1, 4, 64])
  func synchrony(_ answer: [UInt8], size: Int) {
    let stream = Self.credits + answer + Self.credits + Array(Self.packets.joined())
    let (skipped, packets) = found(stream, cutInto: size)
    #expect(skipped == Self.credits.count)
    #expect(packets == [answer, Self.credits] + Self.packets)
  }

  @Test func theAnswersToTwoResetsArePackets() {
    let (skipped, packets) = found([0x55] + Self.answer + Self.credits + Self.answer + Self.next, cutInto: 5)
    #expect(skipped == 1 && packets == [Self.answer, Self.credits, Self.answer, Self.next])
  }

  @Test func afterALookalikeSynchronyIsLost() {
    var framer = H4Framer(isSearching: true)
    let lookalike: [UInt8] = [0x04, 0x0E, 0x05, 0x01, 0x03, 0x0C, 0x00]
    #expect(framer.receive((lookalike + Self.answer)[...]) == [.packet(lookalike + [0x04]), .lost(0x0E)])
    framer.reset()
    #expect(framer.receive(([0x0E] + Self.answer)[...]) == [.skipped(1), .packet(Self.answer)])
  }

  @Test func withoutAnAnswerNothingIsKept() {
    let stream = [UInt8](repeating: 0x04, count: 1 << 20)
    #expect(found(stream, cutInto: 65536).skipped == stream.count - 1)
    #expect(found([0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C], cutInto: 64).skipped == 0)
  }
}
