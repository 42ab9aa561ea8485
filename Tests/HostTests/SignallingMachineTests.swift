import Adapter
import Bluetooth
import Host
import Testing

@Suite struct SignallingMachineTests {
  /// The payloads that a machine sends for one.
  private func answers(_ machine: inout SignallingMachine, _ payload: [UInt8]) -> [[UInt8]] {
    machine.receive(payload).compactMap { if case .send(let packet) = $0 { packet.octets } else { nil } }
  }

  private static let wanted = ConnectionParameters(
    interval: .milliseconds(30)...(.milliseconds(50)), latency: 2, supervisionTimeout: .seconds(4))
  /// The same in a request with identifier 1: 24 and 40 units, latency 2, 400 units.
  private static let request: [UInt8] = [0x12, 1, 8, 0, 24, 0, 40, 0, 2, 0, 0x90, 0x01]

  @Test func aCentralAcceptsParameters() {
    var machine = SignallingMachine(role: .central)
    let actions = machine.receive(Self.request)
    #expect(actions.first == .send(SignallingPacket(code: 0x13, identifier: 1, words: [0])))
    #expect(actions.dropFirst() == [.update(Self.wanted)])
  }

  @Test(arguments: [
    // An interval below the least, one that is empty, too high a latency, a timeout that the latency exceeds.
    [5, 40, 0, 400], [40, 24, 0, 400], [24, 40, 500, 3200], [400, 400, 9, 100],
  ])
  func aCentralRefusesImpossibleParameters(_ words: [UInt16]) {
    var machine = SignallingMachine(role: .central)
    let request = SignallingPacket(code: 0x12, identifier: 7, words: words).octets
    #expect(answers(&machine, request) == [[0x13, 7, 2, 0, 1, 0]])
  }

  @Test func aPeripheralRejectsTheRequestOfItsKind() {
    var machine = SignallingMachine(role: .peripheral)
    #expect(answers(&machine, Self.request) == [[0x01, 1, 2, 0, 0, 0]])
  }

  @Test(
    arguments: [
      // A command that LE does not have, one that is not whole, one with too much behind it, lengths that differ.
      ([0x02, 3, 0, 0], [0x01, 3, 2, 0, 0, 0]), ([0x12, 3, 8, 0, 1], [0x01, 3, 2, 0, 0, 0]),
      ([0x12, 3, 0, 0, 9], [0x01, 3, 2, 0, 0, 0]), ([0x12, 3, 2, 0, 1, 1], [0x01, 3, 2, 0, 0, 0]),
      // Channels: closing one that there is not, opening some.
      ([0x06, 4, 4, 0, 0x40, 0, 0x41, 0], [0x01, 4, 6, 0, 2, 0, 0x40, 0, 0x41, 0]),
      ([0x14, 5, 10, 0, 0x80, 0, 0x40, 0, 64, 0, 64, 0, 1, 0], [0x15, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]),
      ([0x17, 6, 10, 0, 0x27, 0, 64, 0, 64, 0, 1, 0, 0x40, 0], [0x18, 6, 8, 0, 0, 0, 0, 0, 0, 0, 2, 0]),
    ] as [([UInt8], [UInt8])])
  func othersAreRefused(_ request: [UInt8], _ answer: [UInt8]) {
    var machine = SignallingMachine(role: .central)
    #expect(answers(&machine, request) == [answer])
  }

  @Test(
    arguments: [
      [], [0x12], [0x02, 0, 0, 0], [0x16, 1, 4, 0, 0x40, 0, 1, 0], [0x13, 9, 2, 0, 0, 0], [0x01, 9, 2, 0, 0, 0],
    ] as [[UInt8]])
  func someAreIgnored(_ payload: [UInt8]) {
    var machine = SignallingMachine(role: .central)
    #expect(machine.receive(payload) == [])
  }

  @Test func aFrameThatIsTooLongIsRejectedWithTheLength() {
    var machine = SignallingMachine(role: .central)
    let request = [0x12, 8, 0xFC, 0] + [UInt8](repeating: 0, count: 252)
    #expect(answers(&machine, request) == [[0x01, 8, 4, 0, 1, 0, 255, 0]])
  }

  @Test func aPeripheralAsks() {
    var machine = SignallingMachine(role: .peripheral)
    let start = Instant.zero
    #expect(
      machine.request(Self.wanted, at: start)
        == [.send(SignallingPacket(code: 0x12, identifier: 1, words: [24, 40, 2, 400]))])
    #expect(machine.request(Self.wanted, at: start) == [])
    #expect(machine.receive([0x13, 2, 2, 0, 0, 0]) == [], "another identifier")
    #expect(machine.receive([0x13, 1, 2, 0, 0, 0]) == [.settled(.accepted)])
    #expect(machine.deadline == nil)
    _ = machine.request(Self.wanted, at: start)
    #expect(machine.receive([0x13, 2, 2, 0, 1, 0]) == [.settled(.refused)])
    _ = machine.request(Self.wanted, at: start)
    #expect(machine.receive([0x01, 3, 2, 0, 0, 0]) == [.settled(.notUnderstood)])
    _ = machine.request(Self.wanted, at: start)
    #expect(machine.tick(at: start.advanced(by: .seconds(29))) == [])
    #expect(machine.tick(at: start.advanced(by: .seconds(30))) == [.settled(.noAnswer)])
    #expect(machine.receive([0x13, 4, 2, 0, 0, 0]) == [], "too late")
  }

  @Test func identifiersGoRoundWithoutZero() {
    var machine = SignallingMachine(role: .peripheral)
    var last: UInt8 = 0
    for _ in 0..<256 {
      for case .send(let packet) in machine.request(Self.wanted, at: .zero) { last = packet.identifier }
      _ = machine.receive([0x13, last, 2, 0, 0, 0])
    }
    #expect(last == 1)
  }
}
