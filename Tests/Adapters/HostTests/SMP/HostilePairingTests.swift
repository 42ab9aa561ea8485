import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

/// Devices that misbehave. Names are of attacks that were published, or of the SIG's test cases.
@Suite struct HostilePairingTests {
  /// Replaces packets of a side.
  private func replace(
    _ link: SMPLink, of role: LinkRole, _ code: SMPPDU.Code, by other: @escaping (SMPPDU) -> [[UInt8]]
  ) {
    link.relay = { sender, pdu in sender == role && pdu.code == code ? other(pdu) : [pdu.encoded] }
  }

  private func expectFailure(_ link: SMPLink, at role: LinkRole, _ reason: PairingFailureReason) {
    let side = link.side(role)
    #expect(side.failures == [.ours(reason)])
    #expect(side.paired.isEmpty && side.manager.security == .none)
    #expect(side.sent.last == .pairingFailed(reason))
    #expect(!side.manager.isPairing && side.manager.deadline == nil)
  }

  /// CVE-2020-26558: the public key is sent back, perhaps with the opposite sign.
  @Test(arguments: [LinkRole.central, .peripheral], [true, false])
  func ownPublicKey(_ victim: LinkRole, _ isNegated: Bool) {
    let link = SMPLink(.keyboard, .keyboard)
    let own = link.side(victim).terms.secrets.keyPair.publicKey
    replace(link, of: victim.other, .pairingPublicKey) { _ in
      var octets = own.littleEndian
      // The field's prime minus Y.
      if isNegated, let negated = Self.negated(own) { octets = negated.littleEndian }
      return [[0x0C] + octets]
    }
    link.raise()
    expectFailure(link, at: victim, .invalidParameters)
  }

  private static func negated(_ key: P256PublicKey) -> P256PublicKey? {
    let prime: [UInt8] =
      [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 1] + Array(repeating: 0, count: 12) + Array(repeating: 0xFF, count: 12)
    var (borrow, y) = (0, [UInt8](repeating: 0, count: 32))
    for index in (0..<32).reversed() {
      let difference = Int(prime[index]) - Int(key.y[index]) - borrow
      borrow = difference < 0 ? 1 : 0
      y[index] = UInt8(truncatingIfNeeded: difference)
    }
    return P256PublicKey(x: key.x, y: y)
  }

  /// CVE-2018-5383, invalid curve: Y of zero, a point beside the curve, and zeros.
  @Test(arguments: [LinkRole.central, .peripheral], [0, 1, 2])
  func invalidPublicKey(_ victim: LinkRole, _ kind: Int) {
    let link = SMPLink()
    replace(link, of: victim.other, .pairingPublicKey) { pdu in
      var octets = pdu.encoded
      switch kind {
      case 0: octets.replaceSubrange(33..<65, with: Array(repeating: 0, count: 32))
      case 1: octets[40] ^= 1
      default: octets.replaceSubrange(1..<65, with: Array(repeating: 0, count: 64))
      }
      return [octets]
    }
    link.raise()
    expectFailure(link, at: victim, .invalidParameters)
  }

  /// A sniffer's key; its private key is printed in the specification.
  @Test(arguments: [LinkRole.central, .peripheral]) func debugKey(_ victim: LinkRole) throws {
    let secret = try #require(Hex.decode("3f49f6d4a3c55f3874c9b3e3d2103f504aff607beb40b7995899b8a6cd3c1abd"))
    let pair = try #require(P256KeyPair(privateKey: secret))
    #expect(pair.publicKey.x == P256PublicKey.debugX)
    let link = SMPLink()
    link.side(victim.other).terms.secrets.keyPair = pair
    link.raise()
    expectFailure(link, at: victim, .invalidParameters)
  }

  /// Legacy values that are sent back pass the check of an implementation that does not look.
  @Test func reflectedConfirm() {
    let link = SMPLink(.keyboard, .keyboard, isSecure: false)
    var confirm: [UInt8] = []
    link.relay = { sender, pdu in
      if sender == .central, pdu.code == .pairingConfirm { confirm = pdu.encoded }
      return sender == .peripheral && pdu.code == .pairingConfirm ? [confirm] : [pdu.encoded]
    }
    link.raise()
    expectFailure(link, at: .central, .confirmValueFailed)
  }

  /// SM/CEN/PROT/BV-01 and the like: one bit of a value differs from the committed one.
  @Test(arguments: [true, false], [LinkRole.central, .peripheral])
  func alteredValues(_ isSecure: Bool, _ victim: LinkRole) {
    var codes: [(SMPPDU.Code, PairingFailureReason)] = [(.pairingRandom, .confirmValueFailed)]
    if isSecure { codes.append((.pairingDHKeyCheck, .dhKeyCheckFailed)) }
    for (code, reason) in codes {
      let link = SMPLink(.keyboard, .display, isSecure: isSecure)
      replace(link, of: victim.other, code) { pdu in
        var octets = pdu.encoded
        octets[5] ^= 0x10
        return [octets]
      }
      link.raise()
      expectFailure(link, at: victim, reason)
    }
  }

