import Bluetooth
import HCI
import Testing

/// The management interface as octets, written from its description.
struct ManagementTests {
  private func hex(_ command: some ManagementCommand) -> String {
    Hex.encode(ManagementPacket(command, index: ControllerIndex(rawValue: 1)).octets)
  }

  private func event(_ hex: String) throws -> ManagementEvent {
    try ManagementEvent(decoding: ManagementPacket(decoding: #require(Hex.decode(hex.filter { $0 != " " }))))
  }

  private func packed(_ hex: String) -> String { hex.filter { $0 != " " } }

  private let device = ManagementAddress(DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random))

  @Test func commands() {
    #expect(hex(SetPowered(value: 1)) == packed("0500 0100 0100 01"))
    #expect(hex(SetStaticAddress(address: 0xC011_2233_4455)) == packed("2b0001000600 5544332211c0"))
    #expect(hex(UserConfirmationReply(device: device)) == packed("1c0001000700 f5f4f3f2f1f002"))
    #expect(hex(UserPasskeyReply(device: device, passkey: 123_456)) == packed("1e0001000b00 f5f4f3f2f1f002 40e20100"))
    #expect(Hex.encode(ManagementPacket(ReadIndexList()).octets) == "0300ffff0000")
  }

  @Test func commandsForADevice() {
    #expect(hex(DisconnectDevice(device: device)) == packed("140001000700 f5f4f3f2f1f002"))
    #expect(hex(PairDevice(device: device, capability: 3)) == packed("190001000800 f5f4f3f2f1f002 03"))
    #expect(hex(CancelPairDevice(device: device)) == packed("1a0001000700 f5f4f3f2f1f002"))
    #expect(hex(UnpairDevice(device: device, disconnects: true)) == packed("1b0001000800 f5f4f3f2f1f002 01"))
    #expect(hex(GetConnectionInformation(device: device)) == packed("310001000700 f5f4f3f2f1f002"))
  }

  @Test func keysOfThePrivacy() {
    let (key, octets) = ([UInt8](1...16), "0102030405060708090a0b0c0d0e0f10")
    #expect(hex(SetPrivacy(mode: 2, identityResolvingKey: key)) == packed("2f0001001100 02\(octets)"))
    let load = LoadIdentityResolvingKeys(keys: [ManagementIdentityResolvingKey(device: device, value: key)])
    #expect(hex(load) == packed("300001001900 0100 f5f4f3f2f1f002 \(octets)"))
  }

  @Test func keysGoAndComeInTheSameForm() throws {
    let key = ManagementLongTermKey(
      device: device, keyType: 2, isCentral: true, encryptionSize: 16, encryptedDiversifier: 0, randomNumber: 0,
      value: [UInt8](1...16))
    let load = hex(LoadLongTermKeys(keys: [key]))
    #expect(load.hasPrefix(packed("1300 0100 2600 0100 f5f4f3f2f1f002 02 01 10 0000")))
    #expect(load.hasSuffix("0102030405060708090a0b0c0d0e0f10"))
    let new = try event("0a00 0100 2500 01\(load.dropFirst(16))")
    #expect(new == .newLongTermKey(NewLongTermKey(storeHint: true, key: key)))
  }

  @Test func controllerInformation() throws {
    let information = ControllerInformation(
      address: 0x00AA_0100_0000, supported: [.powered, .lowEnergy], current: .lowEnergy, name: Array("belt".utf8))
    var writer = OctetWriter()
    information.write(to: &writer)
    #expect(writer.octets.count == 280)
    #expect(try ControllerInformation(decoding: writer.octets) == information)
    #expect(throws: HCICodingError.self) { try ControllerInformation(decoding: Array(writer.octets.dropLast())) }
  }

  @Test func events() throws {
    #expect(try event("0400 0200 0000") == .indexAdded)
    #expect(
      try event("0600 0000 0400 11020000") == .newSettings(NewSettings(settings: [.powered, .bondable, .lowEnergy])))
    #expect(
      try event("0f00 0000 0c00 f5f4f3f2f1f002 01 00000000")
        == .userConfirmationRequest(UserConfirmationRequest(device: device, confirmHint: 1, value: 0)))
    guard case .deviceConnected(let connected) = try event("0b00 0000 10 00 f5f4f3f2f1f002 00000000 0300 020106") else {
      Issue.record("not Device Connected")
      return
    }
    #expect(connected.device.device == DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random))
    #expect(connected.data.octets == [2, 1, 6])
  }

  @Test func liesAboutLengthsAreRefused() {
    #expect(throws: HCICodingError.self) { try event("0b00 0000 1000 f5f4f3f2f1f002 00000000 ff00 020106") }
    #expect(throws: HCICodingError.self) { try event("0600 0000 0400 1102") }
    #expect(throws: HCICodingError.self) { try ControllerIndexList(decoding: [9, 0, 0, 0]) }
  }
}
