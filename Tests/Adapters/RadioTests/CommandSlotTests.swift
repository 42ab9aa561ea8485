import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

@Suite struct CommandSlotTests {
  private let prepareScan = "0b20 07 01 6000 3000 00 00"
  private let question = CommandPacket(LEReadFilterAcceptListSize())

  @Test func aControllerThatGivesNoCreditGetsTheNextCommandAllTheSame() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.unanswered(prepareScan)
    // Command Complete without a credit, and none after that.
    try script.hear("0e 04 00 0b20 00")
    script.silent()
    script.wait(CommandSlot.timeout - .milliseconds(1))
    script.silent()
    script.wait(.milliseconds(1))
    try script.command("0c20 02 01 00")
    script.expectTold(.scanning(true))
  }

  @Test func aCreditThatComesLateIsUsedAtOnce() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.unanswered(prepareScan)
    try script.hear("0e 04 00 0b20 00")
    script.wait(.seconds(4))
    try script.hear("0e 03 01 0000")
    try script.unanswered("0c20 02 01 00")
    // The deadline is that of the command.
    script.wait(.seconds(4))
    script.silent()
    try script.hear("0e 04 01 0c20 00")
    script.expectTold(.scanning(true))
  }

  @Test func aCommandForALinkThatHasEndedHoldsNoOther() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.ask(7, CommandPacket(LEReadPHY(handle: 0x0140))))
    try script.unanswered("3020 02 4001")
    script.give(.wantScan(ScanParameters()))
    try script.hear("05 04 00 4000 13")
    _ = script.takeTold()
    script.wait(.seconds(2))
    script.silent()
    try script.hear("05 04 00 4001 13")
    _ = script.takeTold()
    script.wait(.milliseconds(999))
    script.silent()
    script.expectTold()
    script.wait(.milliseconds(1))
    let failure = CommandSlot.Answer(opcode: LEReadPHY.opcode, status: HCIStatus(.unspecifiedError), complete: nil)
    script.expectTold(.answered(question: 7, failure))
    try script.command("0f20 00", returns: "08")
    try script.command(prepareScan)
  }

  @Test func aHandleThatNoLinkHasWasNotFilledIn() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.ask(7, CommandPacket(ReadRSSI(handle: 0x40))))
    try script.unanswered("0514 02 4000")
    try script.hear("0e 07 01 0514 0c ff0f 00")
    #expect(script.takeTold().count == 1)
  }

  @Test func aSetUpGoesOnWithoutCredits() {
    var machine = SetUpMachine(address: DeviceAddress(value: 1, kind: .public), faults: [])
    _ = machine.start(at: .zero)
    let features = CommandComplete {
      $0.credits = 0
      $0.opcode = LEReadLocalSupportedFeatures.opcode
      $0.returnParameters = [UInt8](repeating: 0, count: 9)
    }
    #expect(machine.handle(.commandComplete(features), at: .zero) == [])
    #expect(machine.deadline == Instant.zero.advanced(by: CommandSlot.timeout))
    #expect(
      machine.tick(at: .zero.advanced(by: CommandSlot.timeout)) == [.send(CommandPacket(ReadLocalSupportedCommands()))])
    #expect(machine.tick(at: .zero.advanced(by: CommandSlot.timeout)) == [], "the command has its own time")
  }

  @Test func questionsBeyondTheBoundAreRefused() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.ask(0, question))
    for number in 1...256 { script.give(.ask(number, question)) }
    script.expectTold()
    script.give(.ask(257, question))
    let refusal = CommandSlot.Answer(
      opcode: question.opcode, status: HCIStatus(.memoryCapacityExceeded), complete: nil, wasSent: false)
    script.expectTold(.answered(question: 257, refusal))
    // Commands without which links would be in a wrong state are accepted still.
    for _ in 0..<256 { script.give(.command(question)) }
    script.expectTold()
    script.give(.command(question))
    script.expectTold(.broken(.noExecution))
  }
}
