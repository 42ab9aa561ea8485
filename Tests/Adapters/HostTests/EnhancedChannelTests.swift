import Adapter
import Bluetooth
import Host
import Testing

/// Enhanced channels that we request, several at once, and other sizes of their ends.
@Suite struct EnhancedChannelTests {
  private static let own = ChannelEnd(number: 0, packet: 100, piece: 80, credits: 10)

  /// The device answers with a command, written as octets.
  private func receive(_ machine: inout SignallingMachine, _ text: String) throws -> [SignallingMachine.Action] {
    let octets = try #require(Hex.decode(text.filter { $0 != " " }))
    return machine.receive(octets, at: .zero) { _, _ in .refused(0x0002) }
  }

  /// Commands, written as octets.
  private func sent(_ actions: [SignallingMachine.Action]) -> [String] {
    actions.compactMap { if case .send(let packet) = $0 { Hex.encode(packet.octets).lowercased() } else { nil } }
  }

  private func end(_ number: UInt16) -> ChannelEnd { ChannelEnd(number: number, packet: 200, piece: 64, credits: 3) }

  @Test func severalChannelsTakeOneRequest() throws {
    var machine = SignallingMachine(role: .central)
    #expect(machine.open(0x27, enhanced: 0, Self.own, at: .zero) == nil)
    #expect(machine.open(0x27, enhanced: 6, Self.own, at: .zero) == nil)
    let opened = machine.open(0x27, enhanced: 5, Self.own, at: .zero)
    let asked = try #require(opened)
    #expect(asked.numbers == [0x40, 0x41, 0x42, 0x43, 0x44])
    #expect(sent(asked.actions) == ["170112002700640050000a0040004100420043004400"])
    #expect(machine.deadline == Instant.zero.advanced(by: .seconds(30)))
  }

  @Test func someAreGrantedAndOthersRefused() throws {
    for result in ["0400", "0900", "0a00"] {
      var machine = SignallingMachine(role: .central)
      _ = machine.open(0x27, enhanced: 3, Self.own, at: .zero)
      let code = try #require(UInt16(result.prefix(2), radix: 16))
      #expect(
        try receive(&machine, "18 01 0e00 c800 4000 0300 \(result) 4100 0000 4300") == [
          .opened(0x40, end(0x41)), .refused(0x41, .result(code)), .opened(0x42, end(0x43)),
        ])
      #expect(machine.deadline == nil)
    }
  }

  @Test func missingAndImpossibleNumbersAreRefusals() throws {
    var machine = SignallingMachine(role: .central)
    _ = machine.open(0x27, enhanced: 4, Self.own, at: .zero)
    #expect(
      try receive(&machine, "18 01 0e00 c800 4000 0300 0000 4100 3f00 0000") == [
        .opened(0x40, end(0x41)), .refused(0x41, .result(0x0009)), .refused(0x42, .result(0x0004)),
        .refused(0x43, .result(0x0004)),
      ])
  }

  @Test func allAreRefusedWhateverNumbersFollow() throws {
    var machine = SignallingMachine(role: .central)
    _ = machine.open(0x27, enhanced: 2, Self.own, at: .zero)
    #expect(
      try receive(&machine, "18 01 0c00 c800 4000 0300 0600 4100 4200") == [
        .refused(0x40, .result(0x0006)), .refused(0x41, .result(0x0006)),
      ])
    _ = machine.open(0x27, enhanced: 2, Self.own, at: .zero)
    #expect(
      try receive(&machine, "01 02 0200 0000") == [.refused(0x40, .notUnderstood), .refused(0x41, .notUnderstood)])
    _ = machine.open(0x27, enhanced: 2, Self.own, at: .zero)
    #expect(
      machine.tick(at: .zero.advanced(by: .seconds(30))) == [.refused(0x40, .noAnswer), .refused(0x41, .noAnswer)])
  }

  @Test func channelsThatAreGrantedTooLateAreClosed() throws {
    var machine = SignallingMachine(role: .central)
    _ = machine.open(0x27, enhanced: 3, Self.own, at: .zero)
    #expect(machine.tick(at: .zero.advanced(by: .seconds(30))).count == 3)
    #expect(try receive(&machine, "18 01 0800 0000 0000 0000 0d00") == [], "another response follows")
    let actions = try receive(&machine, "18 01 0e00 c800 4000 0300 0400 4100 0000 4300")
    #expect(sent(actions) == ["0602040041004000", "0603040043004200"] && actions.count == 2)
  }

  @Test func sizesBelowTheLeastCostAllChannels() throws {
    var machine = SignallingMachine(role: .central)
    _ = machine.open(0x27, enhanced: 2, Self.own, at: .zero)
    let actions = try receive(&machine, "18 01 0c00 3f00 4000 0300 0000 4100 4200")
    #expect(sent(actions) == ["0602040041004000", "0603040042004100"])
    #expect(actions.contains(.refused(0x40, .result(0x000C))) && actions.contains(.refused(0x41, .result(0x000C))))
  }

  @Test func aNumberThatIsGivenTwiceCostsBothChannels() throws {
    var machine = SignallingMachine(role: .central)
    _ = machine.open(0x27, enhanced: 2, Self.own, at: .zero)
    #expect(
      try receive(&machine, "18 01 0c00 c800 4000 0300 0000 4100 4100") == [
        .opened(0x40, end(0x41)), .send(SignallingPacket(code: 0x06, identifier: 2, words: [0x41, 0x40])),
        .closed(0x40),
        .refused(0x41, .result(0x000A)),
      ])
    // A channel that is being closed has its number still.
    _ = machine.open(0x27, enhanced: 1, Self.own, at: .zero)
    #expect(
      try receive(&machine, "18 03 0a00 c800 4000 0300 0000 4100") == [.refused(0x41, .result(0x000A))])
  }
}
