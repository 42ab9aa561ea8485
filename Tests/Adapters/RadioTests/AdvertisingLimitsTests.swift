import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Advertisements that the controller, or the kernel above it, does not accept as requested.
struct AdvertisingLimitsTests {
  private let set = AdvertisingSetID(1)

  private func start(_ interval: String, type: String, _ script: inout RadioScript<LegacyFamily>) throws {
    try script.command("0620 0f \(interval) \(interval) \(type) 00 00 000000000000 07 00")
    for _ in 0..<2 { try script.answer() }
    try script.command("0a20 01 01")
  }

  @Test("Advertising faster than a controller before 5.0 can without connections is slowed down, and that is told")
  func tooFast() throws {
    var script = RadioScript<LegacyFamily>()
    let fast = AdvertisingParameters(isConnectable: false, interval: .milliseconds(20), data: [2, 1, 6])
    script.give(.wantAdvertising(set, fast))
    try script.command("0620 0f 2000 2000 03 00 00 000000000000 07 00", status: 0x12)
    try start("a000", type: "03", &script)
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
    // The limit is known from then on; connectable advertisements are not concerned.
    script.give(.wantAdvertising(set, nil))
    try script.command("0a20 01 00")
    script.expectTold(.advertising(set, .off))
    let scannable = AdvertisingParameters(
      isConnectable: false, interval: .milliseconds(50), data: [2, 1, 6], scanResponse: [2, 0x0A, 0])
    script.give(.wantAdvertising(AdvertisingSetID(2), scannable))
    try start("a000", type: "02", &script)
    script.expectTold(.advertising(AdvertisingSetID(2), .on(interval: .milliseconds(100))))
    script.give(.wantAdvertising(AdvertisingSetID(2), nil))
    try script.command("0a20 01 00")
    script.expectTold(.advertising(AdvertisingSetID(2), .off))
    script.give(.wantAdvertising(set, AdvertisingParameters(interval: .milliseconds(20), data: [2, 1, 6])))
    try start("2000", type: "00", &script)
    script.expectTold(.advertising(set, .on(interval: .milliseconds(20))))
  }

  @Test func aFastOneThatIsAcceptedStaysFast() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(
      .wantAdvertising(set, AdvertisingParameters(isConnectable: false, interval: .milliseconds(20), data: [2, 1, 6])))
    try start("2000", type: "03", &script)
    script.expectTold(.advertising(set, .on(interval: .milliseconds(20))))
  }

  @Test func whatIsRefusedAtTheSlowIntervalTooHasFailed() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(
      .wantAdvertising(set, AdvertisingParameters(isConnectable: false, interval: .milliseconds(20), data: [2, 1, 6])))
    try script.refuse(0x12)
    try script.refuse(0x12)
    script.silent()
    guard case .advertising(set, .failed(let error))? = script.takeTold().last else {
      Issue.record("not told")
      return
    }
    #expect(error.code == 0x12)
  }

  @Test("A refusal that may pass is not the end of a new advertisement; the third one is")
  func refusalsThatMayPass() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantAdvertising(set, AdvertisingParameters(data: [2, 1, 6])))
    for delay in [Duration.seconds(1), .seconds(2)] {
      try script.refuse(0x0C)
      script.silent()
      script.expectTold()
      script.wait(delay)
      try script.command("0a20 01 00")
    }
    try script.refuse(0x0C)
    let error = HCIStatus(.commandDisallowed).error("the advertisement could not be set up")
    script.expectTold(.advertising(set, .failed(error)))
  }

  @Test("Without a public address all advertisements take turns on the first set, whose address the kernel knows")
  func withoutPublicAddress() throws {
    var script = RadioScript<ExtendedFamily>(
      sets: 4, address: DeviceAddress(value: 0xC011_2233_4455, kind: .random))
    let other = AdvertisingSetID(2)
    script.give(.wantAdvertising(set, AdvertisingParameters(data: [2, 1, 6])))
    script.give(.wantAdvertising(other, AdvertisingParameters(data: [2, 1, 6])))
    while script.isAsked { try script.answer() }
    script.wait(.milliseconds(500))
    while script.isAsked { try script.answer() }
    #expect(script.enabledSets == [0])
    #expect(
      script.takeTold() == [
        .advertising(set, .on(interval: .milliseconds(200))), .advertising(other, .on(interval: .milliseconds(200))),
      ])
  }

  @Test("Without a kernel each has a set, also with an address of its own, and none is set up again for another")
  func withoutPublicAddressAndKernel() throws {
    var script = RadioScript<ExtendedFamily>(
      sets: 4, address: DeviceAddress(value: 0xC011_2233_4455, kind: .random), isExclusive: true)
    script.give(.wantAdvertising(set, AdvertisingParameters(data: [2, 1, 6])))
    while script.isAsked { try script.answer() }
    var own = AdvertisingParameters(data: [2, 1, 6])
    own.ownAddress = DeviceAddress(value: 0xC0AA_BBCC_DDEE, kind: .random)
    script.give(.wantAdvertising(AdvertisingSetID(2), own))
    try script.command("3620 19 03 1300 a00000 a00000 07 01 00 000000000000 00 7f 01 00 01 03 00", returns: "00")
    try script.command("3520 07 03 eeddccbbaac0")
    for _ in 0..<2 { try script.answer() }
    try script.command("3920 06 01 01 03 0000 00")
    script.silent()
    script.expectTold(
      .advertising(set, .on(interval: .milliseconds(100))),
      .advertising(AdvertisingSetID(2), .on(interval: .milliseconds(100))))
  }
}
