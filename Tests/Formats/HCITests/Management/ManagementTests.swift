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
    #expect(hex(SetStaticAddress { $0.address = 0xC011_2233_4455 }) == packed("2b0001000600 5544332211c0"))
    #expect(hex(UserConfirmationReply(device: device)) == packed("1c0001000700 f5f4f3f2f1f002"))
    let passkey = UserPasskeyReply {
      $0.device = device
      $0.passkey = 123_456
    }
    #expect(hex(passkey) == packed("1e0001000b00 f5f4f3f2f1f002 40e20100"))
    #expect(Hex.encode(ManagementPacket(ReadIndexList()).octets) == "0300ffff0000")
  }

  @Test func commandsForADevice() {
    let pair = PairDevice {
      $0.device = device
      $0.capability = 3
    }
    #expect(hex(pair) == packed("190001000800 f5f4f3f2f1f002 03"))
    let given = AddRemoteOutOfBandData {
      $0.device = device
      $0.confirmation = [UInt8](repeating: 0xC, count: 16)
      $0.random = [UInt8](repeating: 0xD, count: 16)
    }
    let zeros = String(repeating: "00", count: 32)
    let values = String(repeating: "0c", count: 16) + String(repeating: "0d", count: 16)
    #expect(hex(given) == packed("210001004700 f5f4f3f2f1f002") + zeros + values)
    #expect(hex(RemoveRemoteOutOfBandData(device: device)) == packed("220001000700 f5f4f3f2f1f002"))
    #expect(hex(ReadLocalOutOfBandExtendedData()) == packed("3b0001000100 06"))
    #expect(ReadLocalOutOfBandExtendedData.data(in: [6, 2, 0, 1, 0x22])?.elementsEqual([1, 0x22]) == true)
    #expect(ReadLocalOutOfBandExtendedData.data(in: [6, 3, 0, 1, 0x22]) == nil)
    #expect(ReadLocalOutOfBandExtendedData.data(in: [6, 0]) == nil)
    #expect(hex(CancelPairDevice(device: device)) == packed("1a0001000700 f5f4f3f2f1f002"))
    let unpair = UnpairDevice {
      $0.device = device
      $0.disconnects = true
    }
    #expect(hex(unpair) == packed("1b0001000800 f5f4f3f2f1f002 01"))
  }

  @Test func keysOfThePrivacy() {
    let (key, octets) = ([UInt8](1...16), "0102030405060708090a0b0c0d0e0f10")
    let privacy = SetPrivacy {
      $0.mode = 2
      $0.identityResolvingKey = key
    }
    #expect(hex(privacy) == packed("2f0001001100 02\(octets)"))
    let identity = ManagementIdentityResolvingKey {
      $0.device = device
      $0.value = key
    }
    let load = hex(LoadIdentityResolvingKeys { $0.keys = [identity] })
    #expect(load == packed("300001001900 0100 f5f4f3f2f1f002 \(octets)"))
  }

  @Test func keysGoAndComeInTheSameForm() throws {
    let key = ManagementLongTermKey {
      $0.device = device
      $0.keyType = 2
      $0.isCentral = true
      $0.encryptionSize = 16
      $0.value = [UInt8](1...16)
    }
    let load = hex(LoadLongTermKeys { $0.keys = [key] })
    #expect(load.hasPrefix(packed("1300 0100 2600 0100 f5f4f3f2f1f002 02 01 10 0000")))
    #expect(load.hasSuffix("0102030405060708090a0b0c0d0e0f10"))
    let new = try event("0a00 0100 2500 01\(load.dropFirst(16))")
    let expected = NewLongTermKey {
      $0.storeHint = true
      $0.key = key
    }
    #expect(new == .newLongTermKey(expected))
  }

  @Test func controllerInformation() throws {
    let information = ControllerInformation {
      $0.address = 0x00AA_0100_0000
      $0.supported = [.powered, .lowEnergy]
      $0.current = .lowEnergy
      $0.name = Array("belt".utf8)
    }
    let octets = information.octets
    #expect(octets.count == 280)
    #expect(try ControllerInformation(decoding: octets) == information)
    #expect(try ControllerInformation(decoding: octets + [0xAA]) == information)
    #expect(throws: HCICodingError.truncated(missing: 1)) { try ControllerInformation(decoding: octets.dropLast()) }
  }

  @Test func events() throws {
    #expect(try event("0400 0200 0000") == .indexAdded)
    let settings = NewSettings { $0.settings = [.powered, .bondable, .lowEnergy] }
    #expect(try event("0600 0000 0400 11020000") == .newSettings(settings))
    let confirmation = UserConfirmationRequest {
      $0.device = device
      $0.confirmHint = 1
    }
    #expect(try event("0f00 0000 0c00 f5f4f3f2f1f002 01 00000000") == .userConfirmationRequest(confirmation))
    guard case .deviceConnected(let connected) = try event("0b00 0000 10 00 f5f4f3f2f1f002 00000000 0300 020106") else {
      Issue.record("not Device Connected")
      return
    }
    #expect(connected.device.device == DeviceAddress(value: 0xF0F1_F2F3_F4F5, kind: .random))
    #expect(connected.data == [2, 1, 6])
  }

  @Test("Later kernels append fields to events and replies: what is known is read")
  func octetsBehindWhatIsKnownAreAccepted() throws {
    #expect(try event("0600 0000 0600 11020000 aabb") == event("0600 0000 0400 11020000"))
    #expect(
      try event("0b00 0000 1200 f5f4f3f2f1f002 00000000 0300 020106 aabb")
        == event("0b00 0000 1000 f5f4f3f2f1f002 00000000 0300 020106"))
    let list = try ControllerIndexList(decoding: [1, 0, 7, 0, 0xAA])
    #expect(list.indexes == [ControllerIndex(rawValue: 7)])
    // The packet itself ends where its length says.
    #expect(throws: HCICodingError.trailingOctets(count: 1)) { try event("0600 0000 0400 11020000 aa") }
  }

  @Test func liesAboutLengthsAreRefused() {
    #expect(throws: HCICodingError.self) { try event("0b00 0000 1000 f5f4f3f2f1f002 00000000 ff00 020106") }
    #expect(throws: HCICodingError.self) { try event("0600 0000 0400 1102") }
    #expect(throws: HCICodingError.self) { try ControllerIndexList(decoding: [9, 0, 0, 0]) }
  }
}
