import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Trains with subevents and responses, as commands and events (Core 5.4, Vol 4, Part E, 7.8.61, 7.8.125, 7.7.65.36 and
/// 7.7.65.37).
struct SubeventTests {
  private let set = AdvertisingSetID(1)

  /// A train of four subevents is on the air.
  private func running() throws -> RadioScript<ExtendedFamily> {
    var script = RadioScript<ExtendedFamily>(sets: 4, features: [.periodicAdvertising, .periodicResponsesAdvertiser])
    script.give(.wantAdvertising(set, parameters()))
    try script.answer()
    try script.answer()
    // 100 ms, four subevents of 25 ms, the first slot after 5 ms, 6 slots of 2.5 ms.
    try script.command("8620 0c 00 5000 5000 0000 04 14 04 14 06", returns: "00")
    try script.command("3920 06 01 01 00 0000 00")
    try script.command("4020 02 01 00")
    script.silent()
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
    return script
  }

  private func parameters() -> AdvertisingParameters {
    var parameters = AdvertisingParameters(kind: .nonconnectable, data: [])
    parameters.isExtended = true
    parameters.periodic = PeriodicAdvertising(interval: .milliseconds(100), data: [])
    parameters.periodic?.responses = ResponseSlots(
      subevents: 4, subeventInterval: .milliseconds(25), delay: .milliseconds(5), spacing: .microseconds(2500),
      count: 6)
    return parameters
  }

  private func data(_ subevent: UInt8, _ octets: UInt8...) -> SubeventData {
    SubeventData(subevent: subevent, data: octets, firstSlot: 1, slots: 5)
  }

  private func answer(_ number: Int, _ code: HCIErrorCode) -> RadioAction {
    .answered(question: number, CommandSlot.Answer(opcode: .none, status: HCIStatus(code), complete: nil))
  }

  @Test("Data is sent once, when the controller asks for its subevent, also behind the last one")
  func requests() throws {
    var script = try running()
    script.give(.setSubevent(1, data(0, 7, 8), set))
    script.give(.setSubevent(2, data(2, 9), set))
    script.silent()
    try script.hear("3e 04 27 00 00 02")
    try script.command("8220 08 00 01 00 01 05 02 0708", returns: "00")
    guard case .answered(question: 1, let first)? = script.takeTold().first else {
      Issue.record("not answered")
      return
    }
    #expect(first.status.isSuccess)
    script.silent()
    try script.hear("3e 04 27 00 03 04")
    try script.command("8220 07 00 01 02 01 05 01 09", returns: "00")
    _ = script.takeTold()
    try script.hear("3e 04 27 00 00 04")
    script.silent()
    // A set that is not ours.
    try script.hear("3e 04 27 03 00 04")
    script.silent()
    script.expectTold()
  }

  @Test("Data of several subevents goes together, as many as a command has room for")
  func packing() throws {
    var script = try running()
    script.give(.setSubevent(1, data(2, 9), set))
    script.give(.setSubevent(2, data(1), set))
    script.give(.setSubevent(3, data(0, 7, 8), set))
    try script.hear("3e 04 27 00 00 04")
    try script.command("8220 11 00 03 00 01 05 02 0708 01 01 05 00 02 01 05 01 09", returns: "00")
    #expect(numbers(script.takeTold()) == [3, 2, 1])
    // Twice 124 octets, and 5 beside them, fill a command.
    for (number, octets) in [(4, 120), (5, 120), (6, 1), (7, 0)] {
      let data = SubeventData(
        subevent: UInt8(number - 4), data: [UInt8](repeating: 3, count: octets), firstSlot: 0, slots: 1)
      script.give(.setSubevent(number, data, set))
    }
    try script.hear("3e 04 27 00 00 04")
    let long = String(repeating: "03", count: 120)
    try script.command(
      "8220 ff 00 03 00 00 01 78 \(long) 01 00 01 78 \(long) 02 00 01 01 03", status: 0x0C, returns: "00")
    try script.command("8220 06 00 01 03 00 01 00", returns: "00")
    #expect(numbers(script.takeTold()) == [4, 5, 6, 7])
    script.silent()
  }

  @Test("One subevent whose time has passed does not take others along: each goes alone, once")
  func lateSubevent() throws {
    var script = try running()
    for number in 1...3 { script.give(.setSubevent(number, data(UInt8(number - 1), UInt8(number)), set)) }
    try script.hear("3e 04 27 00 00 04")
    try script.command("8220 11 00 03 00 01 05 01 01 01 01 05 01 02 02 01 05 01 03", status: 0x46, returns: "00")
    script.expectTold()
    try script.command("8220 07 00 01 00 01 05 01 01", status: 0x46, returns: "00")
    try script.command("8220 07 00 01 01 01 05 01 02", returns: "00")
    try script.command("8220 07 00 01 02 01 05 01 03", returns: "00")
    let codes = script.takeTold().compactMap { action -> HCIErrorCode? in
      if case .answered(_, let answer) = action { answer.status.code } else { nil }
    }
    #expect(codes == [.packetTooLate, .success, .success])
    script.silent()
  }

  @Test("A command has 15 subevents at most: 128 of them take 9 commands")
  func allSubevents() throws {
    var machine = SubeventMachine()
    let slots = ResponseSlots(
      subevents: 128, subeventInterval: .milliseconds(8), delay: .milliseconds(2), spacing: .milliseconds(1), count: 2)
    for subevent in UInt8(0)..<128 { _ = machine.want(data(subevent), of: set, question: Int(subevent)) }
    let request = LEPeriodicAdvertisingSubeventDataRequest {
      $0.first = 120
      $0.count = 128
    }
    let questions = machine.requested(request, by: (set, slots))
    #expect(questions.map(\.numbers.count) == [Int](repeating: 15, count: 8) + [8])
    #expect(questions.flatMap(\.numbers) == Array(120..<128) + Array(0..<120))
    #expect(machine.isIdle)
  }

  private func numbers(_ actions: [RadioAction]) -> [Int] {
    actions.compactMap { if case .answered(let number, _) = $0 { number } else { nil } }
  }

  @Test func newerDataTakesThePlaceOfData() throws {
    var script = try running()
    script.give(.setSubevent(1, data(0, 7), set))
    script.give(.setSubevent(2, data(0, 8), set))
    script.expectTold(answer(1, .operationCancelledByHost))
    try script.hear("3e 04 27 00 00 01")
    try script.command("8220 07 00 01 00 01 05 01 08", status: 0x46, returns: "00")
    guard case .answered(question: 2, let answer)? = script.takeTold().first else {
      Issue.record("not answered")
      return
    }
    #expect(answer.status.code == .packetTooLate)
  }

  @Test func dataOfATrainThatEndsIsAnswered() throws {
    var script = try running()
    script.give(.setSubevent(1, data(0, 7), set))
    script.give(.wantAdvertising(set, nil))
    while script.isAsked { try script.answer() }
    script.expectTold(answer(1, .unknownAdvertisingIdentifier), .advertising(set, .off))
    script.give(.setSubevent(2, data(0, 7), set))
    script.expectTold(answer(2, .unknownAdvertisingIdentifier))
  }

  @Test("A train without subevents has none to send")
  func plainTrain() throws {
    var script = try running()
    var plain = parameters()
    plain.periodic = PeriodicAdvertising(interval: .milliseconds(100), data: [1])
    script.give(.setSubevent(1, data(0, 7), set))
    script.give(.wantAdvertising(set, plain))
    script.expectTold(answer(1, .unknownAdvertisingIdentifier))
  }

  @Test func responsesAreToldWithTheirSlots() throws {
    var script = try running()
    try script.hear("3e 14 28 00 02 00 02 7f c4 ff 01 00 02 0102 04 c3 ff 05 02 01 03")
    script.expectTold(
      .responses(
        set,
        SubeventResponses(
          subevent: 2, wasSent: true,
          responses: [
            .init(slot: 1, data: [1, 2], rssi: -60),
            .init(slot: 5, data: [3], rssi: -61, txPower: 4, isTruncated: true),
          ])))
    // Parts arrive in order; an empty slot is nothing.
    try script.hear("3e 0d 28 00 02 00 01 7f c4 ff 01 01 02 0102")
    script.expectTold()
    try script.hear("3e 12 28 00 02 00 02 7f c4 ff 00 ff 00 7f c4 ff 01 00 01 03")
    script.expectTold(
      .responses(
        set, SubeventResponses(subevent: 2, wasSent: true, responses: [.init(slot: 1, data: [1, 2, 3], rssi: -60)])))
    try script.hear("3e 05 28 00 02 01 00")
    script.expectTold(.responses(set, SubeventResponses(subevent: 2, wasSent: false, responses: [])))
    try script.hear("3e 05 28 00 02 00 00")
    try script.hear("3e 05 28 01 02 01 00")
    script.expectTold()
  }

  @Test("Parts of an earlier event are not joined with those of a later one")
  func partsOfAnEarlierEvent() throws {
    var script = try running()
    try script.hear("3e 0d 28 00 02 00 01 7f c4 ff 01 01 02 0102")
    try script.hear("3e 04 27 00 02 01")
    try script.hear("3e 0c 28 00 02 00 01 7f c4 ff 01 00 01 03")
    script.expectTold(
      .responses(
        set, SubeventResponses(subevent: 2, wasSent: true, responses: [.init(slot: 1, data: [3], rssi: -60)])))
  }

  @Test func aControllerWithoutItRefuses() throws {
    var script = RadioScript<ExtendedFamily>(sets: 4, features: [.periodicAdvertising])
    script.give(.wantAdvertising(set, parameters()))
    script.silent()
    guard case .advertising(set, .failed(let error))? = script.takeTold().first else {
      Issue.record("not told")
      return
    }
    #expect(error.code == GAPError.notSupported.rawValue)
  }
}
