import Adapter
import Bluetooth
import HCI
import Testing

@testable import Radio

/// Which commands leave at all.
struct RadioFamilyTests {
  private static let legacy: Set<Opcode> = [
    LESetScanParameters.opcode, LESetScanEnable.opcode, LESetAdvertisingParameters.opcode,
    LESetAdvertisingData.opcode, LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode,
    LECreateConnection.opcode,
  ]
  private static let extended: Set<Opcode> = [
    LESetExtendedScanParameters.opcode, LESetExtendedScanEnable.opcode, LESetExtendedAdvertisingParameters.opcode,
    LESetExtendedAdvertisingData.opcode, LESetExtendedScanResponseData.opcode, LESetExtendedAdvertisingEnable.opcode,
    LERemoveAdvertisingSet.opcode, LEExtendedCreateConnection.opcode,
  ]

  /// All kinds of requests, from the first one until everything has ended.
  private func opcodes(
    scanning: any RadioFamily.Type, advertising: any RadioFamily.Type, initiating: any RadioFamily.Type
  ) throws -> Set<Opcode> {
    var profile = ControllerProfile(address: DeviceAddress(value: 1, kind: .public))
    profile.advertisingSets = 2
    var script = RadioScript<LegacyFamily>(
      profile.radio(scanning: scanning, advertising: advertising, initiating: initiating, RadioTargets()))
    func settle() throws { while script.isAsked { try script.answer() } }
    script.give(.wantScan(ScanParameters()))
    script.give(
      .wantAdvertising(AdvertisingSetID(1), AdvertisingParameters(data: [2, 1, 6], scanResponse: [2, 0x0A, 4])))
    try settle()
    script.give(.connect(DeviceAddress(value: 0xF0F1_F2F3_F401, kind: .random), ConnectionParameters()))
    try settle()
    script.give(.quiet)
    try settle()
    return Set(script.opcodes)
  }

  @Test("Legacy and extended commands are never mixed (P4), and a shared controller is never reset (P5)")
  func families() throws {
    let reset: Opcode = 0x0C03
    let first = try opcodes(
      scanning: LegacyFamily.self, advertising: LegacyFamily.self, initiating: LegacyFamily.self)
    #expect(first.isSuperset(of: Self.legacy) && first.isDisjoint(with: Self.extended))
    let second = try opcodes(
      scanning: ExtendedFamily.self, advertising: ExtendedFamily.self, initiating: ExtendedFamily.self)
    #expect(second.isSuperset(of: Self.extended) && second.isDisjoint(with: Self.legacy))
    #expect(!first.contains(reset) && !second.contains(reset))
    #expect(KnownCommands.type(of: reset) == nil, "there is no such command to send")
  }

  @Test func eachProcedureHasItsOwnFamily() throws {
    let actions = try opcodes(
      scanning: LegacyFamily.self, advertising: ExtendedFamily.self, initiating: LegacyFamily.self)
    #expect(actions.isSuperset(of: [LESetScanEnable.opcode, LECreateConnection.opcode]))
    #expect(actions.isDisjoint(with: [LESetExtendedScanEnable.opcode, LEExtendedCreateConnection.opcode]))
    #expect(actions.contains(LESetExtendedAdvertisingEnable.opcode))
    let apple = try opcodes(
      scanning: LegacyFamily.self, advertising: ExtendedFamily.self, initiating: ExtendedFamily.self)
    #expect(apple.contains(LEExtendedCreateConnection.opcode) && apple.contains(LESetScanEnable.opcode))
  }
}
