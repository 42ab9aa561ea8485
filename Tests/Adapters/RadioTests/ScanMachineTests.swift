import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

struct ScanMachineTests {
  @Test(
    "A running scan is switched off before its parameters change: no command that the controller's state forbids (P3)")
  func legacyScanStartsChangesAndStops() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.command("0b20 07 01 6000 3000 00 00")
    try script.command("0c20 02 01 00")
    script.expectTold(.scanning(true))
    script.silent()

    // Parameters of a running scan cannot be set (P3): off, set, on; the gap is not reported.
    script.give(.wantScan(ScanParameters(isActive: false)))
    try script.command("0c20 02 00 00")
    try script.command("0b20 07 00 6000 3000 00 00")
    try script.command("0c20 02 01 00")
    script.expectTold()

    script.give(.wantScan(nil))
    try script.command("0c20 02 00 00")
    script.expectTold(.scanning(false))
    script.silent()
  }

  @Test("A controller with extended commands gets those only (P4)")
  func extendedScanUsesTheExtendedCommandsOnly() throws {
    var script = RadioScript<ExtendedFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.command("4120 08 00 00 01 01 6000 3000")
    try script.command("4220 06 01 00 0000 0000")
    script.expectTold(.scanning(true))
  }

  @Test func aScanThatSomebodyElseSwitchedOffComesBack() throws {
    var script = RadioScript<LegacyFamily>(targets: RadioTargets(scan: ScanParameters()))
    script.give(.tick)
    try script.command("0b20 07 01 6000 3000 00 00")
    try script.command("0c20 02 01 00")
    script.expectTold(.scanning(true))

    // The kernel's own LE Set Scan Enable was carried out.
    try script.hear("0e04 01 0c20 00")
    script.expectTold(.scanning(false))
    script.silent()
    script.wait(.milliseconds(250))
    try script.command("0c20 02 00 00")
    try script.command("0b20 07 01 6000 3000 00 00")
    try script.command("0c20 02 01 00")
    script.expectTold(.scanning(true))

    // Again at once: from now on there is a pause, so that two owners do not fight at full speed.
    try script.hear("0e04 01 0c20 00")
    script.expectTold(.scanning(false))
    script.silent()
    script.wait(.milliseconds(500))
    try script.command("0c20 02 00 00")
  }

  @Test func nobodyIsFoughtBySwitchingOff() throws {
    var script = RadioScript<LegacyFamily>(targets: RadioTargets(scan: ScanParameters()))
    script.give(.tick)
    for round in 0..<2 {
      try script.command("0b20 07 01 6000 3000 00 00")
      try script.command("0c20 02 01 00")
      try script.hear("0e04 01 0c20 00")
      script.expectTold(.scanning(true), .scanning(false))
      script.wait(.milliseconds(250))
      if round == 0 { try script.command("0c20 02 00 00") }
    }
    // The pause after the second time is for others that want to scan.
    script.silent()
    script.give(.wantScan(nil))
    try script.command("0c20 02 00 00")
  }

  @Test func theKernelsCommandsAtTheEndOfALinkAreNoDisturbance() throws {
    var script = RadioScript<LegacyFamily>(targets: RadioTargets(scan: ScanParameters()))
    script.give(.tick)
    for _ in 0..<3 {
      try script.command("0b20 07 01 6000 3000 00 00")
      try script.command("0c20 02 01 00")
      try script.hear("05 04 00 4000 13")
      try script.hear("0e04 01 0c20 00")
      try script.command("0c20 02 00 00")
      _ = script.takeTold()
    }
  }

  @Test func aRefusedScanIsTriedAgainFromAKnownState() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.command("0b20 07 01 6000 3000 00 00", status: 0x0C)
    script.silent()
    script.wait(.milliseconds(500))
    try script.command("0c20 02 00 00")
    try script.command("0b20 07 01 6000 3000 00 00")
    try script.command("0c20 02 01 00")
    script.expectTold(.scanning(true))
  }

  @Test func aResetControllerIsSetUpAgain() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.command("0b20 07 01 6000 3000 00 00")
    try script.command("0c20 02 01 00")
    try script.hear("0e04 01 030c 00")
    script.expectTold(.scanning(true), .scanning(false))
    try script.command("0b20 07 01 6000 3000 00 00")
  }

  @Test("A lost answer is followed by a question; without an answer to that the controller is broken (P24)")
  func watchdog() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.unanswered("0b20 07 01 6000 3000 00 00")
    script.wait(CommandSlot.timeout + .milliseconds(500))
    // Read Filter Accept List Size does no harm; with its answer all is well.
    try script.command("0f20 00", returns: "08")
    try script.unanswered("0c20 02 00 00")
    script.expectTold()
    script.wait(CommandSlot.timeout)
    try script.unanswered("0f20 00")
    script.expectTold()
    script.wait(CommandSlot.timeout)
    script.expectTold(.broken(.noAnswer))
  }

  @Test func noCommandWithoutCredit() throws {
    var script = RadioScript<LegacyFamily>()
    try script.hear("0e03 00 0000")
    script.give(.wantScan(ScanParameters()))
    script.silent()
    try script.hear("0e03 01 0000")
    try script.command("0b20 07 01 6000 3000 00 00")
  }

  @Test("The coded PHY shares the time with LE 1M where the controller has it, and is left out where it has not")
  func codedPHY() throws {
    var script = RadioScript<ExtendedFamily>(features: .codedPHY)
    script.give(.wantScan(ScanParameters(phys: [.le1M, .leCoded])))
    try script.command("4120 0d 00 00 05 01 6000 3000 01 6000 3000")
    try script.command("4220 06 01 00 0000 0000")
    script.expectTold(.scanning(true))
    script.give(.wantScan(ScanParameters(phys: [.leCoded])))
    try script.command("4220 06 00 00 0000 0000")
    try script.command("4120 08 00 00 04 01 6000 3000")
    try script.command("4220 06 01 00 0000 0000")
    var poor = RadioScript<ExtendedFamily>()
    poor.give(.wantScan(ScanParameters(phys: [.le1M, .leCoded])))
    try poor.command("4120 08 00 00 01 01 6000 3000")
    try poor.command("4220 06 01 00 0000 0000")
    poor.give(.wantScan(ScanParameters(phys: [.leCoded])))
    try poor.command("4220 06 00 00 0000 0000")
    poor.silent()
  }
}
