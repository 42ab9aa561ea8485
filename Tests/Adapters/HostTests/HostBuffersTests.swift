import HCI
import Host
import Testing

@Suite struct HostBuffersTests {
  /// The reported numbers of packets, by link.
  private func told(_ buffers: inout HostBuffers) -> [ConnectionHandle: UInt16] { numbers(buffers.take()) }

  /// A command for each link: a command that names a link that has just ended is refused as a whole.
  private func numbers(_ commands: [HostNumberOfCompletedPackets]) -> [ConnectionHandle: UInt16] {
    #expect(commands.allSatisfy { $0.links.count == 1 })
    return Dictionary(uniqueKeysWithValues: commands.flatMap(\.links).map { ($0.handle, $0.packets) })
  }

  @Test func roomIsToldInBatches() {
    var buffers = HostBuffers()
    buffers.begin(1)
    for _ in 0..<15 { buffers.received(on: 1, isHeld: false) }
    #expect(told(&buffers) == [:])
    buffers.received(on: 1, isHeld: false)
    #expect(told(&buffers) == [1: 16])
    #expect(told(&buffers) == [:])
  }

  @Test func anOnlyLinkThatIsNotReadKeepsAllItsRoom() {
    var buffers = HostBuffers()
    buffers.begin(1)
    for _ in 0..<HostBuffers.packets { buffers.received(on: 1, isHeld: true) }
    #expect(told(&buffers) == [:] && buffers.isExhausted)
    // The controller can report other links again.
    #expect(numbers(buffers.relieve()) == [1: 4] && !buffers.isExhausted)
    for _ in 0..<4 { buffers.received(on: 1, isHeld: true) }
    buffers.read(1)
    #expect(told(&buffers) == [1: 64])
  }

  @Test func severalLinksLeaveEachOtherRoom() {
    var buffers = HostBuffers()
    buffers.begin(1)
    for _ in 0..<40 { buffers.received(on: 1, isHeld: true) }
    // A share of two links is 16.
    buffers.begin(2)
    #expect(told(&buffers) == [1: 24])
    for _ in 0..<20 { buffers.received(on: 1, isHeld: true) }
    for _ in 0..<4 { buffers.received(on: 2, isHeld: false) }
    #expect(told(&buffers) == [1: 20, 2: 4])
    buffers.read(1)
    #expect(told(&buffers) == [1: 16])
  }

  @Test func theControllerForgetsALinkThatEnds() {
    var buffers = HostBuffers()
    buffers.begin(1)
    buffers.begin(2)
    for _ in 0..<12 { buffers.received(on: 1, isHeld: false) }
    for _ in 0..<12 { buffers.received(on: 2, isHeld: true) }
    buffers.end(1)
    // The room of a handle without a link belongs to none.
    buffers.received(on: 1, isHeld: false)
    buffers.read(1)
    #expect(told(&buffers) == [:])
    buffers.begin(1)
    buffers.read(2)
    for _ in 0..<4 { buffers.received(on: 1, isHeld: false) }
    #expect(told(&buffers) == [1: 4, 2: 12])
  }
}
