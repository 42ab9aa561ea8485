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
}