  /// A person in the middle lowers the features: the checks of LE Secure Connections are made of them.
  @Test func alteredFeatures() {
    let link = SMPLink(.displayYesNo, .displayYesNo)
    replace(link, of: .central, .pairingRequest) { pdu in
      var octets = pdu.encoded
      // NoInputNoOutput: the peripheral compares nothing.
      octets[1] = 3
      return [octets]
    }
    link.raise()
    #expect(link.central.paired.isEmpty && link.peripheral.paired.isEmpty)
    #expect((link.central.failures + link.peripheral.failures).contains(.ours(.dhKeyCheckFailed)))
  }

  /// KNOB: a short key.
  @Test(arguments: [UInt8(0), 1, 6]) func shortKeys(_ size: UInt8) {
    for victim in [LinkRole.central, .peripheral] {
      let link = SMPLink()
      let code: SMPPDU.Code = victim == .central ? .pairingResponse : .pairingRequest
      replace(link, of: victim.other, code) { pdu in
        var octets = pdu.encoded
        octets[4] = size
        return [octets]
      }
      link.raise()
      expectFailure(link, at: victim, .encryptionKeySize)
    }
  }

  /// SweynTooth, zero LTK installation (CVE-2019-19194): the link is encrypted before a key is agreed on.
  @Test(arguments: [true, false]) func encryptionBeforeAKeyIsAgreedOn(_ isSecure: Bool) throws {
    let link = SMPLink(.keyboard, .display, isSecure: isSecure)
    link.central.answer = { _ in nil }
    link.raise()
    #expect(link.peripheral.manager.isPairing)
    let actions = link.peripheral.manager.keyRequested(random: 0, diversifier: 0, bond: nil)
    #expect(actions == [.replyToKeyRequest(nil)])
    // A controller that encrypts all the same makes nothing of it.
    #expect(link.peripheral.manager.encrypted(now: link.now) == [])
    #expect(link.peripheral.manager.security == .none)
    link.answer(.passkey(link.peripheral.terms.secrets.passkey), at: .central)
    #expect(link.peripheral.paired.count == 1)
  }

  /// The short term key has no name.
  @Test func aNamedKeyDuringPairing() throws {
    let link = SMPLink(isSecure: false)
    var actions: [SecurityAction] = []
    replace(link, of: .peripheral, .pairingRandom) { [unowned link] _ in
      actions = link.peripheral.manager.keyRequested(random: 1, diversifier: 1, bond: nil)
      return []
    }
    link.raise()
    #expect(actions == [.replyToKeyRequest(nil)])
  }

  /// A key of zeros is handed out.
  @Test(arguments: [LinkRole.central, .peripheral]) func zeroLongTermKey(_ victim: LinkRole) {
    let link = SMPLink(isSecure: false)
    link.side(victim.other).terms.secrets.longTermKey.value = .zero
    link.raise()
    #expect(link.side(victim).failures == [.ours(.keyRejected)])
    #expect(link.side(victim).paired.isEmpty)
    expectClosed(link.side(victim), .ours(.keyRejected))
  }

  /// The link is encrypted, and the peer is unknown.
  private func expectClosed(_ side: SMPLink.Side, _ failure: PairingFailure) {
    #expect(side.actions.suffix(3) == [.secured(.none), .failed(failure), .disconnect])
    #expect(side.manager.security == .none)
    let permission = PairingPermission.granted(side.terms)
    #expect(side.manager.receive([0x0B, 0x01], bond: nil, permission, now: .zero) == [])
    #expect(side.manager.raise(bond: nil, [], side.terms, now: .zero) == [.failed(failure)])
  }

  @Test func aFailureThatTheDeviceTellsAfterEncryptionEndsTheLink() {
    let link = SMPLink(isSecure: false)
    replace(link, of: .peripheral, .centralIdentification) { _ in [[0x05, 0x08]] }
    link.raise()
    expectClosed(link.central, .theirs(.unspecified))
  }

