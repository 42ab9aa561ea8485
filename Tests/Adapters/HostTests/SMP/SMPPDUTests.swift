import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

@Suite struct SMPPDUTests {
  /// One packet of each code.
  private static let packets: [(String, SMPPDU.Code)] = [
    ("01040009100f0f", .pairingRequest), ("02030110070203", .pairingResponse),
    ("03000102030405060708090a0b0c0d0e0f", .pairingConfirm), ("04000102030405060708090a0b0c0d0e0f", .pairingRandom),
    ("0508", .pairingFailed), ("06000102030405060708090a0b0c0d0e0f", .encryptionInformation),
    ("07341208070605040302f1", .centralIdentification), ("08000102030405060708090a0b0c0d0e0f", .identityInformation),
    ("09010605040302c1", .identityAddressInformation), ("0a000102030405060708090a0b0c0d0e0f", .signingInformation),
    ("0b2d", .securityRequest), ("0c" + String(repeating: "0123456789abcdef", count: 8), .pairingPublicKey),
    ("0d000102030405060708090a0b0c0d0e0f", .pairingDHKeyCheck), ("0e04", .keypressNotification),
  ]

  @Test func eachPacketIsReadAndWritten() throws {
    for (hex, code) in Self.packets {
      let octets = try #require(Hex.decode(hex))
      let pdu = try SMPPDU(parsing: octets)
      #expect(pdu.code == code)
      #expect(Hex.encode(pdu.encoded) == hex)
    }
  }

  @Test func otherLengthsAreRefused() throws {
    for (hex, code) in Self.packets {
      let octets = try #require(Hex.decode(hex))
      for count in 1...80 where count != octets.count {
        let other = Array((octets + Array(repeating: 0, count: 80)).prefix(count))
        #expect(throws: SMPCodingError.length(code)) { try SMPPDU(parsing: other) }
      }
    }
    #expect(throws: SMPCodingError.empty) { try SMPPDU(parsing: []) }
  }

  @Test(arguments: [
    "01050000100000", "01000200100000", "01000000110000", "02ff0000100000", "0902060504030201", "0e05",
  ])
  func reservedValuesAreRefused(_ hex: String) throws {
    let octets = try #require(Hex.decode(hex))
    let code = try #require(SMPPDU.Code(rawValue: octets[0]))
    #expect(throws: SMPCodingError.reservedValue(code)) { try SMPPDU(parsing: octets) }
  }

  @Test(arguments: [UInt8(0x00), 0x0F, 0xFF]) func unknownCodesAreNamed(_ code: UInt8) {
    #expect(throws: SMPCodingError.unknownCode(code)) { try SMPPDU(parsing: [code, 1, 2]) }
  }

  @Test func fieldsAreWhereTheSpecificationHasThem() throws {
    let request = try SMPPDU(parsing: [0x01, 0x01, 0x00, 0x0D, 0x10, 0x07, 0x03])
    #expect(
      request
        == .pairingRequest(
          PairingFeatures(
            capability: .displayYesNo, hasOutOfBandData: false, requirements: [.bonding, .mitm, .secureConnections],
            maximumKeySize: 16, initiatorKeys: [.encryption, .identity, .signing],
            responderKeys: [.encryption, .identity])))
    #expect(
      try SMPPDU(parsing: [0x07, 0x34, 0x12, 8, 7, 6, 5, 4, 3, 2, 1])
        == .centralIdentification(diversifier: 0x1234, random: 0x0102_0304_0506_0708))
    #expect(
      try SMPPDU(parsing: [0x09, 0x00, 6, 5, 4, 3, 2, 1])
        == .identityAddressInformation(DeviceAddress(value: 0x0102_0304_0506, kind: .public)))
    #expect(try SMPPDU(parsing: [0x0B, 0x05]) == .securityRequest([.bonding, .mitm]))
    #expect(try SMPPDU(parsing: [0x05, 0x42]) == .pairingFailed(PairingFailureReason(rawValue: 0x42)))
  }
}
