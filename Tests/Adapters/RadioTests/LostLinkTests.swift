import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Links with an end that the controller does not report.
struct LostLinkTests {
  private let belt = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
  private let lamp = DeviceAddress(value: 0xF0F1_F2F3_F402, kind: .random)
  private let addBelt = "1120 07 01 01f4f3f2f1f0"
  private let create = "0d20 19 6000 3000 01 01 01f4f3f2f1f0 00 0c00 2400 0000 9001 0000 0000"
  private let disconnect = "0604 03 4000 13"
  private let up = LinkParameters(0x24, 0, 0x190)

  /// The belt is connected, and its link is being disconnected.
  private func disconnecting() throws -> RadioScript<LegacyFamily> {
    var script = RadioScript<LegacyFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try script.command("1020 00")
    try script.command(addBelt)
    try script.started(create)
    try script.hear("3e 13 01 00 4000 00 01 01f4f3f2f1f0 2400 0000 9001 00")
    script.give(.attached(belt))
    try script.command("1020 00")
    script.expectTold(.linkUp(handle: 0x40, .central, belt, up), .attach(handle: 0x40, belt, attempts: 1))
    script.give(.command(CommandPacket(Disconnect(handle: 0x40, reason: HCIStatus(rawValue: 0x13)))))
    script.give(.connect(belt, ConnectionParameters()))
    return script
  }

  @Test func aLinkThatTheControllerDoesNotKnowIsDown() throws {
    var script = try disconnecting()
    try script.started(disconnect, status: 0x02)
    script.expectTold(.linkDown(handle: 0x40, HCIStatus(.unknownConnectionIdentifier)))
    try script.command(addBelt)
    try script.started(create)
  }

  @Test func aLinkWithoutDisconnectionCompleteIsGivenUp() throws {
    var script = try disconnecting()
    try script.started(disconnect)
    script.wait(.milliseconds(4999))
    script.silent()
    script.expectTold()
    script.wait(.milliseconds(1))
    script.expectTold(.linkDown(handle: 0x40, HCIStatus(.unknownConnectionIdentifier)))
    // Repeated, so that the controller notifies the kernel if it lost the link.
    try script.started(disconnect, status: 0x02)
    try script.command(addBelt)
    try script.started(create)
    script.expectTold()
  }

  /// The controller ends such a link at its supervision timeout, and keeps its data until then.
  @Test(arguments: [
    // Connection Update Complete, and Subrate Change: 32 s, as the first parameters have 4 s.
    "3e 0a 03 00 4000 2400 0000 800c", "3e 0c 23 00 4000 0100 0000 0000 800c",
  ])
  func aLinkIsNotGivenUpBeforeItsSupervisionTimeout(_ update: String) throws {
    var script = try disconnecting()
    try script.hear(update)
    _ = script.takeTold()
    try script.started(disconnect)
    script.wait(.milliseconds(32_999))
    script.silent()
    script.expectTold()
    script.wait(.milliseconds(1))
    script.expectTold(.linkDown(handle: 0x40, HCIStatus(.unknownConnectionIdentifier)))
  }

  @Test func aLinkThatEndsInTimeIsNotDisconnectedAgain() throws {
    var script = try disconnecting()
    try script.started(disconnect)
    try script.hear("05 04 00 4000 16")
    script.expectTold(.linkDown(handle: 0x40, HCIStatus(.terminatedByLocalHost)))
    try script.command(addBelt)
    try script.started(create)
    script.wait(.seconds(10))
    script.silent()
    script.expectTold()
  }

  @Test func aHandleThatIsUsedAgainEndsTheLinkThatHadIt() throws {
    var script = try disconnecting()
    try script.started(disconnect)
    try script.hear("3e 13 01 00 4000 01 01 02f4f3f2f1f0 2400 0000 9001 00")
    script.expectTold(
      .linkDown(handle: 0x40, HCIStatus(.unknownConnectionIdentifier)), .linkUp(handle: 0x40, .peripheral, lamp, up))
    try script.command(addBelt)
    try script.started(create)
  }
}
