import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

@Suite("The radio pauses for another address")
struct RadioPauseTests {
  private let private1 = DeviceAddress(value: 0x5F11_2233_4455, kind: .random)

  @Test("Scan and advertisement end, and go on under the next address")
  func rotation() throws {
    var targets = RadioTargets(scan: ScanParameters())
    targets.advertising[AdvertisingSetID(1)] = AdvertisingParameters(isConnectable: true, data: [2, 1, 6])
    var script = RadioScript<LegacyFamily>(address: DeviceAddress(value: 0xAA01_0000, kind: .public), targets: targets)
    script.give(.tick)
    while script.isAsked { try script.answer() }
    script.give(.pause)
    try script.command("0a20 01 00")
    try script.command("0c20 02 00 00")
    #expect(script.takeTold().last == .quiet)
    script.give(.command(CommandPacket(LESetRandomAddress { $0.address = private1.value })))
    script.give(.resume(private1, targets))
    try script.command("0520 06 5544332211 5f")
    // The controller's activities are not known if they did not end in time.
    try script.command("0e20 00", status: 0x0C)
    try script.command("0a20 01 00")
    // The type of our own address is random.
    try script.command("0620 0f a000 a000 00 01 00 000000000000 07 00")
    try script.command("0820 20 03 020106" + String(repeating: "00", count: 28))
    try script.command("0920 20 00" + String(repeating: "00", count: 31))
    try script.command("0a20 01 01")
    try script.command("0c20 02 00 00")
    try script.command("0b20 07 01 6000 3000 01 00")
    #expect(!script.takeTold().contains(.resumed))
    try script.command("0c20 02 01 00")
    script.silent()
    // That the scan is on holds since before the pause.
    script.expectTold(.resumed)
  }

  @Test(
    "A link that comes up during the pause is attached, and belongs to its request afterwards",
    arguments: [true, false])
  func linkDuringThePause(_ isCancelled: Bool) throws {
    let belt = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
    let addBelt = "1120 07 01 01f4f3f2f1f0"
    var targets = RadioTargets()
    targets.connects[belt] = ConnectionParameters()
    var script = RadioScript<LegacyFamily>(isExclusive: true, targets: targets)
    script.give(.tick)
    try script.command("1020 00")
    try script.command(addBelt)
    try script.started("0d20 19 6000 3000 01 01 01f4f3f2f1f0 00 0c00 2400 0000 9001 0000 0000")
    script.give(.pause)
    try script.command("0e20 00")
    try script.hear("3e 13 01 00 4000 00 01 01f4f3f2f1f0 2400 0000 9001 00")
    let up = LinkParameters(0x24, 0, 0x190)
    script.expectTold(.linkUp(handle: 0x40, .central, belt, up), .attach(handle: 0x40, belt, attempts: 1))
    try script.command("1020 00")
    script.expectTold(.quiet)
    script.give(.resume(private1, targets))
    try script.command("0e20 00", status: 0x0C)
    try script.command("0a20 01 00")
    try script.command("0c20 02 00 00")
    script.silent()
    script.expectTold(.resumed)
    if isCancelled {
      script.give(.cancelConnect(belt))
      try script.started("0604 03 4000 13")
      return script.silent()
    }
    try script.hear("05 04 00 4000 3e")
    let error = HCIStatus(.connectionFailedToBeEstablished).error()
    script.give(.attachFailed(belt, error))
    script.expectTold(
      .linkDown(handle: 0x40, HCIStatus(.connectionFailedToBeEstablished)), .attemptFailed(belt, error))
    script.wait(.milliseconds(250))
    try script.command("1020 00")
    try script.command(addBelt)
    try script.started("0d20 19 6000 3000 01 01 01f4f3f2f1f0 01 0c00 2400 0000 9001 0000 0000")
  }

  @Test("A device that is not reached during the pause is waited for again after it")
  func pauseWithoutLink() throws {
    let belt = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
    var targets = RadioTargets()
    targets.connects[belt] = ConnectionParameters()
    var script = RadioScript<LegacyFamily>(targets: targets)
    script.give(.tick)
    for _ in 0..<3 { try script.answer() }
    script.give(.pause)
    try script.command("0e20 00")
    try script.hear("3e 13 01 02 0000 00 00 000000000000 0000 0000 0000 00")
    try script.command("1020 00")
    script.expectTold(.quiet)
    // Waiting is not reported, and nothing happens meanwhile.
    script.wait(.seconds(11))
    script.silent()
    script.expectTold()
    script.give(.resume(private1, targets))
    try script.command("0e20 00", status: 0x0C)
    try script.command("1020 00")
    try script.command("1120 07 01 01f4f3f2f1f0")
    try script.started("0d20 19 6000 3000 01 01 01f4f3f2f1f0 01 0c00 2400 0000 9001 0000 0000")
  }

  @Test("What was told before the pause holds on: an advertisement that links hold back is not withdrawn")
  func heldBack() throws {
    let set = AdvertisingSetID(1)
    var targets = RadioTargets()
    targets.advertising[set] = AdvertisingParameters(isConnectable: true, data: [2, 1, 6])
    var script = RadioScript<LegacyFamily>(targets: targets)
    script.give(.tick)
    while script.isAsked { try script.answer() }
    #expect(script.takeTold() == [.advertising(set, .on(interval: .milliseconds(100)))])
    script.give(.pause)
    while script.isAsked { try script.answer() }
    #expect(script.takeTold() == [.advertising(set, .off), .quiet])
    script.give(.resume(private1, targets))
    try script.command("0e20 00", status: 0x0C)
    // Refused again and again, as beside a link: it was on the air, so it has not failed.
    for _ in 0..<60 {
      while script.isAsked { try script.refuse(0x0C) }
      script.wait(.milliseconds(500))
    }
    #expect(!script.takeTold().contains { if case .advertising(_, .failed) = $0 { true } else { false } })
  }
}
