import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Answers to commands that were given up, or repeated answers: if another program uses the controller they may be its
/// own.
struct LateAnswerTests {
  private let belt = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)

  @Test(arguments: [true, false])
  func onlyAnotherProgramChangesAnything(_ isExclusive: Bool) throws {
    var targets = RadioTargets(scan: ScanParameters())
    targets.advertising[AdvertisingSetID(1)] = AdvertisingParameters(data: [2, 1, 6])
    targets.connects[belt] = ConnectionParameters()
    var script = RadioScript<LegacyFamily>(isExclusive: isExclusive, targets: targets)
    script.give(.tick)
    while script.isAsked { try script.answer() }
    script.wait(.seconds(2))
    _ = script.takeTold()
    let opcodes = script.opcodes
    // LE Set Advertising Enable, LE Set Scan Enable, LE Clear Filter Accept List.
    for opcode in ["0a20", "0c20", "1020"] { try script.hear("0e 04 01 \(opcode) 00") }
    script.wait(.seconds(2))
    while script.isAsked { try script.answer() }
    #expect((script.opcodes == opcodes) == isExclusive)
    #expect(script.takeTold().isEmpty == isExclusive)
  }

  @Test func aCommandWhoseAnswerIsLateDisturbsNoOtherAdvertisement() throws {
    let (first, second) = (AdvertisingSetID(1), AdvertisingSetID(2))
    var script = RadioScript<ExtendedFamily>(sets: 2, isExclusive: true)
    script.give(.wantAdvertising(first, AdvertisingParameters(data: [2, 1, 6])))
    while script.isAsked { try script.answer() }
    script.expectTold(.advertising(first, .on(interval: .milliseconds(100))))
    script.give(.wantAdvertising(second, AdvertisingParameters(isConnectable: false, data: [2, 1, 6])))
    for _ in 0..<2 { try script.answer() }
    try script.unanswered("3920 06 01 01 01 0000 00")
    script.wait(.seconds(5))
    // The harmless question.
    try script.unanswered("0f20 00")
    try script.hear("0e 04 01 3920 00")
    try script.hear("0e 05 01 0f20 00 08")
    script.wait(.seconds(2))
    while script.isAsked { try script.answer() }
    let failure = HCIStatus(.unspecifiedError).error("the advertisement could not be set up")
    script.expectTold(
      .advertising(second, .failed(failure)), .advertising(second, .on(interval: .milliseconds(100))))
  }

  /// The answer to a command that was given up, or to another program's, about another link.
  @Test func anAnswerAboutAnotherLinkIsNoAnswer() {
    func complete(_ octets: [UInt8]) -> HCIEvent {
      .commandComplete(
        CommandComplete {
          ($0.credits, $0.opcode) = (1, ReadRSSI.opcode)
          $0.returnParameters = octets
        })
    }
    func answers(_ octets: [UInt8]) -> Bool {
      var slot = CommandSlot()
      slot.send(CommandPacket(ReadRSSI(handle: 0x0141)), at: .zero)
      guard case .ours = slot.receive(complete(octets), at: .zero) else {
        #expect(slot.outstanding == ReadRSSI.opcode && slot.deadline != nil)
        return false
      }
      return true
    }
    #expect(answers([0, 0x41, 0x01, 0xC4]))
    #expect(!answers([0, 0x40, 0x01, 0xC4]) && !answers([0x02, 0x40, 0x01, 0]))
    // Flags beside the handle, a handle that was not filled in, and a failure that names none.
    #expect(answers([0, 0x41, 0x21, 0xC4]) && answers([0x02, 0, 0, 0]) && answers([0x01]))
  }
}
