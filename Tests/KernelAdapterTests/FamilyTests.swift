import Adapter
import Bluetooth
import HCI
import Testing

@testable import KernelAdapter

/// Which commands leave at all.
struct FamilyTests {
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

  /// Everything that can be wanted, from the first request until nothing goes on.
  private func opcodes<Family: RadioFamily>(_ family: Family.Type) throws -> Set<Opcode> {
    var script = RadioScript<Family>(sets: 2)
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
    let first = try opcodes(LegacyFamily.self)
    #expect(first.isSuperset(of: Self.legacy) && first.isDisjoint(with: Self.extended))
    let second = try opcodes(ExtendedFamily.self)
    #expect(second.isSuperset(of: Self.extended) && second.isDisjoint(with: Self.legacy))
    #expect(!first.contains(reset) && !second.contains(reset))
    #expect(KnownCommands.type(of: reset) == nil, "there is no such command to send")
  }
}
