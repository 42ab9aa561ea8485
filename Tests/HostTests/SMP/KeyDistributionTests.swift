import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

@Suite struct KeyDistributionTests {
  private static let key = Key128(0x0102_0304)
  private static let resolvable = DeviceAddress(value: 0x4A12_3456_789A, kind: .random)
  private static let otherResolvable = DeviceAddress(value: 0x5B12_3456_789A, kind: .random)

  private func codes(_ side: SMPLink.Side) -> [SMPPDU.Code] {
    side.sent.map(\.code).filter { $0.rawValue >= 0x06 && $0.rawValue <= 0x0A }
  }

  @Test func legacyKeysComeInOrderTheRespondersFirst() throws {
    let link = SMPLink(isSecure: false)
    link.central.terms.identityResolvingKey = Self.key
    link.peripheral.terms.identityResolvingKey = Self.key
    var order: [LinkRole] = []
    link.relay = { role, pdu in
      if pdu.code.rawValue >= 0x06 && pdu.code.rawValue <= 0x0A { order.append(role) }
      return [pdu.encoded]
    }
    link.raise()
    let all: [SMPPDU.Code] = [
      .encryptionInformation, .centralIdentification, .identityInformation, .identityAddressInformation,
      .signingInformation,
    ]
    #expect(codes(link.central) == all && codes(link.peripheral) == all)
    #expect(order == Array(repeating: .peripheral, count: 5) + Array(repeating: .central, count: 5))
    let bond = try #require(link.central.bondMade)
    #expect(bond.identityResolvingKey == Self.key.littleEndian)
    // Each side's key is for links on which it is peripheral, under the name that it gave.
    let theirs = try #require(bond.longTermKeys.first { $0.role == .central })
    #expect(theirs.value == link.peripheral.terms.secrets.longTermKey.value.littleEndian)
    #expect(theirs.random == link.peripheral.terms.secrets.longTermKey.random)
    let ours = try #require(bond.longTermKeys.first { $0.role == .peripheral })
    #expect(ours.diversifier == link.central.terms.secrets.longTermKey.diversifier)
    #expect(bond.signatureKeys.first(where: \.isOurs)?.value == link.central.terms.secrets.signatureKey.littleEndian)
  }

  @Test func secureConnectionsHandOutNoKeyForEncryption() {
    let link = SMPLink()
    link.central.terms.identityResolvingKey = Self.key
    link.peripheral.terms.identityResolvingKey = Self.key
    link.raise()
    let all: [SMPPDU.Code] = [.identityInformation, .identityAddressInformation, .signingInformation]
    #expect(codes(link.central) == all && codes(link.peripheral) == all)
  }

