import Adapter
import Bluetooth
import Host
import Testing

@Suite struct SignallingMachineTests {
  private func receive(
    _ machine: inout SignallingMachine, _ payload: [UInt8], offer: ChannelOffer = .refused(0x0002)
  ) -> [SignallingMachine.Action] { machine.receive(payload, at: .zero) { _, _ in offer } }

  /// The payloads that a machine sends for one.
  private func answers(_ machine: inout SignallingMachine, _ payload: [UInt8]) -> [[UInt8]] {
    receive(&machine, payload).compactMap { if case .send(let packet) = $0 { packet.octets } else { nil } }
  }

  private static let wanted = ConnectionParameters(
    interval: .milliseconds(30)...(.milliseconds(50)), latency: 2, supervisionTimeout: .seconds(4))
  /// The parameters in a request with identifier 1: 24 and 40 units, latency 2, 400 units.
  private static let request: [UInt8] = [0x12, 1, 8, 0, 24, 0, 40, 0, 2, 0, 0x90, 0x01]

  @Test("L2CAP/LE/CPU/BV-02: a central accepts parameters") func aCentralAcceptsParameters() {
    var machine = SignallingMachine(role: .central)
    let actions = receive(&machine, Self.request)
    #expect(actions.first == .send(SignallingPacket(code: 0x13, identifier: 1, words: [0])))
    #expect(actions.dropFirst() == [.update(Self.wanted)])
  }

  @Test(arguments: [
    // An interval below the minimum, an empty one, too high a latency, a timeout that the latency exceeds.
    [5, 40, 0, 400], [40, 24, 0, 400], [24, 40, 500, 3200], [400, 400, 9, 100],
  ])
  func aCentralRefusesImpossibleParameters(_ words: [UInt16]) {
    var machine = SignallingMachine(role: .central)
    let request = SignallingPacket(code: 0x12, identifier: 7, words: words).octets
    #expect(answers(&machine, request) == [[0x13, 7, 2, 0, 1, 0]])
  }

  /// The device listens every 2 s at least: its interval times one more than its latency. In units of 1.25 ms: the
  /// request, and the longest granted interval.
  @Test(
    arguments: [
      ([24, 40, 2, 400], 40), ([3200, 3200, 0, 3200], nil), ([800, 3200, 0, 3200], 1600),
      ([1600, 1600, 0, 3200], 1600),
      ([1601, 1700, 0, 3200], nil), ([160, 400, 4, 3200], 320), ([400, 400, 4, 3200], nil),
      ([6, 12, 199, 3200], 8),
    ] as [([UInt16], Int64?)])
  func aCentralGrantsWhatLetsItBeHeard(_ words: [UInt16], _ longest: Int64?) {
    var machine = SignallingMachine(role: .central)
    machine.policy.longestInterval = .seconds(2)
    let actions = receive(&machine, SignallingPacket(code: 0x12, identifier: 1, words: words).octets)
    #expect(actions.first == .send(SignallingPacket(code: 0x13, identifier: 1, words: [longest == nil ? 1 : 0])))
    let granted = actions.compactMap { if case .update(let parameters) = $0 { parameters } else { nil } }
    #expect(granted.map(\.interval.upperBound) == (longest.map { [.microseconds($0 * 1250)] } ?? []))
    #expect(granted.allSatisfy { $0.interval.lowerBound == .microseconds(Int64(words[0]) * 1250) })
    #expect(granted.allSatisfy { $0.latency == Int(words[2]) })
  }

