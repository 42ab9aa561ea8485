import Adapter
import Bluetooth
import HCI
import Testing

@testable import KernelAdapter

struct AdvertisingMachineTests {
  private let first = AdvertisingSetID(1), second = AdvertisingSetID(2)
  private let parameters = AdvertisingParameters(data: [2, 1, 6])
  private let thirtyOne = "03 020106" + String(repeating: "00", count: 28)
  private let nothing = "00" + String(repeating: "00", count: 31)

  private func startLegacy(_ script: inout RadioScript<LegacyFamily>) throws {
    try script.command("0620 0f a000 a000 00 00 00 000000000000 07 00")
    try script.command("0820 20 \(thirtyOne)")
    try script.command("0920 20 \(nothing)")
    try script.command("0a20 01 01")
  }

  @Test func aLegacyControllerHasOneSet() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantAdvertising(first, parameters))
    try startLegacy(&script)
    script.expectTold(.advertising(first, .on(interval: .milliseconds(100))))

    script.give(.wantAdvertising(second, parameters))
    guard case .advertising(second, .failed(let error))? = script.told.last else {
      Issue.record("the second set was not refused")
      return
    }
    #expect(error.name == "advertisingSetsExhausted")
    script.silent()

    // The second set is still wanted: it follows when the first is taken back.
    script.expectTold(.advertising(second, .failed(error)))
    script.give(.wantAdvertising(first, nil))
    try script.command("0a20 01 00")
    try startLegacy(&script)
    script.expectTold(
      .advertising(first, .off), .advertising(second, .on(interval: .milliseconds(100))))
  }

  @Test func advertisingResumesAfterACentralConnected() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantAdvertising(first, parameters))
    try startLegacy(&script)
    script.expectTold(.advertising(first, .on(interval: .milliseconds(100))))
    try script.hear("3e 13 01 00 4000 01 01 f5f4f3f2f1f0 2800 0000 2a00 00")
    script.expectTold(
      .linkUp(handle: 0x40, .peripheral, LinkParameters(0x28, 0, 0x2A)), .advertising(first, .off))
    // The controller still has the data: enabling suffices (P19). It may lack the means while the link is there.
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
    let data = [UInt8](repeating: 9, count: 300)
    script.give(.wantAdvertising(first, AdvertisingParameters(data: data)))
    try script.command("3620 19 00 0100 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 00 00", returns: "00")
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
