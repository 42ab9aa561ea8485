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

  /// The identity of another device is not accepted from one that connected with its identity address.
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

  /// A pairing with a key at both controllers, as central, and the pairing of the other side.
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
      for case .send(let pdu) in toCentral { toPeripheral += try pairing.receive(pdu, arrived: .zero) }
      toCentral = []
      for case .send(let pdu) in toPeripheral { toCentral += try other.receive(pdu, arrived: .zero) }
      try #require(!toPeripheral.isEmpty || !toCentral.isEmpty || pairing.isEncrypting)
    }
    return (pairing, other)
  }

  /// A USB controller's event and its data race; data long before the event was received in plain text.
  @Test(arguments: [0, 5, 8, 20]) func keysBeforeTheEventOfEncryptionAreKeptForAMoment(_ milliseconds: Int) throws {
    var (pairing, other) = try agreed()
    for case .send(let pdu) in try other.encrypted(eventArrived: .zero) {
      let early = try pairing.receive(pdu, arrived: .zero)
      #expect(early == [])
    }
    let event = Instant.zero.advanced(by: .milliseconds(milliseconds))
    guard milliseconds < 8 else {
      #expect(throws: PairingFailureReason.unspecified) { try pairing.encrypted(eventArrived: event) }
      return
    }
    let last = try pairing.encrypted(eventArrived: event)
    let bond = last.compactMap { if case .completed(let bond) = $0 { bond } else { nil } }.first
    #expect(bond?.longTermKeys.count == 1)
    // Packets other than keys are not kept.
    #expect(throws: PairingFailureReason.unspecified) { try other.receive(.pairingRandom(.zero), arrived: .zero) }
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

  /// A process that was busy, or stopped, in between looks at them later than they arrived.
  @Test func keysCountByTheTimeOfTheirArrival() {
    for lead in [5, 20] {
      let link = SMPLink(isSecure: false)
      link.central.isEncryptionHeld = true
      link.raise()
      let arrival = link.now
      link.pass(.seconds(3))
      let key = SMPPDU.encryptionInformation(Self.key).encoded
      let permission = PairingPermission.granted(link.central.terms)
      let early = link.central.manager.receive(key, bond: nil, permission, arrived: arrival, now: link.now)
      #expect(early == [])
      link.pass(.seconds(3))
      let event = arrival.advanced(by: .milliseconds(lead))
      let actions = link.central.manager.encrypted(eventArrived: event, now: link.now)
      #expect(actions.contains(.disconnect) == (lead == 20))
    }
  }

  /// Each side's keys arrive in the opposite order, with others that were not promised.
  @Test(arguments: [true, false], [LinkRole.central, .peripheral])
  func keysAreTakenInEachOrder(_ isSecure: Bool, _ strange: LinkRole) throws {
    let link = SMPLink(isSecure: isSecure)
    link.central.terms.identityResolvingKey = Self.key
    link.peripheral.terms.identityResolvingKey = Key128(7)
    let other = LongTermKeyPackets(value: Key128(0xBAD))
    var held: [[UInt8]] = []
    link.relay = { role, pdu in
      guard role == strange, pdu.isKey else { return [pdu.encoded] }
      held.insert(pdu.encoded, at: 0)
      guard pdu.code == .signingInformation else { return [] }
      defer { held = [] }
      // Keys that were not promised do not count, nor a key that arrived before.
      return (isSecure ? other.all : []) + held.prefix(1) + [SMPPDU.signingInformation(Key128(0xBAD)).encoded]
        + held.dropFirst()
    }
    link.raise()
    let (near, far) = (link.side(strange.other), link.side(strange))
    #expect(link.central.failures == [] && link.peripheral.failures == [])
    let bond = try #require(near.bondMade)
    #expect(bond.identityResolvingKey == far.terms.identityResolvingKey?.littleEndian)
    #expect(bond.signatureKeys.first { !$0.isOurs }?.value == far.terms.secrets.signatureKey.littleEndian)
    if isSecure {
      #expect(bond.longTermKeys.map(\.value) == link.side(strange).bondMade?.longTermKeys.map(\.value))
    } else {
      let key = try #require(bond.longTermKeys.first { $0.role == .central })
      let handedOut = far.terms.secrets.longTermKey
      #expect(key.value == handedOut.value.littleEndian)
      #expect(key.random == handedOut.random && key.diversifier == handedOut.diversifier)
    }
  }

  /// Keys for encryption, which LE Secure Connections does not hand out.
  private struct LongTermKeyPackets {
    let value: Key128
    var all: [[UInt8]] {
      [SMPPDU.encryptionInformation(value), .centralIdentification(diversifier: 1, random: 1)].map(\.encoded)
    }
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
