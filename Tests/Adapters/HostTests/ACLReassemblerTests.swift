import Bluetooth
import HCI
import Host
import Testing

@Suite struct ACLReassemblerTests {
  private func packet(_ boundary: UInt8, _ data: [UInt8], handle: UInt16 = 1) -> ACLDataPacket {
    ACLDataPacket {
      $0.handle = handle
      $0.boundary = boundary
      $0.data = data[...]
    }
  }

  private static let frame = L2CAPFrame(channel: 4, payload: [0x0A, 0x03, 0x00])

  @Test(arguments: [UInt8(0), 2])
  func aFrameInOnePacket(_ boundary: UInt8) {
    var reassembler = ACLReassembler()
    #expect(reassembler.receive(packet(boundary, Self.frame.octets())) == .init(frame: Self.frame))
  }

  @Test(arguments: 1..<7)
  func aFrameInPieces(_ size: Int) {
    var reassembler = ACLReassembler()
    var outputs: [ACLReassembler.Output] = []
    let octets = Self.frame.octets()
    for start in stride(from: 0, to: octets.count, by: size) {
      let output = reassembler.receive(packet(start == 0 ? 2 : 1, Array(octets[start...].prefix(size))))
      if output != .init() { outputs.append(output) }
    }
    #expect(outputs == [.init(frame: Self.frame)])
  }

  @Test func aFrameWithoutPayload() {
    var reassembler = ACLReassembler()
    #expect(reassembler.receive(packet(2, [0, 0, 4, 0])) == .init(frame: L2CAPFrame(channel: 4, payload: [])))
  }

  @Test func faultsDropTheFrameAndTheNextOneIsWhole() {
    var reassembler = ACLReassembler()
    #expect(reassembler.receive(packet(1, [1, 2])) == .init(faults: [.continuation]))
    #expect(reassembler.receive(packet(2, [3, 0, 4, 0, 1])) == .init())
    #expect(reassembler.receive(packet(1, [1, 2, 3])) == .init(faults: [.tooLong]))
    #expect(reassembler.receive(packet(2, [3, 0, 4, 0, 1])) == .init())
    #expect(reassembler.receive(packet(2, Self.frame.octets())) == .init(frame: Self.frame, faults: [.incomplete]))
    #expect(reassembler.receive(packet(2, [])) == .init())
  }

  @Test func earlyDataAreKeptInOrderForAWhile() {
    var early = EarlyData()
    let start = Instant.zero
    let dropped = (0..<10).map { early.keep(packet(2, [UInt8($0)]), at: start) }
    #expect(dropped == Array(repeating: [], count: 8) + [[packet(2, [8])], [packet(2, [9])]])
    let (kept, old) = early.take(1, at: start.advanced(by: .milliseconds(999)))
    #expect(kept.map(\.data) == (0..<8).map { [$0] } && old == [])
    #expect(early.take(1, at: start) == ([], []))
    #expect(early.keep(packet(2, [1]), at: start) == [])
    #expect(early.take(1, at: start.advanced(by: .seconds(1))) == ([], [packet(2, [1])]), "too old")
  }

  @Test func earlyDataOfFourLinksAreKept() {
    var early = EarlyData()
    let start = Instant.zero
    let dropped = (1...5).map { early.keep(packet(2, [9], handle: UInt16($0)), at: start).map(\.handle) }
    #expect(dropped == [[], [], [], [], [5]])
    early.ended(4, at: start)
    #expect(early.take(4, at: start) == ([], []))
    // The others are too old by then, and make room.
    let later = start.advanced(by: .seconds(2))
    #expect(early.keep(packet(2, [9], handle: 5), at: later).map(\.handle).sorted() == [1, 2, 3])
    #expect(early.take(5, at: later).packets.count == 1)
    #expect(early.take(1, at: later) == ([], []))
  }

  @Test func dataBehindTheEndOfALinkAreDropped() {
    var early = EarlyData()
    let start = Instant.zero
    #expect(early.keep(packet(2, [1]), at: start) == [] && early.deadline == start.advanced(by: .seconds(1)))
    early.ended(1, at: start)
    #expect(early.deadline == nil)
    #expect(early.keep(packet(2, [2], handle: 2), at: start) == [], "another link")
    let last = start.advanced(by: .milliseconds(9))
    #expect(early.keep(packet(2, [3]), at: last) == [packet(2, [3])])
    let next = start.advanced(by: .milliseconds(10))
    #expect(early.keep(packet(2, [4]), at: next) == [])
    #expect(early.expire(at: start.advanced(by: .seconds(1))) == [packet(2, [2], handle: 2)])
    #expect(early.deadline == next.advanced(by: .seconds(1)))
    #expect(early.take(1, at: next) == ([packet(2, [4])], []))
  }
}