  /// The claimant has a private address, or that of the other device.
  @Test(arguments: [LinkRole.central, .peripheral], [true, false])
  func anIdentityThatAnotherLinkHas(_ victim: LinkRole, _ isPrivate: Bool) {
    let hidden = DeviceAddress(value: 0x4A12_3456_789A, kind: .random)
    let link = SMPLink(
      centralAddress: isPrivate && victim == .peripheral ? hidden : nil,
      peripheralAddress: isPrivate && victim == .central ? hidden : nil)
    let claimant = link.side(victim.other)
    claimant.terms.identityResolvingKey = Key128(7)
    link.side(victim).manager.otherIdentities = [claimant.terms.identity]
    link.raise()
    #expect(link.side(victim).paired.isEmpty)
    #expect(link.side(victim).sent.last == .pairingFailed(.keyRejected))
    expectClosed(link.side(victim), .ours(.keyRejected))
  }

  /// The controllers have encrypted with the key of the bond, and the event arrived after the Pairing Request: the link
  /// is not encrypted with the key of the pairing, and no keys are sent over it.
  @Test(arguments: [true, false]) func aLateEventOfTheBondsKeyIsNotThatOfThePairing(_ succeeds: Bool) throws {
    let first = SMPLink()
    first.raise()
    let bond = try #require(first.peripheral.bondMade)
    let key = try #require(bond.longTermKeys.first)
    let link = SMPLink()
    #expect(
      link.peripheral.manager.keyRequested(random: key.random, diversifier: key.diversifier, bond: bond).count == 1)
    link.central.isEncryptionHeld = true
    link.raise()
    let sent = link.peripheral.sent.count
    let actions =
      succeeds ? link.peripheral.manager.encrypted(now: link.now) : link.peripheral.manager.encryptionFailed(6)
    #expect(actions == (succeeds ? [.secured(LinkSecurity(level: 2, keySize: 16))] : []))
    #expect(link.peripheral.sent.count == sent)
    #expect(link.peripheral.manager.isPairing)
  }

  @Test func aBondWithAKeyOfZerosIsNotUsed() throws {
    let link = SMPLink()
    var bond = Bond(local: SMPLink.centralAddress, peer: SMPLink.peripheralAddress)
    bond.add(
      LongTermKey(
        value: Key128.zero.littleEndian, size: 16, diversifier: 0, random: 0, isAuthenticated: true,
        isSecureConnections: true, role: .central))
    #expect(
      link.peripheral.manager.keyRequested(random: 0, diversifier: 0, bond: bond)
        == [.replyToKeyRequest(nil), .keysLost(theirs: false)])
    link.central.bond = bond
    link.raise()
    #expect(link.central.failures == [.ours(.keyRejected)])
  }

  /// BLURtooth: keys for BR/EDR are neither offered nor accepted.
  @Test func crossTransportKeys() throws {
    let link = SMPLink(.displayYesNo, .displayYesNo)
    replace(link, of: .central, .pairingRequest) { pdu in
      var octets = pdu.encoded
      octets[5] |= 0x08
      octets[6] |= 0x08
      return [octets]
    }
    link.raise()
    guard case .pairingResponse(let response) = link.peripheral.sent.first else { return #expect(Bool(false)) }
    #expect(!response.initiatorKeys.contains(.link) && !response.responderKeys.contains(.link))
    guard case .pairingRequest(let request) = link.central.sent.first else { return #expect(Bool(false)) }
    #expect(!request.initiatorKeys.contains(.link) && !request.responderKeys.contains(.link))
  }

  /// The responder names more keys than were offered, or all that it knows and more: both sides' keys count, and the
  /// checks are computed from the octets as sent.
  @Test(arguments: [true, false], [UInt8(0x0F), 0xFF]) func moreKeysThanOffered(_ isSecure: Bool, _ keys: UInt8) throws
  {
    let far = try SMPTester(.central, isSecure: isSecure)
    let features = isSecure ? "0300 09 10" : "0300 01 10"
    let request = isSecure ? "01 0300 09 10 05 07" : "01 0300 01 10 05 07"
    try far.begin(features + Hex.encode([keys, keys]), request, "")
    let key = try isSecure ? far.authenticate() : far.authenticate(.zero)
    far.encrypt(key)
    if !isSecure { for packet in ["06" + far.hex(Key128(9)), "07 0100 0200000000000000"] { try far.send(packet) } }
    for packet in ["08" + far.hex(Key128(8)), "09 01 c1cf2d7013c7"] { try far.send(packet) }
    #expect(far.paired.isEmpty, "one is still to come")
    try far.send("0a" + far.hex(Key128(7)))
    let bond = try #require(far.paired.first ?? nil)
    #expect(bond.longTermKeys.contains { $0.value == (isSecure ? key : Key128(9)).littleEndian })
    #expect(far.failures == [])
  }

  /// SweynTooth, sequential packets: each packet before its turn, at each point of a pairing.
  @Test(arguments: [true, false], [LinkRole.central, .peripheral])
  func packetsBeforeTheirTurn(_ isSecure: Bool, _ victim: LinkRole) {
    let value = Key128(5)
    let packets: [SMPPDU] = [
      .pairingConfirm(value), .pairingRandom(value), .pairingDHKeyCheck(value), .encryptionInformation(value),
      .centralIdentification(diversifier: 1, random: 1), .identityInformation(value),
      .identityAddressInformation(SMPLink.centralAddress), .signingInformation(value),
      .pairingPublicKey(P256KeyPair().publicKey), .keypressNotification(.completed),
    ]
    for packet in packets {
      // As the first packet of the other side, and as the second.
      for turn in 1...2 {
        let link = SMPLink(isSecure: isSecure)
        var count = 0
        link.relay = { sender, pdu in
          guard sender == victim.other else { return [pdu.encoded] }
          count += 1
          return [count == turn ? packet.encoded : pdu.encoded]
        }
        link.raise()
        #expect(link.side(victim).paired.isEmpty, "\(packet.code) as number \(turn)")
        #expect(link.side(victim).manager.security == .none)
      }
    }
  }

  @Test func outsideOfAPairingPacketsAreIgnored() {
    let link = SMPLink()
    let value = Key128(5)
    for pdu in [
      SMPPDU.pairingConfirm(value), .pairingRandom(value), .pairingDHKeyCheck(value), .encryptionInformation(value),
      .identityInformation(value), .signingInformation(value), .keypressNotification(.started),
      .pairingFailed(.unspecified),
    ] {
      link.receive(pdu, at: .central)
      link.receive(pdu, at: .peripheral)
    }
    for octets in [[], [0x00], [0x0F, 1], [0xFF], [0x03, 1], [0x0C]] as [[UInt8]] {
      link.receive(octets, at: .central)
      link.receive(octets, at: .peripheral)
    }
    #expect(link.central.sent == [] && link.peripheral.sent == [])
    #expect(link.central.actions == [] && link.peripheral.actions == [])
  }

  @Test func packetsOfTheOtherRoleAreNotSupported() throws {
    let link = SMPLink()
    link.relay = { _, _ in [] }
    link.receive(.pairingRequest(PairingFeatures(requesting: link.central.terms)), at: .central)
    link.receive(.securityRequest(.bonding), at: .peripheral)
    #expect(link.central.sent == [.pairingFailed(.commandNotSupported)])
    #expect(link.peripheral.sent == [.pairingFailed(.commandNotSupported)])
  }

  /// SM/PER/PROT/BI: wrong lengths and reserved values in the first packet.
  @Test(
    arguments: [
      [0x01], [0x01, 0x03, 0x00, 0x01, 0x10, 0x00], [0x01, 0x05, 0x00, 0x01, 0x10, 0x00, 0x00],
      [0x01, 0x03, 0x02, 0x01, 0x10, 0x00, 0x00], [0x01, 0x03, 0x00, 0x01, 0x11, 0x00, 0x00],
      [0x01, 0x03, 0x00, 0x01, 0x10, 0x00, 0x00, 0x00],
    ] as [[UInt8]]) func malformedRequests(_ octets: [UInt8])
  {
    let link = SMPLink()
    link.relay = { _, _ in [] }
    link.receive(octets, at: .peripheral)
    #expect(link.peripheral.sent == [.pairingFailed(.invalidParameters)])
    #expect(!link.peripheral.manager.isPairing)
  }

  @Test func malformedPacketsEndAPairing() {
    for code in [UInt8(0x03), 0x04, 0x06, 0x0C, 0x0D] {
      let link = SMPLink()
      replace(link, of: .peripheral, .pairingPublicKey) { _ in [[code, 1]] }
      link.raise()
      expectFailure(link, at: .central, .invalidParameters)
    }
  }

  @Test func aSecondRequestEndsThePairing() {
    let link = SMPLink(.keyboard, .display)
    link.central.answer = { _ in nil }
    link.raise()
    link.receive(.pairingRequest(PairingFeatures(requesting: link.central.terms)), at: .peripheral)
    #expect(link.peripheral.failures == [.ours(.unspecified)])
    #expect(link.central.failures == [.theirs(.unspecified)])
  }

  /// A device that authenticates over another link's addresses fails: the checks are computed from the connection's
  /// addresses.
  @Test(arguments: [true, false]) func otherAddresses(_ isSecure: Bool) {
    let link = SMPLink(isSecure: isSecure)
    link.central.manager = SecurityManager(
      role: .central, local: SMPLink.centralAddress, peer: DeviceAddress(value: 1, kind: .public))
    link.raise()
    #expect(link.central.paired.isEmpty && link.peripheral.paired.isEmpty)
  }
}