  @Test func withoutAResolvingKeyNoIdentityIsPromised() {
    let link = SMPLink()
    link.raise()
    guard case .pairingRequest(let request) = link.central.sent.first else { return #expect(Bool(false)) }
    #expect(request.initiatorKeys == [.encryption, .signing])
    #expect(codes(link.central) == [.signingInformation])
  }

  @Test func devicesWithPrivateAddressesAreKnownByTheirIdentity() throws {
    for isSecure in [true, false] {
      let link = SMPLink(isSecure: isSecure, centralAddress: Self.resolvable, peripheralAddress: Self.otherResolvable)
      link.central.terms.identityResolvingKey = Self.key
      link.peripheral.terms.identityResolvingKey = Key128(7)
      link.raise()
      let first = try #require(link.central.bondMade)
      let second = try #require(link.peripheral.bondMade)
      #expect(first.local == SMPLink.centralAddress && first.peer == SMPLink.peripheralAddress)
      #expect(second.local == SMPLink.peripheralAddress && second.peer == SMPLink.centralAddress)
      #expect(first.identityResolvingKey == Key128(7).littleEndian)
    }
  }

  @Test func aPrivateAddressWithoutAnIdentityMakesNoBond() {
    let link = SMPLink(peripheralAddress: Self.resolvable)
    link.raise()
    #expect(link.central.paired == [nil])
    #expect(link.central.manager.security.level == 2)
  }

  /// The identity of another device is not taken from one that connected with an address that it keeps.
  @Test func anIdentityThatIsNotTheConnectionsIsLeftAside() throws {
    let link = SMPLink()
    link.peripheral.terms.identity = DeviceAddress(value: 0xC0FF_EE00_0001, kind: .random)
    link.peripheral.terms.identityResolvingKey = Self.key
    link.raise()
    let bond = try #require(link.central.bondMade)
    #expect(bond.peer == SMPLink.peripheralAddress && bond.identityResolvingKey == nil)
  }

  @Test func keysOfZerosAreNotKept() throws {
    let link = SMPLink()
    link.peripheral.terms.identityResolvingKey = .zero
    link.peripheral.terms.secrets.signatureKey = .zero
    link.raise()
    let bond = try #require(link.central.bondMade)
    #expect(bond.identityResolvingKey == nil)
    #expect(bond.signatureKeys.map(\.isOurs) == [true])
  }

  /// A pairing whose key both controllers have, as central, and that of the other side.
  private func agreed() throws -> (central: Pairing, peripheral: Pairing) {
    let link = SMPLink()
    var pairing = Pairing(
      requesting: link.central.terms,
      Pairing.Ends(role: .central, local: SMPLink.centralAddress, peer: SMPLink.peripheralAddress))
    var steps: [PairingStep] = []
    let request = PairingFeatures(requesting: link.central.terms)
    #expect(pairing.start() == [.send(.pairingRequest(request))])
    var terms = link.peripheral.terms
    terms.isOwn = true
    var other = try Pairing(
      responding: terms, to: request,
      Pairing.Ends(role: .peripheral, local: SMPLink.peripheralAddress, peer: SMPLink.centralAddress), &steps)
    var toCentral = steps
    while !pairing.isEncrypting {
      var toPeripheral: [PairingStep] = []
      for case .send(let pdu) in toCentral { toPeripheral += try pairing.receive(pdu, now: .zero) }
      toCentral = []
      for case .send(let pdu) in toPeripheral { toCentral += try other.receive(pdu, now: .zero) }
      try #require(!toPeripheral.isEmpty || !toCentral.isEmpty || pairing.isEncrypting)
    }
    return (pairing, other)
  }

  /// A USB controller's event and its data race; what comes long before the event has come in plain text.
  @Test(arguments: [0, 5, 8, 20]) func keysBeforeTheEventOfEncryptionAreKeptForAMoment(_ milliseconds: Int) throws {
    var (pairing, other) = try agreed()
    for case .send(let pdu) in try other.encrypted(now: .zero) {
      let early = try pairing.receive(pdu, now: .zero)
      #expect(early == [])
    }
    let event = Instant.zero.advanced(by: .milliseconds(milliseconds))
    guard milliseconds < 8 else {
      #expect(throws: PairingFailureReason.unspecified) { try pairing.encrypted(now: event) }
      return
    }
    let last = try pairing.encrypted(now: event)
    let bond = last.compactMap { if case .completed(let bond) = $0 { bond } else { nil } }.first
    #expect(bond?.longTermKeys.count == 1)
    // Packets other than keys are not kept.
    #expect(throws: PairingFailureReason.unspecified) { try other.receive(.pairingRandom(.zero), now: .zero) }
  }

  /// Legacy pairing: the key of an injector would encrypt all later links.
  @Test func keysInPlainTextEndTheLink() {
    let link = SMPLink(isSecure: false)
    link.central.isEncryptionHeld = true
    link.raise()
    link.receive(.encryptionInformation(Self.key), at: .central)
    link.pass(.milliseconds(20))
    let actions = link.central.manager.encrypted(now: link.now)
    #expect(actions == [.send(.pairingFailed(.unspecified)), .failed(.ours(.unspecified)), .disconnect])
    #expect(link.central.manager.security == .none)
  }

  /// The controller does not encrypt before it has asked for the key.
  @Test func keysBeforeTheControllerHasTheKeyAreRefused() throws {
    let link = SMPLink(isSecure: false)
    // The initiator sends keys in place of its last packet before encryption.
    link.relay = { role, pdu in
      guard role == .central, pdu.code == .pairingRandom else { return [pdu.encoded] }
      return [pdu.encoded, SMPPDU.signingInformation(Self.key).encoded]
    }
    link.central.isEncryptionHeld = true
    link.raise()
    #expect(link.peripheral.failures == [.ours(.unspecified)])
    #expect(link.peripheral.paired.isEmpty)
  }

  /// A device that hands out octets which are not part of the key.
  @Test func shortKeysAreKeptWithoutTheOctetsThatDoNotCount() throws {
    let link = SMPLink(isSecure: false)
    link.peripheral.terms.maximumKeySize = 7
    let whole = link.peripheral.terms.secrets.longTermKey.value
    link.relay = { role, pdu in
      guard role == .peripheral, pdu.code == .encryptionInformation else { return [pdu.encoded] }
      return [SMPPDU.encryptionInformation(whole).encoded]
    }
    link.raise()
    let bond = try #require(link.central.bondMade)
    let key = try #require(bond.longTermKeys.first { $0.role == .central })
    #expect(key.value == whole.truncated(to: 7).littleEndian && key.size == 7)
  }
}