  /// In units of 1.25 ms: the programs' parameters, the device's request, and the granted intervals.
  @Test(
    arguments: [
      (12...24, [24, 40], 24...24), (12...24, [6, 3200], 12...24), (12...24, [14, 20], 14...20),
      (12...24, [25, 40], nil), (12...24, [6, 11], nil), (6...12, [12, 12], 12...12),
    ] as [(ClosedRange<Int64>, [UInt16], ClosedRange<Int64>?)])
  func aDeviceGetsWhatProgramsWant(_ wanted: ClosedRange<Int64>, _ words: [UInt16], _ granted: ClosedRange<Int64>?) {
    func parameters(_ units: ClosedRange<Int64>) -> ConnectionParameters {
      ConnectionParameters(
        interval: .microseconds(units.lowerBound * 1250)...(.microseconds(units.upperBound * 1250)), latency: 1,
        supervisionTimeout: .seconds(5))
    }
    var machine = SignallingMachine(role: .central)
    machine.policy = ParameterPolicy(longestInterval: .milliseconds(10), wish: parameters(wanted))
    let request = SignallingPacket(code: 0x12, identifier: 1, words: words + [2, 3200]).octets
    let actions = receive(&machine, request)
    #expect(actions.first == .send(SignallingPacket(code: 0x13, identifier: 1, words: [granted == nil ? 1 : 0])))
    #expect(actions.dropFirst().elementsEqual(granted.map { [.update(parameters($0))] } ?? []))
  }

  @Test func noRequestEndsASubrateOrAShortIntervalThatIsWanted() {
    for wish in [
      ConnectionParameters(interval: .milliseconds(30)...(.milliseconds(50)), subrate: 1...4),
      ConnectionParameters(interval: .milliseconds(1)...(.milliseconds(50))),
    ] {
      var machine = SignallingMachine(role: .central)
      machine.policy.wish = wish
      #expect(answers(&machine, Self.request) == [[0x13, 1, 2, 0, 1, 0]])
    }
  }

  @Test func aPeripheralRejectsTheRequestOfItsKind() {
    var machine = SignallingMachine(role: .peripheral)
    #expect(answers(&machine, Self.request) == [[0x01, 1, 2, 0, 0, 0]])
  }

