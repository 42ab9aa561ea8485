import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Links that are not wanted, or that a controller cannot have: depending on whether another program may use the
/// controller.
struct RefusedLinkTests {
  private let belt = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
  private let up = LinkParameters(0x24, 0, 0x190)

  private func connected(_ handle: UInt16, role: String = "00", type: String = "01") -> String {
    let octets = Hex.encode([UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8)])
    return "3e 13 01 00 \(octets) \(role) \(type) 01f4f3f2f1f0 2400 0000 9001 00"
  }

  @Test(arguments: [true, false])
  func aLinkLongAfterTheCancellationIsNotOurs(_ isExclusive: Bool) throws {
    var script = RadioScript<LegacyFamily>(isExclusive: isExclusive)
    script.give(.connect(belt, ConnectionParameters()))
    try script.command("1020 00")
    try script.command("1120 07 01 01f4f3f2f1f0")
    try script.started("0d20 19 6000 3000 01 01 01f4f3f2f1f0 00 0c00 2400 0000 9001 0000 0000")
    script.give(.cancelConnect(belt))
    try script.command("0e20 00")
    script.wait(.seconds(2))
    try script.command("1020 00")
    try script.hear(connected(0x40))
    script.expectTold(.linkUp(handle: 0x40, .central, belt, up))
    if isExclusive { try script.started("0604 03 4000 13") }
    script.silent()
  }

  @Test(arguments: ["00", "01"], [true, false])
  func aLinkToNoDeviceIsEnded(_ role: String, _ isExclusive: Bool) throws {
    var script = RadioScript<LegacyFamily>(isExclusive: isExclusive)
    try script.hear(connected(0x40, role: role, type: "fe"))
    script.expectTold(.linkUp(handle: 0x40, role == "00" ? .central : .peripheral, nil, up))
    if isExclusive { try script.started("0604 03 4000 13") }
    script.silent()
  }

  @Test(arguments: [true, false])
  func noLinkHasAHandleAboveTheLast(_ isExclusive: Bool) throws {
    var script = RadioScript<LegacyFamily>(isExclusive: isExclusive)
    try script.hear(connected(0x0EFF, role: "01"))
    script.expectTold(.linkUp(handle: 0x0EFF, .peripheral, belt, up))
    for handle: UInt16 in [0x0F00, 0xFFFF] {
      try script.hear(connected(handle))
      if isExclusive { script.expectTold(.broken(.invalidHandle(handle))) } else { script.expectTold() }
    }
  }

  @Test(arguments: [true, false])
  func noControllerHasMoreThan256Links(_ isExclusive: Bool) throws {
    var script = RadioScript<LegacyFamily>(isExclusive: isExclusive)
    for handle: UInt16 in 0..<256 { try script.hear(connected(handle, role: "01")) }
    #expect(script.takeTold().count == 256)
    try script.hear(connected(256, role: "01"))
    if isExclusive { script.expectTold(.broken(.tooManyLinks)) } else { script.expectTold() }
    // One replaces another, and one is free.
    try script.hear(connected(255, role: "01"))
    #expect(script.takeTold().count == 2)
    try script.hear("05 04 00 0000 13")
    try script.hear(connected(256, role: "01"))
    #expect(script.takeTold().count == 2)
  }

  /// Another program may reset a controller that it shares with us.
  @Test(arguments: [true, false])
  func aControllerThatNobodyResetHasFailed(_ isExclusive: Bool) throws {
    var script = RadioScript<LegacyFamily>(isExclusive: isExclusive)
    try script.hear("0e 04 01 030c 00")
    if isExclusive { script.expectTold(.broken(.unexpectedReset)) } else { script.expectTold() }
  }
}
