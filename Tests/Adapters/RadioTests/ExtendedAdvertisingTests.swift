import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Advertisements beside the usual ones, as commands.
struct ExtendedAdvertisingTests {
  private let set = AdvertisingSetID(1), other = AdvertisingSetID(2)
  private let target = DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random)
  private let features: LEFeatures = [.extendedAdvertising, .phy2M, .codedPHY]

  private func extended(sets: Int = 4, length: Int = 1650) -> RadioScript<ExtendedFamily> {
    RadioScript(sets: sets, features: features, advertisingDataLength: length)
  }

  private func failure(
    _ parameters: AdvertisingParameters, _ script: RadioScript<some RadioFamily>
  ) throws -> BluetoothError {
    var script = script
    script.give(.wantAdvertising(set, parameters))
    script.silent()
    guard case .advertising(set, .failed(let error))? = script.takeTold().last else {
      throw GAPError.cancelled.error("not refused")
    }
    return error
  }

  @Test func anAnonymousOneOn2MHasItsPowerAndChannels() throws {
    var script = extended()
    var parameters = AdvertisingParameters(kind: .nonconnectable, data: [2, 0x0A, 4])
    parameters.isExtended = true
    parameters.isAnonymous = true
    parameters.includesTxPower = true
    parameters.txPower = -7
    parameters.channels = AdvertisingChannels(rawValue: 5)
    parameters.secondaryPHY = .le2M
    script.give(.wantAdvertising(set, parameters))
    try script.command(
      "3620 19 00 6000 a00000 a00000 05 00 00 000000000000 00 f9 01 00 02 00 00", returns: "f8")
    try script.command("3720 07 00 03 01 03 020a04")
    try script.command("3920 06 01 01 00 0000 00")
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100), txPower: -8)))
  }

  @Test("The coding is required with the second version of the command, after the first, which the kernel knows")
  func coding() throws {
    var parameters = AdvertisingParameters(kind: .nonconnectable, data: [2, 0x0A, 4])
    parameters.isExtended = true
    (parameters.primaryPHY, parameters.primaryCoding) = (.leCoded, .s8)
    (parameters.secondaryPHY, parameters.secondaryCoding) = (.leCoded, .s2)
    var script = RadioScript<ExtendedFamily>(features: [.codedPHY, .advertisingCodingSelection])
    script.give(.wantAdvertising(set, parameters))
    let octets = "00 0000 a00000 a00000 07 00 00 000000000000 00 7f 03 00 03 00 00"
    try script.command("3620 19 \(octets)", returns: "00")
    try script.command("7f20 1b \(octets) 04 03", returns: "00")
    try script.command("3720 07 00 03 01 03 020a04")
    try script.command("3920 06 01 01 00 0000 00")
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
    // Unsupported Feature or Parameter Value: this controller has one of the codings only.
    script = RadioScript<ExtendedFamily>(features: [.codedPHY, .advertisingCodingSelection])
    script.give(.wantAdvertising(set, parameters))
    try script.answer()
    try script.refuse(0x11)
    guard case .advertising(set, .failed(let error))? = script.takeTold().last else {
      Issue.record("not refused")
      return
    }
    #expect(error.domain == .hci && error.code == 0x11)
    let without = try failure(parameters, RadioScript<ExtendedFamily>(features: [.codedPHY]))
    #expect(without.name == "notSupported" && without.message.hasSuffix("ask for the PHY coded"))
  }

  @Test func aScannableExtendedOneHasItsDataInTheScanResponse() throws {
    var script = extended()
    let long = [UInt8](repeating: 9, count: 600)
    var parameters = AdvertisingParameters(kind: .scannable, data: [], scanResponse: long)
    parameters.isExtended = true
    parameters.primaryPHY = .leCoded
    parameters.secondaryPHY = .leCoded
    script.give(.wantAdvertising(set, parameters))
    try script.command("3620 19 00 0200 a00000 a00000 07 00 00 000000000000 00 7f 03 00 03 00 00", returns: "00")
    try script.command("3820 ff 00 01 01 fb" + String(repeating: "09", count: 251))
    try script.command("3820 ff 00 00 01 fb" + String(repeating: "09", count: 251))
    try script.command("3820 66 00 02 01 62" + String(repeating: "09", count: 98))
    try script.command("3920 06 01 01 00 0000 00")
  }

  @Test func oneDirectedWithTheHighDutyCycleEndsByItself() throws {
    var script = extended()
    script.give(.wantAdvertising(set, AdvertisingParameters(kind: .directed(target, isHighDuty: true), data: [])))
    try script.command("3620 19 00 1d00 a00000 a00000 07 00 01 f5f4f3f2f1f0 00 7f 01 00 01 00 00", returns: "00")
    try script.command("3920 06 01 01 00 8000 00")
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
    try script.hear("3e 06 12 3c 00 0000 00")
    script.expectTold(.advertising(set, .ended(.duration)))
    try script.command("3c20 01 00")
    script.expectTold()
    script.give(.wantAdvertising(set, nil))
    script.silent()
    script.expectTold()
  }

  @Test func oneDirectedWithTheLowDutyCycleEndsWithTheLink() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantAdvertising(set, AdvertisingParameters(kind: .directed(target, isHighDuty: false), data: [])))
    try script.command("0620 0f a000 a000 04 00 01 f5f4f3f2f1f0 07 00")
    try script.command("0a20 01 01")
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
    try script.hear("3e 13 01 00 4000 01 01 f5f4f3f2f1f0 2800 0000 2a00 00")
    script.expectTold(
      .linkUp(handle: 0x40, .peripheral, target, LinkParameters(0x28, 0, 0x2A)), .advertising(set, .ended(.connected)))
  }

  @Test func aTargetThatTheControllerResolvesGetsPrivateAddresses() throws {
    var parameters = AdvertisingParameters(kind: .directed(target, isHighDuty: false), data: [])
    parameters.resolvesTarget = true
    var legacy = RadioScript<LegacyFamily>()
    legacy.give(.wantAdvertising(set, parameters))
    try legacy.command("0620 0f a000 a000 04 02 01 f5f4f3f2f1f0 07 00")
    var script = extended()
    script.give(.wantAdvertising(set, parameters))
    try script.command("3620 19 00 1500 a00000 a00000 07 02 01 f5f4f3f2f1f0 00 7f 01 00 01 00 00", returns: "00")
  }

  @Test func theHighDutyCycleOfALegacyControllerIsOver() throws {
    var script = RadioScript<LegacyFamily>()
    script.give(.wantAdvertising(set, AdvertisingParameters(kind: .directed(target, isHighDuty: true), data: [])))
    try script.command("0620 0f a000 a000 01 00 01 f5f4f3f2f1f0 07 00")
    try script.command("0a20 01 01")
    _ = script.takeTold()
    try script.hear("3e 13 01 3c 0000 01 00 000000000000 0000 0000 0000 00")
    script.expectTold(.advertising(set, .ended(.duration)))
  }

  @Test("Events that were sent before a central connected count")
  func count() throws {
    var script = extended()
    var parameters = AdvertisingParameters(data: [2, 1, 6])
    parameters.maximumEvents = 100
    script.give(.wantAdvertising(set, parameters))
    for _ in 0..<3 { try script.answer() }
    try script.command("3920 06 01 01 00 0000 64")
    _ = script.takeTold()
    try script.hear("3e 06 12 00 00 4000 1e")
    script.expectTold(.advertising(set, .off))
    try script.command("3920 06 01 01 00 0000 46")
    script.expectTold(.advertising(set, .on(interval: .milliseconds(100))))
    try script.hear("3e 06 12 43 00 0000 46")
    script.expectTold(.advertising(set, .ended(.count)))
    try script.command("3c20 01 00")
    script.silent()
  }

  @Test("What interrupts a count does not begin it anew: as many events are taken off as there was time for")
  func interruptedCount() throws {
    var script = extended()
    var parameters = AdvertisingParameters(kind: .nonconnectable, data: [2, 1, 6])
    parameters.maximumEvents = 100
    script.give(.wantAdvertising(set, parameters))
    for _ in 0..<2 { try script.answer() }
    try script.command("3920 06 01 01 00 0000 64")
    script.wait(.seconds(2))
    // Another program's LE Set Extended Advertising Enable was executed.
    try script.hear("0e 04 01 3920 00")
    script.wait(.milliseconds(250))
    try script.command("3920 06 00 01 00 0000 00")
    for _ in 0..<2 { try script.answer() }
    try script.command("3920 06 01 01 00 0000 50")
  }

  @Test func whatIsCountedKeepsItsTurn() throws {
    var script = extended(sets: 1)
    var counted = AdvertisingParameters(data: [2, 1, 6])
    counted.maximumEvents = 10
    script.give(.wantAdvertising(set, counted))
    while script.isAsked { try script.answer() }
    script.give(.wantAdvertising(other, AdvertisingParameters(data: [2, 1, 6])))
    script.wait(AdvertisingRotation.turn * 3)
    script.silent()
    try script.hear("3e 06 12 43 00 0000 0a")
    try script.command("3c20 01 00")
    for _ in 0..<3 { try script.answer() }
    try script.command("3920 06 01 01 00 0000 00")
    #expect(script.takeTold().last == .advertising(other, .on(interval: .milliseconds(100))))
  }

  @Test("A set is forgotten before its PDUs become others, which its data would not fit (7.8.53)")
  func otherPDUs() throws {
    var script = extended()
    var parameters = AdvertisingParameters(isConnectable: false, data: [UInt8](repeating: 0, count: 40))
    parameters.isExtended = true
    script.give(.wantAdvertising(set, parameters))
    while script.isAsked { try script.answer() }
    script.give(.wantAdvertising(set, AdvertisingParameters(isConnectable: false, data: [2, 1, 6])))
    try script.command("3920 06 00 01 00 0000 00")
    try script.command("3c20 01 00")
    try script.command("3620 19 00 1000 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 00 00", returns: "00")
    try script.command("3720 07 00 03 01 03 020106")
    try script.command("3920 06 01 01 00 0000 00")
  }

  @Test("An address of its own is in the last set, and what is connectable with ours is set up again after it")
  func ownAddress() throws {
    var script = extended()
    script.give(.wantAdvertising(set, AdvertisingParameters(data: [2, 1, 6])))
    while script.isAsked { try script.answer() }
    var parameters = AdvertisingParameters(isConnectable: false, data: [2, 1, 6])
    parameters.ownAddress = DeviceAddress(value: 0xC011_2233_4455, kind: .random)
    _ = script.takeTold()
    script.give(.wantAdvertising(other, parameters))
    try script.command("3620 19 03 1000 a00000 a00000 07 01 00 000000000000 00 7f 01 00 01 03 00", returns: "00")
    try script.command("3520 07 03 5544332211c0")
    try script.command("3720 07 03 03 01 03 020106")
    try script.command("3920 06 01 01 03 0000 00")
    script.expectTold(.advertising(other, .on(interval: .milliseconds(100))))
    try script.command("3920 06 00 01 00 0000 00")
    try script.command("3620 19 00 1300 a00000 a00000 07 00 00 000000000000 00 7f 01 00 01 00 00", returns: "00")
    for _ in 0..<3 { try script.answer() }
    script.silent()
    script.expectTold()
  }

  @Test("Under a private address what is not connectable leaves the first set, through which devices pair")
  func firstSetIsKept() throws {
    var script = RadioScript<ExtendedFamily>(
      sets: 4, onAir: DeviceAddress(value: 0x5F11_2233_4455, kind: .random))
    script.give(.wantAdvertising(set, AdvertisingParameters(isConnectable: false, data: [2, 1, 6])))
    script.give(.wantAdvertising(other, AdvertisingParameters(data: [2, 1, 6])))
    while script.isAsked { try script.answer() }
    #expect(script.enabledSets == [0, 3])
  }

  @Test func whatThisControllerCannotSendIsRefusedAndItsLimitNamed() throws {
    var long = AdvertisingParameters(isConnectable: false, data: [UInt8](repeating: 0, count: 300))
    #expect(try failure(long, extended()).message.hasSuffix("at most 31 with legacy PDUs; with extended ones, 1650"))
    long.isExtended = true
    #expect(try failure(long, extended(length: 251)).message.hasSuffix("at most 251"))
    long.kind = .connectable
    #expect(try failure(long, extended()).message.hasSuffix("at most 245; one that is not connectable, 1650"))
    long.kind = .directed(target, isHighDuty: false)
    #expect(try failure(long, extended()).message.contains("at most 239;"))
    var coded = AdvertisingParameters(data: [])
    coded.isExtended = true
    coded.primaryPHY = .leCoded
    #expect(
      try failure(coded, RadioScript<ExtendedFamily>(features: [.extendedAdvertising])).message
        == "this adapter does not have the PHY coded")
    let changes: [(inout AdvertisingParameters) -> Void] = [
      { $0.isExtended = true }, { $0.txPower = 0 }, { $0.maximumEvents = 1 },
      { $0.ownAddress = DeviceAddress(value: 0xC011_2233_4455, kind: .random) },
    ]
    for change in changes {
      var parameters = AdvertisingParameters(data: [2, 1, 6])
      change(&parameters)
      #expect(try failure(parameters, RadioScript<LegacyFamily>()).name == "notSupported")
    }
  }
}
