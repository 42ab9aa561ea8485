import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

/// Whole pairings with the key pairs and nonces of the specification's sample data (Core 5.4, Vol 3, Part H, appendix
/// D, and Vol 2, Part G, 7.1.2). The octets were computed with another implementation of the functions.
@Suite struct SMPTranscriptTests {
  private static let centralKey = "06a516693c9aa31a6084545d0c5db641b48572b97203ddffb7ac73f7d0457663"
  private static let peripheralKey = "529aa0670d72cd6497502ed473502b037e8803b5c60829a5a3caa219505530ba"
  private static let centralPublic =
    "dd785c74039b7e98cb94874aadfaf8d5433e5cafeab54cf49e8079577ba4312c"
    + "4f5d71437743f8ead43ebd17911021d01f87438e40e252cdbedf983818129591"
  private static let peripheralPublic =
    "cc0065e1f56c0dcfec96472066c9db848175a84dc0dfc79d1b3f3df23fe465f4"
    + "79b2ecd8ca55a1a8434d6bca10b0c201c2334e1624c4efee99d8bbbc48d00102"

  private func link(
    _ central: PairingCapability, _ peripheral: PairingCapability, isSecure: Bool = true, _ nonces: ([Key128], [Key128])
  ) throws -> SMPLink {
    let link = SMPLink(central, peripheral, isSecure: isSecure)
    link.central.terms.secrets.keyPair = try pair(Self.centralKey)
    link.peripheral.terms.secrets.keyPair = try pair(Self.peripheralKey)
    link.central.terms.secrets.nonces = nonces.0
    link.peripheral.terms.secrets.nonces = nonces.1
    link.peripheral.terms.secrets.passkey = 123_456
    return link
  }

  private func pair(_ hex: String) throws -> P256KeyPair {
    try #require(Hex.decode(hex).flatMap(P256KeyPair.init(privateKey:)))
  }

  private func number(_ hex: String) throws -> Key128 {
    try #require(Hex.decode(hex).flatMap { Key128(bigEndian: $0) })
  }

  private func repeated(_ octet: Int) throws -> Key128 {
    try #require(Key128(bigEndian: Array(repeating: UInt8(octet), count: 16)))
  }

  private func hex(_ packets: [SMPPDU]) -> [String] { packets.map { Hex.encode($0.encoded) } }

  @Test func numericComparison() throws {
    let link = try link(
      .displayYesNo, .displayYesNo,
      ([try number("d5cb8454d177733effffb2ec712baeab")], [try number("a6e8e7cc25a75f6e216583f7ff3dc4cf")]))
    link.raise()
    let central = hex(link.central.sent)
    let peripheral = hex(link.peripheral.sent)
    #expect(
      central.dropLast() == [
        "010100" + "1d100507", "0c" + Self.centralPublic, "04abae2b71ecb2ffff3e7377d15484cbd5",
        "0da51e85f7a2cb94ba634c66ef43f47f22",
      ])
    #expect(
      peripheral.dropLast() == [
        "020100" + "1d100404", "0c" + Self.peripheralPublic, "03922e286256008441f0c3d4cfe54f136c",
        "04cfc43dfff78365216e5fa725cce7e8a6", "0d0dc083c53fa58e52324ca886ee7851c2",
      ])
    // The keys for signatures are all that is handed out.
    #expect(link.central.sent.last?.code == .signingInformation)
    #expect(link.peripheral.sent.last?.code == .signingInformation)
    #expect(link.central.questions == [.comparison(196_010)] && link.peripheral.questions == [.comparison(196_010)])
    let bond = try #require(link.central.bondMade)
    #expect(bond.longTermKeys.map { Hex.encode($0.value) } == ["627ef3cabee379a8fdbe1868af8a093f"])
  }

  @Test func passkeyWithSecureConnections() throws {
    let link = try link(
      .keyboard, .display, (try (0..<20).map(repeated), try (0x80..<0x94).map(repeated)))
    link.raise()
    let central = hex(link.central.sent.filter { $0.code != .keypressNotification })
    let peripheral = hex(link.peripheral.sent)
    #expect(central.count == 2 + 40 + 1 + 1 && peripheral.count == 2 + 40 + 1 + 1)
    #expect(central[0] == "010200" + "1d100507" && peripheral[0] == "020000" + "1d100404")
    #expect(central[2] == "03339db03343a53a3501c56e558a71634c")
    #expect(peripheral[2] == "033241c7c405d2e44dc6e36243e89473cb")
    #expect(central[40] == "032ad25780e52ad3e8b1f29980f31e5b37")
    #expect(peripheral[40] == "037ccc30db3ec861655ce9039819dd139a")
    #expect(central[42] == "0d5a3bf59dd9029511e8781bb82def1157")
    #expect(peripheral[42] == "0d02e34cc18bbaca6a3330bbd830cc9a5b")
    let bond = try #require(link.peripheral.bondMade)
    #expect(bond.longTermKeys.map { Hex.encode($0.value) } == ["a66f35c8977b26abf2fdf910e1bcc228"])
  }

  @Test func legacyPasskeyWithTenOctets() throws {
    let link = try link(
      .keyboard, .display, isSecure: false,
      ([try number("000102030405060708090a0b0c0d0e0f")], [try number("101112131415161718191a1b1c1d1e1f")]))
    link.peripheral.terms.hasSecureConnections = false
    link.peripheral.terms.maximumKeySize = 10
    link.raise()
    #expect(
      hex(link.central.sent).prefix(5) == [
        "01020015100507", "0e00", "0e04", "03981a65f6d3c2bcae88b27f9740aa15e5", "040f0e0d0c0b0a09080706050403020100",
      ])
    #expect(
      hex(link.peripheral.sent).prefix(3) == [
        "020000150a0505", "030ef44f882edec2117063215031109fdc", "041f1e1d1c1b1a19181716151413121110",
      ])
    let key = try #require(Hex.decode("58fd8c2daa02d4d19370000000000000").flatMap { Key128(littleEndian: $0) })
    #expect(link.central.actions.contains(.encrypt(EncryptionKey(value: key))))
    #expect(link.peripheral.actions.contains(.replyToKeyRequest(key)))
    #expect(link.central.paired.count == 1 && link.peripheral.paired.count == 1)
  }

  /// The sample data of c1 and s1 (Core 5.4, Vol 3, Part H, 2.2.3 and 2.2.4).
  @Test func theSpecificationsLegacySample() throws {
    let request = try SMPPDU(parsing: [0x01, 0x01, 0x00, 0x00, 0x10, 0x07, 0x07])
    let response = try SMPPDU(parsing: [0x02, 0x03, 0x00, 0x00, 0x08, 0x00, 0x05])
    guard case .pairingRequest(let first) = request, case .pairingResponse(let second) = response else {
      throw PairingFailureReason.unspecified
    }
    var terms = PairingTerms(identity: .none, secrets: PairingSecrets())
    terms.isOwn = true
    terms.secrets.nonces = [try number("5783d52156ad6f0e6388274ec6702ee0")]
    let parameters = try PairingParameters(
      .central, local: DeviceAddress(value: 0xA1A2_A3A4_A5A6, kind: .random),
      peer: DeviceAddress(value: 0xB1B2_B3B4_B5B6, kind: .public), request: first, response: second, terms)
    var machine = LegacyAuthentication(parameters)
    let steps = try machine.start()
    #expect(steps == [.send(.pairingConfirm(try number("1e1e3fef878988ead2a74dc5bef13b86")))])
  }
}