  @Test(
    arguments: [
      // A command that LE does not have, an incomplete one, one with surplus octets, lengths that differ.
      ([0x02, 3, 0, 0], [0x01, 3, 2, 0, 0, 0]), ([0x12, 3, 8, 0, 1], [0x01, 3, 2, 0, 0, 0]),
      ([0x12, 3, 0, 0, 9], [0x01, 3, 2, 0, 0, 0]), ([0x12, 3, 2, 0, 1, 1], [0x01, 3, 2, 0, 0, 0]),
      // Channels: closing an unknown one, opening some.
      ([0x06, 4, 4, 0, 0x40, 0, 0x41, 0], [0x01, 4, 6, 0, 2, 0, 0x40, 0, 0x41, 0]),
      ([0x14, 5, 10, 0, 0x80, 0, 0x40, 0, 64, 0, 64, 0, 1, 0], [0x15, 5, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0]),
      ([0x17, 6, 10, 0, 0x27, 0, 64, 0, 64, 0, 1, 0, 0x40, 0], [0x18, 6, 10, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0]),
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
    #expect(receive(&machine, payload) == [])
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
    #expect(receive(&machine, [0x13, 2, 2, 0, 0, 0]) == [], "another identifier")
    #expect(receive(&machine, [0x13, 1, 2, 0, 0, 0]) == [.settled(.accepted)])
    #expect(machine.deadline == nil)
    _ = machine.request(Self.wanted, at: start)
    #expect(receive(&machine, [0x13, 2, 2, 0, 1, 0]) == [.settled(.refused)])
    _ = machine.request(Self.wanted, at: start)
    #expect(receive(&machine, [0x01, 3, 2, 0, 0, 0]) == [.settled(.notUnderstood)])
    _ = machine.request(Self.wanted, at: start)
    #expect(machine.tick(at: start.advanced(by: .seconds(29))) == [])
    #expect(machine.tick(at: start.advanced(by: .seconds(30))) == [.settled(.noAnswer)])
    #expect(receive(&machine, [0x13, 4, 2, 0, 0, 0]) == [], "too late")
  }

  @Test func identifiersGoRoundWithoutZero() {
    var machine = SignallingMachine(role: .peripheral)
    var last: UInt8 = 0
    for _ in 0..<256 {
      for case .send(let packet) in machine.request(Self.wanted, at: .zero) { last = packet.identifier }
      _ = receive(&machine, [0x13, last, 2, 0, 0, 0])
    }
    #expect(last == 1)
  }

  // MARK: - Channels

  private static let own = ChannelEnd(number: 0, packet: 100, piece: 50, credits: 10)
  /// The end of a device in its request or response.
  private static let end = ChannelEnd(number: 0x41, packet: 200, piece: 64, credits: 3)

  @Test func aDeviceOpensAChannelAndClosesIt() {
    var machine = SignallingMachine(role: .peripheral)
    let request: [UInt8] = [0x14, 5, 10, 0, 0x80, 0, 0x41, 0, 200, 0, 64, 0, 3, 0]
    let response = SignallingPacket(code: 0x15, identifier: 5, words: [0x40, 100, 50, 10, 0])
    #expect(
      receive(&machine, request, offer: .granted(Self.own))
        == [.send(response), .accepted(0x40, psm: 0x80, .leCreditBased, Self.end)])
    // The number is in use.
    #expect(answers(&machine, request).map { $0.suffix(2) } == [[0x0A, 0]])
    #expect(receive(&machine, [0x16, 6, 4, 0, 0x41, 0, 9, 0]) == [.credited(0x40, 9)])
    #expect(receive(&machine, [0x16, 6, 4, 0, 0x42, 0, 9, 0]) == [], "no such channel")
    #expect(receive(&machine, [0x06, 7, 4, 0, 0x40, 0, 0x42, 0]) == [], "of another channel")
    #expect(
      receive(&machine, [0x06, 7, 4, 0, 0x40, 0, 0x41, 0])
        == [.closed(0x40), .send(SignallingPacket(code: 0x07, identifier: 7, words: [0x40, 0x41]))])
    #expect(machine.deadline == nil)
  }

  @Test(
    arguments: [
      // An invalid number, and sizes that are too small.
      ([0x3F, 200, 64], 0x09), ([0x80, 200, 64], 0x09), ([0x41, 22, 64], 0x0B), ([0x41, 200, 22], 0x0B),
      ([0x41, 200, 65_534], 0x0B),
    ] as [([UInt16], UInt8)])
  func impossibleRequestsAreRefused(_ words: [UInt16], _ result: UInt8) {
    var machine = SignallingMachine(role: .peripheral)
    let request = SignallingPacket(code: 0x14, identifier: 5, words: [0x80] + words + [1])
    let actions = receive(&machine, request.octets, offer: .granted(Self.own))
    #expect(actions == [.send(SignallingPacket(code: 0x15, identifier: 5, words: [0, 0, 0, 0, UInt16(result)]))])
  }

  @Test func noMoreChannelsThanNumbers() {
    var machine = SignallingMachine(role: .peripheral)
    for number in UInt16(0x40)...0x7F {
      let request = SignallingPacket(code: 0x14, identifier: 5, words: [0x80, number, 200, 64, 1])
      #expect(receive(&machine, request.octets, offer: .granted(Self.own)).count == 2)
    }
    #expect(machine.open(0x80, Self.own, at: .zero)?.number == nil)
  }

  @Test func weOpenAChannelAndCloseIt() throws {
    var machine = SignallingMachine(role: .central)
    let opened = machine.open(0x80, Self.own, at: .zero)
    let (number, actions) = try #require(opened)
    #expect(number == 0x40)
    #expect(actions == [.send(SignallingPacket(code: 0x14, identifier: 1, words: [0x80, 0x40, 100, 50, 10]))])
    #expect(machine.deadline == Instant.zero.advanced(by: .seconds(30)))
    #expect(receive(&machine, [0x15, 2, 10, 0, 0x41, 0, 200, 0, 64, 0, 3, 0, 0, 0]) == [], "another identifier")
    #expect(receive(&machine, [0x15, 1, 10, 0, 0x41, 0, 200, 0, 64, 0, 3, 0, 0, 0]) == [.opened(0x40, Self.end)])
    #expect(machine.deadline == nil)
    #expect(
      machine.give(4, on: 0x40) == [.send(SignallingPacket(code: 0x16, identifier: 2, words: [0x40, 4]))])
    #expect(
      machine.close(0x40, at: .zero) == [.send(SignallingPacket(code: 0x06, identifier: 3, words: [0x41, 0x40]))])
    #expect(machine.close(0x40, at: .zero) == [])
    #expect(receive(&machine, [0x16, 6, 4, 0, 0x41, 0, 9, 0]) == [], "nothing is told of it any more")
    #expect(receive(&machine, [0x07, 3, 4, 0, 0x41, 0, 0x40, 0]) == [])
    #expect(machine.deadline == nil)
    #expect(machine.open(0x80, Self.own, at: .zero)?.number == 0x40)
  }

  @Test func onlyItsOwnResponseEndsARequest() throws {
    var machine = SignallingMachine(role: .central)
    _ = machine.open(0x80, Self.own, at: .zero)
    #expect(receive(&machine, [0x07, 1, 4, 0, 0x41, 0, 0x40, 0]) == [], "no answer to a request for a channel")
    let opened = SignallingPacket(code: 0x15, identifier: 1, words: [0x41, 200, 64, 3, 0]).octets
    #expect(receive(&machine, opened) == [.opened(0x40, Self.end)])
    #expect(machine.close(0x40, at: .zero).count == 1)
    #expect(receive(&machine, SignallingPacket(code: 0x15, identifier: 2, words: [0x42, 200, 64, 3, 0]).octets) == [])
    let others: [[UInt8]] = [
      [0x07, 2, 4, 0, 0x42, 0, 0x40, 0], [0x07, 2, 4, 0, 0x41, 0, 0x43, 0], [0x07, 3, 4, 0, 0x41, 0, 0x40, 0],
    ]
    for other in others {
      #expect(receive(&machine, other) == [])
      #expect(machine.deadline != nil, "other ends, another identifier")
    }
    #expect(receive(&machine, [0x07, 2, 4, 0, 0x41, 0, 0x40, 0]) == [])
    #expect(machine.deadline == nil)
    // A device that no longer knows the channel rejects the request.
    _ = machine.open(0x80, Self.own, at: .zero)
    _ = receive(&machine, SignallingPacket(code: 0x15, identifier: 3, words: [0x41, 200, 64, 3, 0]).octets)
    _ = machine.close(0x40, at: .zero)
    #expect(receive(&machine, [0x01, 4, 6, 0, 2, 0, 0x41, 0, 0x40, 0]) == [])
    #expect(machine.deadline == nil)
  }

  @Test func bothSidesCloseAChannelAtOnce() {
    var machine = SignallingMachine(role: .central)
    _ = machine.open(0x80, Self.own, at: .zero)
    _ = receive(&machine, SignallingPacket(code: 0x15, identifier: 1, words: [0x41, 200, 64, 3, 0]).octets)
    _ = machine.close(0x40, at: .zero)
    #expect(receive(&machine, [0x06, 7, 4, 0, 0x40, 0, 0x42, 0]) == [], "of another channel")
    #expect(
      receive(&machine, [0x06, 7, 4, 0, 0x40, 0, 0x41, 0])
        == [.send(SignallingPacket(code: 0x07, identifier: 7, words: [0x40, 0x41]))])
    #expect(machine.deadline == nil)
    #expect(receive(&machine, [0x07, 2, 4, 0, 0x41, 0, 0x40, 0]) == [])
    #expect(machine.open(0x80, Self.own, at: .zero)?.number == 0x40)
  }

  @Test func aDeviceRefusesAChannel() throws {
    var machine = SignallingMachine(role: .central)
    _ = machine.open(0x80, Self.own, at: .zero)
    #expect(
      receive(&machine, [0x15, 1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0]) == [.refused(0x40, .result(0x0005))])
    _ = machine.open(0x80, Self.own, at: .zero)
    #expect(receive(&machine, [0x01, 2, 2, 0, 0, 0]) == [.refused(0x40, .notUnderstood)])
    _ = machine.open(0x80, Self.own, at: .zero)
    #expect(machine.tick(at: .zero.advanced(by: .seconds(30))) == [.refused(0x40, .noAnswer)])
    // Sizes that are too small: the channel is closed.
    _ = machine.open(0x80, Self.own, at: .zero)
    #expect(
      receive(&machine, [0x15, 4, 10, 0, 0x41, 0, 22, 0, 64, 0, 3, 0, 0, 0]) == [
        .send(SignallingPacket(code: 0x06, identifier: 5, words: [0x41, 0x41])), .refused(0x41, .result(0x000B)),
      ])
  }

  // MARK: - Late responses

  /// A request without a response in time; its number may be open at the device.
  private func late() -> SignallingMachine {
    var machine = SignallingMachine(role: .central)
    _ = machine.open(0x80, Self.own, at: .zero)
    #expect(machine.tick(at: .zero.advanced(by: .seconds(30))) == [.refused(0x40, .noAnswer)])
    #expect(machine.tick(at: .zero.advanced(by: .seconds(30))) == [], "once")
    return machine
  }

  @Test func aChannelThatIsGrantedTooLateIsClosed() {
    var machine = late()
    #expect(machine.open(0x80, Self.own, at: .zero)?.number == 0x41)
    #expect(
      receive(&machine, SignallingPacket(code: 0x15, identifier: 1, words: [0x41, 200, 64, 3, 0]).octets)
        == [.send(SignallingPacket(code: 0x06, identifier: 3, words: [0x41, 0x40]))])
    #expect(receive(&machine, [0x07, 3, 4, 0, 0x41, 0, 0x40, 0]) == [])
    #expect(
      receive(&machine, SignallingPacket(code: 0x15, identifier: 1, words: [0x41, 200, 64, 3, 0]).octets) == [])
    #expect(machine.open(0x80, Self.own, at: .zero)?.number == 0x40)
  }

  @Test(
    arguments: [
      // Refused, rejected, without a number.
      [0x15, 1, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0], [0x01, 1, 2, 0, 0, 0],
      [0x15, 1, 10, 0, 0, 0, 200, 0, 64, 0, 3, 0, 0, 0],
    ] as [[UInt8]])
  func aChannelThatIsRefusedTooLateIsNotToldAgain(_ response: [UInt8]) {
    var machine = late()
    #expect(receive(&machine, response) == [])
    #expect(machine.deadline == nil && machine.open(0x80, Self.own, at: .zero)?.number == 0x40)
  }

  @Test func aLateResponseIsAwaitedForFiveMinutesAndWhileThereAreNumbers() {
    var machine = late()
    let limit = Instant.zero.advanced(by: .seconds(300))
    #expect(machine.deadline == limit && machine.tick(at: limit) == [] && machine.deadline == nil)
    #expect(machine.open(0x80, Self.own, at: .zero)?.number == 0x40)
    for _ in 1..<64 { _ = machine.open(0x80, Self.own, at: .zero.advanced(by: .seconds(1))) }
    #expect(machine.open(0x80, Self.own, at: .zero)?.number == nil)
    #expect(machine.tick(at: .zero.advanced(by: .seconds(31))).count == 64)
    #expect(machine.open(0x80, Self.own, at: limit)?.number == 0x40, "the oldest")
    #expect(machine.open(0x80, Self.own, at: limit)?.number != 0x40)
    // The earlier response for it has no number.
    #expect(
      receive(&machine, SignallingPacket(code: 0x15, identifier: 2, words: [0x41, 200, 64, 3, 0]).octets) == [])
  }
}
