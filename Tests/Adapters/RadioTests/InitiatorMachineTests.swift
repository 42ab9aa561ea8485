import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

struct InitiatorMachineTests {
  private let belt = DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random)
  private let lamp = DeviceAddress(value: 0xF0F1_F2F3_F402, kind: .random)
  private let clear = "1020 00"
  private let addBelt = "1120 07 01 01f4f3f2f1f0", addLamp = "1120 07 01 02f4f3f2f1f0"
  private let removeBelt = "1220 07 01 01f4f3f2f1f0"
  private let create = "0d20 19 6000 3000 01 01"
  private let tail = "00 0c00 2400 0000 9001 0000 0000"
  private let up = LinkParameters(0x24, 0, 0x190)

  private func connected(_ peer: String, handle: String = "4000", status: String = "00") -> String {
    "3e 13 01 \(status) \(handle) 00 01 \(peer) 2400 0000 9001 00"
  }

  /// Two devices are waited for with one initiator.
  private func bothWanted(_ script: inout RadioScript<LegacyFamily>) throws {
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(clear)
    try script.command(addBelt)
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
    script.give(.connect(lamp, ConnectionParameters()))
    try script.command("0e20 00")
    try script.hear(connected("000000000000", handle: "0000", status: "02"))
    try script.command(addLamp)
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
    script.silent()
    script.expectTold()
  }

  @Test func severalDevicesShareTheInitiator() throws {
    var script = RadioScript<LegacyFamily>()
    try bothWanted(&script)
    // The second is received first. The other remains pending, with a list that contains it alone.
    try script.hear(connected("02f4f3f2f1f0"))
    script.expectTold(.linkUp(handle: 0x40, .central, lamp, up), .attach(handle: 0x40, lamp, attempts: 1))
    try script.command("1220 07 01 02f4f3f2f1f0")
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
    script.give(.attached(lamp))
    script.silent()
    try script.hear(connected("01f4f3f2f1f0", handle: "4100"))
    script.expectTold(.linkUp(handle: 0x41, .central, belt, up), .attach(handle: 0x41, belt, attempts: 1))
    script.give(.attached(belt))
    try script.command(clear)
    script.silent()
  }

  @Test("The quickest parameters count for all, and others are put into force at once")
  func parametersOfSeveralDevices() throws {
    var script = RadioScript<LegacyFamily>()
    try bothWanted(&script)
    let quick = ConnectionParameters(
      interval: .microseconds(7500)...(.milliseconds(15)), latency: 3, supervisionTimeout: .seconds(6))
    script.give(.connect(lamp, quick))
    try script.command("0e20 00")
    try script.hear(connected("000000000000", handle: "0000", status: "02"))
    try script.started("\(create) 01f4f3f2f1f0 00 0600 0c00 0000 5802 0000 0000")
    // An unchanged repetition has no effect.
    script.give(.connect(lamp, quick))
    script.silent()
  }

  @Test("What a link gets only once it is up does not interrupt connecting")
  func subrateOfPending() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(clear)
    try script.command(addBelt)
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
    script.give(.connect(belt, ConnectionParameters(subrate: 2...4, continuation: 1)))
    script.silent()
  }

  @Test func moreDevicesThanTheListHoldsTakeTurnsOfFiveSeconds() throws {
    var script = RadioScript<LegacyFamily>(acceptList: 1)
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(clear)
    try script.command(addBelt)
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
    script.give(.connect(lamp, ConnectionParameters()))
    script.silent()
    script.now = script.now.advanced(by: .seconds(5))
    script.give(.tick)
    try script.command("0e20 00")
    try script.hear(connected("000000000000", handle: "0000", status: "02"))
    try script.command(removeBelt)
    try script.command(addLamp)
    try script.started("\(create) 02f4f3f2f1f0 \(tail)")
    script.silent()
    script.expectTold()
  }

  @Test func aListThatAnotherProgramClearedJustBeforeTheRequestIsMadeAnew() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(clear)
    try script.command(addBelt)
    try script.unanswered("\(create) 01f4f3f2f1f0 \(tail)")
    try script.hear("0e 04 01 1020 00")
    try script.hear("0f 04 00 01 0d20")
    try script.command("0e20 00")
    try script.hear(connected("000000000000", handle: "0000", status: "02"))
    try script.command(clear)
    try script.command(addBelt)
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
    script.silent()
  }

  @Test func aPendingConnectionCanBeCancelled() throws {
    var script = RadioScript<LegacyFamily>()
    try bothWanted(&script)
    script.give(.cancelConnect(belt))
    try script.command("0e20 00")
    try script.hear(connected("000000000000", handle: "0000", status: "02"))
    try script.command(removeBelt)
    try script.started("\(create) 02f4f3f2f1f0 \(tail)")
    script.give(.cancelConnect(lamp))
    try script.command("0e20 00")
    try script.hear(connected("000000000000", handle: "0000", status: "02"))
    try script.command(clear)
    script.silent()
    script.expectTold()
  }

  @Test func aLinkThatCameDuringTheCancellationIsEnded() throws {
    var script = RadioScript<LegacyFamily>()
    try bothWanted(&script)
    script.give(.cancelConnect(belt))
    try script.unanswered("0e20 00")
    try script.hear(connected("01f4f3f2f1f0"))
    try script.hear("0e04 01 0e20 0c")
    script.expectTold(.linkUp(handle: 0x40, .central, belt, up))
    try script.started("0604 03 4000 13")
    try script.command(removeBelt)
    try script.started("\(create) 02f4f3f2f1f0 \(tail)")
  }

  @Test("Attempts that fail are repeated with a back-off and counted (P6)")
  func failuresAreRepeatedWithABackOffAndCounted() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(clear)
    try script.command(addBelt)
    for delay in [Duration.milliseconds(250), .milliseconds(500)] {
      try script.started("\(create) 01f4f3f2f1f0 \(tail)")
      // 0x3E: failed to be established (P6).
      try script.hear(connected("01f4f3f2f1f0", handle: "0000", status: "3e"))
      script.expectTold(
        .attemptFailed(belt, HCIStatus(rawValue: 0x3E).error("no connection to F0:F1:F2:F3:F4:01")))
      try script.command(clear)
      script.silent()
      script.wait(delay)
      try script.command(addBelt)
    }
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
    try script.hear(connected("01f4f3f2f1f0"))
    script.expectTold(.linkUp(handle: 0x40, .central, belt, up), .attach(handle: 0x40, belt, attempts: 3))
  }

  @Test func aLinkWithoutASocketIsAFailedAttempt() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(clear)
    try script.command(addBelt)
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
    try script.hear(connected("01f4f3f2f1f0"))
    try script.command(clear)
    let error = GAPError.connectionFailed.error("aborted")
    script.give(.command(CommandPacket(Disconnect(handle: 0x40, reason: HCIStatus(rawValue: 0x13)))))
    script.give(.attachFailed(belt, error))
    try script.started("0604 03 4000 13")
    script.expectTold(
      .linkUp(handle: 0x40, .central, belt, up), .attach(handle: 0x40, belt, attempts: 1), .attemptFailed(belt, error))
    // Not before the end of the old link.
    script.wait(.seconds(1))
    script.silent()
    try script.hear("05 04 00 4000 16")
    script.expectTold(.linkDown(handle: 0x40, HCIStatus(rawValue: 0x16)))
    try script.command(addBelt)
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
  }

  @Test("A refusal names the activity in conflict (P3)")
  func aRefusalNamesTheActivityInConflict() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantScan(ScanParameters()))
    try script.command("0b20 07 01 6000 3000 00 00")
    try script.command("0c20 02 01 00")
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(clear)
    try script.command(addBelt)
    try script.started("\(create) 01f4f3f2f1f0 \(tail)", status: 0x0C)
    guard case .attemptFailed(belt, let error)? = script.told.last else {
      Issue.record("no attempt failed")
      return
    }
    #expect(error.code == 0x0C)
    #expect(error.message.contains("while it is scanning actively"))
  }

  @Test func aDeviceThatConnectedLeavesTheListToTheNext() throws {
    var script = RadioScript<LegacyFamily>(acceptList: 1)
    script.give(.connect(belt, ConnectionParameters()))
    script.give(.connect(lamp, ConnectionParameters()))
    try script.command(clear)
    try script.command(addBelt)
    try script.started("\(create) 01f4f3f2f1f0 \(tail)")
    script.silent()
    try script.hear(connected("01f4f3f2f1f0"))
    try script.command(removeBelt)
    try script.command(addLamp)
    try script.started("\(create) 02f4f3f2f1f0 \(tail)")
  }

  @Test func extendedInitiatingUsesTheExtendedCommand() throws {
    var script = RadioScript<ExtendedFamily>()
    script.give(.connect(belt, ConnectionParameters()))
    try script.command(clear)
    try script.command(addBelt)
    try script.started("4320 1a 01 00 01 01f4f3f2f1f0 01 6000 3000 0c00 2400 0000 9001 0000 0000")
    try script.hear("3e 1f 0a 00 4000 00 01 01f4f3f2f1f0 000000000000 000000000000 2400 0000 9001 00")
    script.expectTold(.linkUp(handle: 0x40, .central, belt, up), .attach(handle: 0x40, belt, attempts: 1))
  }

  @Test("On the coded PHY a device is looked for where the controller has it, besides LE 1M")
  func initiatingOnTheCodedPHY() throws {
    let parameters = ConnectionParameters(phys: [.le1M, .leCoded])
    let one = "6000 3000 0c00 2400 0000 9001 0000 0000"
    for (features, length, phys) in [([.codedPHY], "2a", "05 \(one)"), ([], "1a", "01")]
      as [(LEFeatures, String, String)]
    {
      var script = RadioScript<ExtendedFamily>(features: features)
      script.give(.connect(belt, parameters))
      try script.command(clear)
      try script.command(addBelt)
      try script.started("4320 \(length) 01 00 01 01f4f3f2f1f0 \(phys) \(one)")
    }
  }

  @Test func quietMeansThatNothingIsLeft() throws {
    var script = RadioScript<LegacyFamily>()
    try bothWanted(&script)
    script.give(.quiet)
    try script.command("0e20 00")
    script.expectTold()
    try script.hear(connected("000000000000", handle: "0000", status: "02"))
    try script.command(clear)
    script.expectTold(.quiet)
  }

  @Test func questionsGoFirst() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.ask(5, CommandPacket(ReadRSSI(handle: 0x40))))
    script.give(.connect(belt, ConnectionParameters()))
    try script.command("0514 02 4000", returns: "4000c4")
    guard case .answered(5, let answer)? = script.told.last else {
      Issue.record("no answer")
      return
    }
    #expect(try answer.complete?.decoded(as: ReadRSSI.self).rssi == -60)
    try script.command(clear)
  }
}
