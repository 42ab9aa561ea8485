import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Events were lost, or another owner left the controller in some state.
@Suite("A controller in an uncertain state")
struct UncertainStateTests {
  private let belt = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
  private let phone = DeviceAddress(value: 0x5011_2233_4455, kind: .random)
  private let addBelt = "1120 07 01 01f4f3f2f1f0"
  private let create = "0d20 19 6000 3000 01 01 01f4f3f2f1f0 00 0c00 2400 0000 9001 0000 0000"
  private let cancel = "0e20 00"
  private let cancelled = "3e 13 01 02 0000 00 00 000000000000 0000 0000 0000 00"
  private let up = LinkParameters(0x24, 0, 0x190)
  private let unknown = HCIStatus(.unknownConnectionIdentifier)

  /// The belt is waited for.
  private func creating() throws -> RadioScript<LegacyFamily> {
    var script = RadioScript<LegacyFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try script.command("1020 00")
    try script.command(addBelt)
    try script.started(create)
    return script
  }

  /// The belt is connected.
  private func connected() throws -> RadioScript<LegacyFamily> {
    var script = try creating()
    try script.hear("3e 13 01 00 4000 00 01 01f4f3f2f1f0 2400 0000 9001 00")
    script.give(.attached(belt))
    try script.command("1020 00")
    script.expectTold(.linkUp(handle: 0x40, .central, belt, up), .attach(handle: 0x40, belt, attempts: 1))
    return script
  }

  @Test("What another owner left on is switched off; a connect that is not going on costs one command")
  func leftovers() throws {
    var script = RadioScript<ExtendedFamily>()
    script.give(.doubt)
    try script.command(cancel, status: 0x0C)
    try script.command("3920 02 00 00", status: 0x0C)
    try script.command("4220 06 00 00 0000 0000", status: 0x0C)
    script.silent()
    script.expectTold()
    script.wait(.seconds(60))
    script.silent()
  }

  @Test("Scan and advertisements go on, and nothing is told of that")
  func activities() throws {
    var targets = RadioTargets(scan: ScanParameters())
    targets.advertising[AdvertisingSetID(1)] = AdvertisingParameters(isConnectable: true, data: [2, 1, 6])
    var script = RadioScript<LegacyFamily>(targets: targets)
    script.give(.tick)
    for _ in 0..<6 { try script.answer() }
    script.silent()
    _ = script.takeTold()
    script.give(.doubt)
    try script.command(cancel, status: 0x0C)
    try script.command("0a20 01 00")
    try script.command("0a20 01 01")
    try script.command("0c20 02 00 00")
    try script.command("0b20 07 01 6000 3000 00 00")
    try script.command("0c20 02 01 00")
    script.silent()
    script.expectTold()
  }

  @Test("A connect whose end is not known is cancelled and begun again")
  func connect() throws {
    var script = try creating()
    script.give(.doubt)
    try script.command(cancel)
    try script.hear(cancelled)
    try script.command("0a20 01 00")
    try script.command("1020 00")
    try script.command(addBelt)
    try script.started(create)
    try script.command("0c20 02 00 00")
    script.silent()
    script.expectTold()
  }

  @Test("A link that came up unheard is attached, in the role that the kernel says")
  func unheardLink() throws {
    var script = try creating()
    script.give(.doubt)
    try script.unanswered(cancel)
    script.give(.links([ExistingLink(handle: 0x41, role: .central, peer: belt)]))
    script.expectTold(.linkUp(handle: 0x41, .central, belt, nil), .attach(handle: 0x41, belt, attempts: 1))
    script.give(.attached(belt))
    script.give(
      .links([
        ExistingLink(handle: 0x41, role: .central, peer: belt),
        ExistingLink(handle: 0x42, role: .peripheral, peer: phone),
      ]))
    script.expectTold(.linkUp(handle: 0x42, .peripheral, phone, nil))
  }

  @Test("A link that ended unheard is down; one that came up since then is not")
  func unheardEnd() throws {
    var script = try connected()
    script.give(.links([]))
    script.expectTold()
    script.give(.doubt)
    try script.hear("3e 13 01 00 4200 01 01 554433221150 2400 0000 9001 00")
    script.expectTold(.linkUp(handle: 0x42, .peripheral, phone, up))
    script.give(.links([]))
    script.expectTold(.linkDown(handle: 0x40, unknown))
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(cancel, status: 0x0C)
    try script.command("1020 00")
    try script.command(addBelt)
    try script.started(create)
  }

