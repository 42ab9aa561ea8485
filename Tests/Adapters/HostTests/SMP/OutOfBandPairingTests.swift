import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

@Suite struct OutOfBandPairingTests {
  /// Gives a side's data to the other one.
  private func give(_ link: SMPLink, from role: LinkRole) throws {
    let (giver, receiver) = (link.side(role), link.side(role.other))
    let own = OwnOutOfBandData()
    giver.terms.ownOutOfBand = own
    receiver.terms.outOfBand = own.data?.secure
  }

  @Test func theDataAreTheConfirmValueOfTheKey() throws {
    let own = OwnOutOfBandData()
    let (data, x) = (try #require(own.data?.secure), own.keyPair.publicKey.x)
    let random = try #require(Key128(littleEndian: data.random))
    #expect(data.confirmation == SecureConnections.f4(u: x, v: x, x: random, z: 0).littleEndian)
  }

  /// Its key pair is for devices that have the data.
  @Test(arguments: [LinkRole.central, .peripheral]) func aDeviceWithoutTheDataGetsANewKey(_ giver: LinkRole) throws {
    let link = SMPLink()
    try give(link, from: giver)
    link.side(giver.other).terms.outOfBand = nil
    link.raise()
    let key = try #require(link.side(giver).terms.ownOutOfBand).keyPair.publicKey
    let sent = link.side(giver).sent.compactMap { if case .pairingPublicKey(let key) = $0 { key } else { nil } }
    #expect(sent == [link.side(giver).terms.secrets.keyPair.publicKey] && sent != [key])
    #expect(link.central.paired.count == 1 && link.central.manager.security.level == 2)
  }

  @Test(arguments: [[LinkRole.central], [.peripheral], [.central, .peripheral]])
  func dataOfOneSideOrBothAuthenticate(_ givers: [LinkRole]) throws {
    let link = SMPLink()
    for role in givers { try give(link, from: role) }
    link.central.terms.level = 4
    link.raise()
    #expect(link.central.failures == [] && link.peripheral.failures == [])
    #expect(link.central.paired.count == 1 && link.peripheral.paired.count == 1)
    #expect(link.central.manager.security.level == 4 && link.peripheral.manager.security.level == 4)
    #expect(link.central.questions == [] && link.peripheral.questions == [])
  }

  @Test(arguments: [LinkRole.central, .peripheral]) func dataOfAnotherKeyFail(_ giver: LinkRole) throws {
    let link = SMPLink()
    try give(link, from: giver)
    link.side(giver).terms.ownOutOfBand?.keyPair = P256KeyPair()
    link.raise()
    #expect(link.side(giver.other).failures == [.ours(.confirmValueFailed)])
    #expect(link.side(giver).failures == [.theirs(.confirmValueFailed)])
  }

  @Test(arguments: [LinkRole.central, .peripheral]) func anotherRandomValueFails(_ giver: LinkRole) throws {
    let link = SMPLink()
    try give(link, from: giver)
    link.side(giver).terms.ownOutOfBand?.random = Key128(1)
    link.raise()
    #expect(link.central.paired.isEmpty && link.peripheral.paired.isEmpty)
    #expect((link.central.failures + link.peripheral.failures).contains(.ours(.dhKeyCheckFailed)))
  }

  /// Otherwise it would know that the random value is zero, and pass as authenticated.
  @Test(arguments: [LinkRole.central, .peripheral]) func dataThatWereNeverGivenAreNotBelieved(_ liar: LinkRole) throws {
    let link = SMPLink()
    link.side(liar).terms.outOfBand = SecureOutOfBandData(
      confirmation: Array(repeating: 1, count: 16), random: Array(repeating: 0, count: 16))
    link.raise()
    #expect(link.side(liar.other).failures == [.ours(.outOfBandNotAvailable)])
    #expect(link.side(liar).failures == [.theirs(.outOfBandNotAvailable)])
  }

  @Test func legacyPairingTakesATemporaryKey() {
    let link = SMPLink(isSecure: false)
    link.central.terms.temporaryKey = Key128(99)
    link.peripheral.terms.temporaryKey = Key128(99)
    link.central.terms.level = 3
    link.raise()
    #expect(link.central.manager.security.level == 3 && link.peripheral.manager.security.level == 3)
    let other = SMPLink(isSecure: false)
    other.central.terms.temporaryKey = Key128(99)
    other.peripheral.terms.temporaryKey = Key128(98)
    other.raise()
    #expect(other.peripheral.failures == [.ours(.confirmValueFailed)])
  }

  /// The flag would have another meaning if both sides had LE Secure Connections.
  @Test(arguments: [true, false], [true, false])
  func aTemporaryKeyAloneMeansLegacyPairing(_ isCentralSecure: Bool, _ isPeripheralSecure: Bool) {
    let link = SMPLink(isSecure: isCentralSecure)
    link.peripheral.terms.hasSecureConnections = isPeripheralSecure
    for side in [link.central, link.peripheral] { side.terms.temporaryKey = Key128(99) }
    link.raise()
    #expect(link.central.failures == [] && link.peripheral.failures == [])
    #expect(link.central.manager.security.level == 3 && link.peripheral.manager.security.level == 3)
  }

  @Test func theTemporaryKeyOfTheResponderAloneChangesNothing() {
    let link = SMPLink()
    link.peripheral.terms.temporaryKey = Key128(99)
    link.raise()
    #expect(link.central.failures == [] && link.peripheral.failures == [])
    #expect(link.central.manager.security.level == 2 && link.peripheral.manager.security.level == 2)
    #expect(link.central.sent.contains { if case .pairingPublicKey = $0 { true } else { false } })
  }

  /// Without the key both would have used LE Secure Connections.
  @Test(arguments: [PairingCapability.none, .display, .keyboardDisplay], [true, false])
  func aTemporaryKeyThatTheDeviceDoesNotUseIsNoDowngrade(_ capability: PairingCapability, _ isSecure: Bool) {
    let link = SMPLink()
    link.peripheral.terms.hasSecureConnections = isSecure
    link.central.terms.temporaryKey = Key128(99)
    for side in [link.central, link.peripheral] { side.terms.capability = capability }
    link.raise()
    #expect(link.central.failures == [.ours(.outOfBandNotAvailable)])
    #expect(link.peripheral.failures == [.theirs(.outOfBandNotAvailable)])
    #expect(link.central.paired.isEmpty && link.central.questions.isEmpty)
  }

  @Test func aTemporaryKeyIsNotGoodEnoughForLevel4() {
    var terms = PairingTerms(identity: SMPLink.centralAddress, secrets: PairingSecrets())
    (terms.temporaryKey, terms.level) = (Key128(99), 4)
    let request = PairingFeatures(requesting: terms)
    #expect(request.requirements.contains(.secureConnections) && !request.hasOutOfBandData)
  }

  @Test func withBothKindsOfDataTheSideThatLacksSecureConnectionsDecides() throws {
    for isSecure in [true, false] {
      let link = SMPLink()
      link.peripheral.terms.hasSecureConnections = isSecure
      try give(link, from: .peripheral)
      for side in [link.central, link.peripheral] { side.terms.temporaryKey = Key128(99) }
      link.raise()
      #expect(link.central.failures == [])
      #expect(link.central.manager.security.level == (isSecure ? 4 : 3))
    }
  }

  /// Only a device that begins can say in time that it has our key.
  @Test(arguments: [LinkRole.central, .peripheral]) func ourTemporaryKeyCountsIfTheDeviceBegins(_ giver: LinkRole) {
    let link = SMPLink(isSecure: false)
    link.peripheral.terms.hasSecureConnections = false
    let own = OwnOutOfBandData()
    link.side(giver).terms.ownOutOfBand = own
    link.side(giver.other).terms.temporaryKey = own.temporaryKey
    link.raise()
    #expect(link.central.failures == [] && link.peripheral.failures == [])
    #expect(link.central.manager.security.level == (giver == .peripheral ? 3 : 2))
  }

  @Test func ourTemporaryKeyIsNotClaimedToADeviceWithoutData() throws {
    let link = SMPLink(isSecure: false)
    link.peripheral.terms.ownOutOfBand = OwnOutOfBandData()
    link.raise()
    let response = try #require(
      link.peripheral.sent.lazy.compactMap { if case .pairingResponse(let features) = $0 { features } else { nil } }
        .first)
    #expect(!response.hasOutOfBandData && link.central.manager.security.level == 2)
  }
}
