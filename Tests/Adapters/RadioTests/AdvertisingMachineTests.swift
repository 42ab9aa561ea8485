import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

struct AdvertisingMachineTests {
  private let first = AdvertisingSetID(1), second = AdvertisingSetID(2)
  private let central = DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random)
  private let parameters = AdvertisingParameters(data: [2, 1, 6])
  private let thirtyOne = "03 020106" + String(repeating: "00", count: 28)
  private let nothing = "00" + String(repeating: "00", count: 31)

  private func startLegacy(_ script: inout RadioScript<LegacyFamily>) throws {
    try script.command("0620 0f a000 a000 00 00 00 000000000000 07 00")
    try script.command("0820 20 \(thirtyOne)")
    try script.command("0920 20 \(nothing)")
    try script.command("0a20 01 01")
  }

  private func replaceLegacy(_ script: inout RadioScript<LegacyFamily>) throws {
    try script.command("0a20 01 00")
    try startLegacy(&script)
  }

  @Test("Advertisements take turns on the one set of a legacy controller, and the real interval is told (P19)")
  func legacyRotation() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantAdvertising(first, parameters))
    try startLegacy(&script)
    script.expectTold(.advertising(first, .on(interval: .milliseconds(100))))

    // The newcomer is on the air at once if no other has a turn to finish, and each is sent half as often.
    script.give(.wantAdvertising(second, parameters))
    try replaceLegacy(&script)
    script.expectTold(
      .advertising(first, .on(interval: .milliseconds(200))), .advertising(second, .on(interval: .milliseconds(200))))
    for _ in 0..<4 {
      script.wait(.milliseconds(499))
      script.silent()
      script.wait(.milliseconds(1))
      try replaceLegacy(&script)
    }
    // Turns are not worth telling.
    script.expectTold()

    script.give(.wantAdvertising(second, nil))
    script.expectTold(.advertising(first, .on(interval: .milliseconds(100))))
    try script.command("0a20 01 00")
    try startLegacy(&script)
    script.expectTold(.advertising(second, .off))
    script.wait(.seconds(60))
    script.silent()
  }

  @Test(
    "A long interval is shortened within a turn, and what cannot be sent beside a link leaves its turn to others (P19)")
  func rotationBesideALink() throws {
    var script = RadioScript<LegacyFamily>()
    let beacon = AdvertisingParameters(isConnectable: false, interval: .seconds(2), data: [2, 1, 6])
    script.give(.wantAdvertising(first, parameters))
    try startLegacy(&script)
    script.give(.wantAdvertising(second, beacon))
    func startBeacon() throws {
      try script.command("0620 0f 9001 9001 03 00 00 000000000000 07 00")
      try script.command("0820 20 \(thirtyOne)")
      try script.command("0920 20 \(nothing)")
      try script.command("0a20 01 01")
    }
    try script.command("0a20 01 00")
    try startBeacon()
    script.expectTold(
      .advertising(first, .on(interval: .milliseconds(100))), .advertising(first, .on(interval: .milliseconds(200))),
      .advertising(second, .on(interval: .milliseconds(500))))
    script.wait(AdvertisingRotation.turn)
    try replaceLegacy(&script)
    // A central connects, and the controller does not advertise connectably beside the link.
    try script.hear("3e 13 01 00 4000 01 01 f5f4f3f2f1f0 2800 0000 2a00 00")
    try script.command("0a20 01 01", status: 0x0C)
    script.expectTold(
      .linkUp(handle: 0x40, .peripheral, central, LinkParameters(0x28, 0, 0x2A)), .advertising(first, .off))
    // The beacon has the set, until the link has ended.
    try script.command("0a20 01 00")
    try startBeacon()
    script.expectTold()
    try script.hear("05 04 00 4000 13")
    script.expectTold(.linkDown(handle: 0x40, HCIStatus(.remoteUserTerminatedConnection)))
    script.wait(AdvertisingRotation.turn)
    try replaceLegacy(&script)
    script.expectTold(.advertising(first, .on(interval: .milliseconds(200))))
  }

  @Test("Of more advertisements than extended sets the later ones share the last set (P19)")
  func extendedRotation() throws {
    var script = RadioScript<ExtendedFamily>(sets: 2)
    func start(_ handle: String) throws {
      try script.command(
        "3620 19 \(handle) 1300 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 \(handle) 00", returns: "00")
      try script.command("3720 07 \(handle) 03 01 03 020106")
      try script.command("3820 04 \(handle) 03 01 00")
      try script.command("3920 06 01 01 \(handle) 0000 00")
    }
    let third = AdvertisingSetID(3)
    script.give(.wantAdvertising(first, parameters))
    try start("00")
    script.give(.wantAdvertising(second, parameters))
    try start("01")
    _ = script.takeTold()
    script.give(.wantAdvertising(third, parameters))
    try script.command("3920 06 00 01 01 0000 00")
    try start("01")
    script.expectTold(
      .advertising(second, .on(interval: .milliseconds(200))), .advertising(third, .on(interval: .milliseconds(200))))
    script.wait(AdvertisingRotation.turn)
    try script.command("3920 06 00 01 01 0000 00")
    try start("01")
    // The first returns its set: the one that has waited longest gets one of its own.
    script.give(.wantAdvertising(first, nil))
    try script.command("3920 06 00 01 00 0000 00")
    try script.command("3c20 01 00")
    try start("00")
    script.expectTold(
      .advertising(second, .on(interval: .milliseconds(100))), .advertising(third, .on(interval: .milliseconds(100))),
      .advertising(first, .off))
    script.wait(.seconds(60))
    script.silent()
  }

  @Test("A controller that has fewer sets than it said lets advertisements share those (P19)")
  func memoryExceeded() throws {
    var script = RadioScript<ExtendedFamily>(sets: 8)
    script.give(.wantAdvertising(first, parameters))
    for _ in 0..<4 { try script.answer() }
    script.give(.wantAdvertising(second, parameters))
    try script.command("3620 19 01 1300 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 01 00", status: 0x07)
    script.expectTold(
      .advertising(first, .on(interval: .milliseconds(100))), .advertising(first, .on(interval: .milliseconds(200))))
    script.wait(AdvertisingRotation.turn)
    try script.command("3920 06 00 01 00 0000 00")
    for _ in 0..<4 { try script.answer() }
    script.expectTold(.advertising(second, .on(interval: .milliseconds(200))))
  }

  @Test("Too many advertisements are refused, and follow when there is room (P19)")
  func exhausted() throws {
    var script = RadioScript<LegacyFamily>()
    let ids = (1...UInt32(AdvertisingRotation.limit + 1)).map(AdvertisingSetID.init)
    for id in ids { script.give(.wantAdvertising(id, parameters)) }
    guard case .advertising(ids.last, .failed(let error))? = script.told.last else {
      Issue.record("the last one was not refused")
      return
    }
    #expect(error.name == "advertisingSetsExhausted" && error.message.contains("\(AdvertisingRotation.limit)"))
    for _ in 0..<4 { try script.answer() }
    _ = script.takeTold()
    script.give(.wantAdvertising(ids[1], nil))
    for _ in 0..<AdvertisingRotation.limit * 5 {
      script.wait(.milliseconds(500))
      while script.isAsked { try script.answer() }
    }
    let isOn = script.takeTold().contains {
      $0 == .advertising(ids[ids.count - 1], .on(interval: .milliseconds(100) * AdvertisingRotation.limit))
    }
    #expect(isOn)
  }

  @Test("Other data alone are changed on the air, and off it where the controller refuses that (stack 22)")
  func otherData() throws {
    var legacy = RadioScript<LegacyFamily>()
    legacy.give(.wantAdvertising(first, parameters))
    try startLegacy(&legacy)
    legacy.expectTold(.advertising(first, .on(interval: .milliseconds(100))))
    legacy.give(.wantAdvertising(first, AdvertisingParameters(data: [2, 1, 4])))
    try legacy.command("0820 20 03 020104" + String(repeating: "00", count: 28))
    legacy.silent()
    legacy.expectTold()
    legacy.give(.wantAdvertising(first, AdvertisingParameters(data: [2, 1, 4], scanResponse: [2, 0x0A, 4])))
    try legacy.command("0920 20 03 020a04" + String(repeating: "00", count: 28))
    legacy.silent()
    // Another interval is no data.
    let slow = AdvertisingParameters(interval: .milliseconds(200), data: [2, 1, 4], scanResponse: [2, 0x0A, 4])
    legacy.give(.wantAdvertising(first, slow))
    try legacy.command("0a20 01 00")

    var extended = RadioScript<ExtendedFamily>()
    var parameters = AdvertisingParameters(isConnectable: false, data: [2, 1, 6])
    parameters.isExtended = true
    extended.give(.wantAdvertising(first, parameters))
    for _ in 0..<3 { try extended.answer() }
    _ = extended.takeTold()
    parameters.data = [2, 1, 4]
    extended.give(.wantAdvertising(first, parameters))
    try extended.command("3720 07 00 03 01 03 020104")
    extended.silent()
    // Data in fragments, and data that are refused.
    parameters.data = [UInt8](repeating: 0, count: 252)
    extended.give(.wantAdvertising(first, parameters))
    try extended.command("3920 06 00 01 00 0000 00")
    for _ in 0..<4 { try extended.answer() }
    extended.silent()
    parameters.data = [2, 1, 4]
    extended.give(.wantAdvertising(first, parameters))
    try extended.refuse(0x0C)
    try extended.command("3920 06 00 01 00 0000 00")
    for _ in 0..<3 { try extended.answer() }
    parameters.data = [2, 1, 6]
    extended.give(.wantAdvertising(first, parameters))
    try extended.command("3920 06 00 01 00 0000 00")
    for _ in 0..<3 { try extended.answer() }
    extended.silent()
    extended.expectTold()
  }

  @Test func advertisingResumesAfterACentralConnected() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantAdvertising(first, parameters))
    try startLegacy(&script)
    script.expectTold(.advertising(first, .on(interval: .milliseconds(100))))
    try script.hear("3e 13 01 00 4000 01 01 f5f4f3f2f1f0 2800 0000 2a00 00")
    script.expectTold(
      .linkUp(handle: 0x40, .peripheral, central, LinkParameters(0x28, 0, 0x2A)), .advertising(first, .off))
    // The controller still has the data: enabling suffices (P19). It may lack the resources during the link.
    try script.command("0a20 01 01", status: 0x0C)
    script.expectTold()
    try script.hear("05 04 00 4000 13")
    try script.command("0a20 01 00")
    try startLegacy(&script)
    #expect(script.told.last == .advertising(first, .on(interval: .milliseconds(100))))
  }

  @Test func extendedSetsAreIndependent() throws {
    var script = RadioScript<ExtendedFamily>(sets: 2)
    script.give(.wantAdvertising(first, AdvertisingParameters(data: [2, 1, 6], scanResponse: [2, 0x0A, 4])))
    script.give(.wantAdvertising(second, AdvertisingParameters(isConnectable: false, data: [2, 1, 6])))
    try script.command("3620 19 00 1300 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 00 00", returns: "00")
    try script.command("3720 07 00 03 01 03 020106")
    try script.command("3820 07 00 03 01 03 020a04")
    try script.command("3920 06 01 01 00 0000 00")
    try script.command("3620 19 01 1000 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 01 00", returns: "00")
    try script.command("3720 07 01 03 01 03 020106")
    try script.command("3920 06 01 01 01 0000 00")
    script.expectTold(
      .advertising(first, .on(interval: .milliseconds(100))), .advertising(second, .on(interval: .milliseconds(100))))

    try script.hear("3e 06 12 00 00 4000 00")
    script.expectTold(.advertising(first, .off))
    try script.command("3920 06 01 01 00 0000 00")
    script.expectTold(.advertising(first, .on(interval: .milliseconds(100))))

    script.give(.wantAdvertising(first, nil))
    try script.command("3920 06 00 01 00 0000 00")
    try script.command("3c20 01 00")
    script.expectTold(.advertising(first, .off))
    script.silent()
  }

  @Test func longDataGoesWithoutLegacyPDUsInFragments() throws {
    var script = RadioScript<ExtendedFamily>(sets: 2)
    var parameters = AdvertisingParameters(isConnectable: false, data: [UInt8](repeating: 9, count: 300))
    parameters.isExtended = true
    script.give(.wantAdvertising(first, parameters))
    try script.command("3620 19 00 0000 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 00 00", returns: "00")
    try script.command("3720 ff 00 01 01 fb" + String(repeating: "09", count: 251))
    try script.command("3720 35 00 02 01 31" + String(repeating: "09", count: 49))
    try script.command("3920 06 01 01 00 0000 00")
  }

  @Test func whatDoesNotFitIsRefusedAtOnce() {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantAdvertising(first, AdvertisingParameters(data: [UInt8](repeating: 0, count: 32))))
    guard case .advertising(first, .failed(let error))? = script.told.last else {
      Issue.record("not refused")
      return
    }
    #expect(error.name == "advertisingDataTooLong")
    script.silent()
  }

  @Test func aRandomAddressIsSetForEachSet() throws {
    let address = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
    var script = RadioScript<ExtendedFamily>(sets: 2, address: address)
    script.give(.wantAdvertising(first, parameters))
    try script.command("3620 19 00 1300 a00000 a00000 07 01 00 000000000000 00 7f 01 00 01 00 00", returns: "00")
    try script.command("3520 07 00 5544332211c0")
  }
}