  @Test("The handle of a link that ended unheard has another link now")
  func handleUsedAgain() throws {
    var script = try connected()
    script.give(.doubt)
    script.give(.links([ExistingLink(handle: 0x40, role: .peripheral, peer: phone)]))
    script.expectTold(.linkDown(handle: 0x40, unknown), .linkUp(handle: 0x40, .peripheral, phone, nil))
  }

  @Test("A device that came under a private address is known to the kernel under another")
  func privateAddress() throws {
    var script = RadioScript<LegacyFamily>()
    try script.hear("3e 13 01 00 4200 01 01 554433221150 2400 0000 9001 00")
    script.expectTold(.linkUp(handle: 0x42, .peripheral, phone, up))
    script.give(.doubt)
    script.give(.links([ExistingLink(handle: 0x42, role: .peripheral, peer: belt)]))
    script.expectTold()
  }

  @Test("The answer to a command may be lost: the next one does not wait long, nor for a credit")
  func lostAnswer() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.unanswered("0b20 07 01 6000 3000 00 00")
    script.give(.doubt)
    script.wait(.milliseconds(999))
    script.silent()
    script.wait(.milliseconds(1))
    try script.command("0f20 00", returns: "08")
    try script.command(cancel, status: 0x0C)

    script = RadioScript<LegacyFamily>()
    try script.hear("0e03 00 0000")
    script.give(.wantScan(ScanParameters()))
    script.silent()
    script.give(.doubt)
    try script.command(cancel, status: 0x0C)
  }

  @Test("An unanswered Create Connection may have been executed: it is cancelled before the next")
  func lostCreate() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try script.command("1020 00")
    try script.command(addBelt)
    try script.unanswered(create)
    script.wait(CommandSlot.timeout)
    try script.command("0f20 00", returns: "08")
    try script.command(cancel)
    try script.hear(cancelled)
    try script.command("1020 00")
    script.wait(.seconds(1))
    try script.command(addBelt)
    try script.started(create)
  }

  @Test("Nothing is set up at once after another program's command: a system that goes to sleep begins like that")
  func held() throws {
    var script = try connected()
    script.wait(.seconds(1))
    // The kernel's Disconnect; Disconnection Complete is masked.
    try script.hear("0f 04 00 01 0604")
    script.give(.wantScan(ScanParameters()))
    script.wait(.milliseconds(249))
    script.silent()
    // A command requested by name is not held back.
    script.give(.ask(7, CommandPacket(LEReadFilterAcceptListSize())))
    try script.command("0f20 00", returns: "08")
    script.wait(.milliseconds(1))
    try script.command("0b20 07 01 6000 3000 00 00")
  }

  @Test("The kernel stops a scan that is not its own when a link comes up: that is set up again at once")
  func notHeld() throws {
    var script = RadioScript<LegacyFamily>(targets: RadioTargets(scan: ScanParameters()))
    script.give(.tick)
    for _ in 0..<2 { try script.answer() }
    try script.hear("3e 13 01 00 4200 01 01 554433221150 2400 0000 9001 00")
    script.wait(.milliseconds(999))
    try script.hear("0e04 01 0c20 00")
    try script.command("0c20 02 00 00")
    try script.command("0b20 07 01 6000 3000 00 00")
    try script.command("0c20 02 01 00")
  }

  @Test("Once everything is to end, nothing new begins, and it ends at once")
  func quiet() throws {
    var script = RadioScript<LegacyFamily>(targets: RadioTargets(scan: ScanParameters()))
    script.give(.tick)
    for _ in 0..<2 { try script.answer() }
    script.expectTold(.scanning(true))
    try script.hear("0e04 01 0c20 00")
    script.give(.quiet)
    script.give(.connect(belt, ConnectionParameters()))
    script.give(.wantScan(ScanParameters()))
    try script.command("0c20 02 00 00")
    script.expectTold(.scanning(false), .quiet)
    script.silent()
  }
}
