import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

@Suite struct SecurityManagerTests {
  /// A link of two devices that have paired before.
  private func bonded(isSecure: Bool = true, _ capability: PairingCapability = .none) throws -> SMPLink {
    let first = SMPLink(capability, capability, isSecure: isSecure)
    first.raise()
    let link = SMPLink(capability, capability, isSecure: isSecure)
    link.central.bond = first.central.bondMade
    link.peripheral.bond = first.peripheral.bondMade
    try #require(link.central.bond != nil && link.peripheral.bond != nil)
    return link
  }

  @Test(arguments: [true, false], [LinkRole.central, .peripheral])
  func theKeysOfABondEncryptTheNextLink(_ isSecure: Bool, _ role: LinkRole) throws {
    let link = try bonded(isSecure: isSecure)
    link.raise(role)
    let security = LinkSecurity(level: 2, keySize: 16)
    #expect(link.central.manager.security == security && link.peripheral.manager.security == security)
    #expect(link.central.sent == [] && link.peripheral.sent.count == (role == .central ? 0 : 1))
    #expect(link.central.failures == [] && link.peripheral.failures == [])
    #expect(link.peripheral.manager.deadline == nil)
  }

  /// A legacy key of the other direction has another name and another value.
  @Test func legacyKeysAreOfOneRole() throws {
    let link = try bonded(isSecure: false)
    let bond = try #require(link.central.bond)
    let key = try #require(bond.longTermKeys.first { $0.role == .peripheral })
    let actions = link.peripheral.manager.keyRequested(
      random: key.random, diversifier: key.diversifier, bond: link.peripheral.bond)
    #expect(actions == [.replyToKeyRequest(nil), .keysLost(theirs: false)])
  }

  @Test func aSideWithoutKeysIsNamed() throws {
    let link = try bonded()
    link.peripheral.bond = nil
    link.raise()
    #expect(link.peripheral.actions == [.replyToKeyRequest(nil), .keysLost(theirs: false)])
    #expect(link.central.actions.suffix(2) == [.keysLost(theirs: true), .failed(.encryption(0x06))])
    #expect(link.central.manager.security == .none)
  }

  /// Bonds of other programs may have all octets of a short key.
  @Test(arguments: [LinkRole.central, .peripheral]) func onlyTheOctetsOfAShortKeyCount(_ role: LinkRole) {
    let link = SMPLink()
    var generator = SystemRandomNumberGenerator()
    let value = Key128.random(using: &generator)
    var bond = Bond(local: SMPLink.centralAddress, peer: SMPLink.peripheralAddress)
    bond.add(
      LongTermKey(
        value: value.littleEndian, size: 7, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: role))
    (link.central.bond, link.peripheral.bond) = (bond, bond)
    link.raise()
    let short = value.truncated(to: 7)
    #expect(link.central.actions.first == .encrypt(EncryptionKey(value: short)))
    #expect(link.peripheral.actions.first == .replyToKeyRequest(short))
  }

  /// The request waits, whether or not the protection changes.
  @Test func theEndOfARequestIsTold() throws {
    let link = try bonded()
    link.raise()
    link.raise(.peripheral)
    #expect(link.peripheral.manager.deadline != nil, "the central does nothing: the link has the level")
    let key = try #require(link.peripheral.bond?.longTermKeys.first)
    _ = link.peripheral.manager.keyRequested(
      random: key.random, diversifier: key.diversifier, bond: link.peripheral.bond)
    #expect(link.peripheral.manager.encrypted(now: link.now) == [.secured(LinkSecurity(level: 2, keySize: 16))])
    #expect(link.peripheral.manager.deadline == nil)
  }

  @Test func aPeripheralAsksForSecurityAndTheCentralPairs() {
    let link = SMPLink(.displayYesNo, .displayYesNo)
    link.peripheral.terms.isOwn = true
    link.raise(.peripheral)
    #expect(link.peripheral.sent.first == .securityRequest([.bonding, .mitm, .secureConnections, .keypress]))
    #expect(link.central.manager.security.level == 4)
    #expect(link.peripheral.paired.count == 1)
  }

  @Test func aRequestForSecurityNeedsConsentWhereNothingElseIsAsked() {
    let link = SMPLink()
    link.central.terms.isOwn = false
    link.raise(.peripheral)
    #expect(link.central.questions == [.consent])
    #expect(link.central.paired.count == 1)
  }

  @Test func aCentralThatMayNotPairSaysSo() {
    let link = SMPLink()
    link.central.refusal = .pairingNotSupported
    link.raise(.peripheral)
    #expect(link.central.sent == [.pairingFailed(.pairingNotSupported)])
    #expect(link.central.actions == [])
    #expect(link.peripheral.failures == [.theirs(.pairingNotSupported)])
  }

  /// Level 4 needs a key of 16 octets (Core 5.4, Vol 3, Part C, 10.2.1).
  @Test(arguments: [7, 15, 16]) func aShortKeyDoesNotReachTheHighestLevel(_ size: Int) throws {
    let link = SMPLink(.displayYesNo, .displayYesNo)
    link.peripheral.terms.maximumKeySize = size
    link.raise()
    let security = LinkSecurity(level: size < 16 ? 3 : 4, keySize: size)
    #expect(link.central.manager.security == security && link.peripheral.manager.security == security)
    let bond = try #require(link.central.bondMade)
    #expect(bond.security == security)
    let next = SMPLink()
    (next.central.bond, next.peripheral.bond) = (bond, link.peripheral.bondMade)
    next.raise()
    #expect(next.central.manager.security == security && next.peripheral.manager.security == security)
  }

  /// Its device may want more, but can have it only of a new bond.
  @Test(arguments: [PairingFailureReason.pairingNotSupported, .repeatedAttempts, nil])
  func aKeyThatIsTooWeakIsUsedWhereNoBetterOneCanBeMade(_ refusal: PairingFailureReason?) throws {
    let link = try bonded()
    link.central.refusal = refusal
    link.receive(.securityRequest([.bonding, .mitm, .secureConnections]), at: .central)
    #expect(link.central.sent == [] && link.central.questions == [] && link.central.failures == [])
    #expect(link.central.manager.security == LinkSecurity(level: 2, keySize: 16))
    #expect(link.peripheral.manager.security == LinkSecurity(level: 2, keySize: 16))
    // A second request gets an answer: no higher protection is possible.
    link.receive(.securityRequest([.bonding, .mitm, .secureConnections]), at: .central)
    #expect(link.central.sent == [.pairingFailed(refusal ?? .authenticationRequirements)])
    #expect(link.central.manager.security == LinkSecurity(level: 2, keySize: 16))
  }

  @Test func aKeyThatIsTooWeakIsReplacedWhereABetterOneCanBeMade() throws {
    let link = try bonded(.displayYesNo)
    let weak = try bonded()
    (link.central.bond, link.peripheral.bond) = (weak.central.bond, weak.peripheral.bond)
    link.receive(.securityRequest([.bonding, .mitm, .secureConnections]), at: .central)
    #expect(link.central.bondMade?.security == LinkSecurity(level: 4, keySize: 16))
    #expect(!link.central.manager.hasFoundNoMeans)
  }

  @Test func aDeviceWithoutMeansOfAPersonIsTold() throws {
    let link = SMPLink(.displayYesNo)
    link.raise()
    #expect(link.central.paired.count == 1 && link.central.manager.hasFoundNoMeans)
  }

  @Test(arguments: [PairingFailureReason.pairingNotSupported, .repeatedAttempts])
  func aDeviceThatMayNotPairIsTold(_ reason: PairingFailureReason) {
    let link = SMPLink()
    link.peripheral.refusal = reason
    link.raise()
    #expect(link.peripheral.sent == [.pairingFailed(reason)])
    #expect(link.peripheral.actions == [])
    #expect(link.central.failures == [.theirs(reason)])
  }

  // MARK: - Time

  @Test func afterThirtySecondsNothingFollows() {
    let link = SMPLink(.keyboard, .display)
    link.central.answer = { _ in nil }
    link.raise()
    link.pass(.seconds(29))
    #expect(link.central.failures == [])
    link.pass(.seconds(1))
    #expect(link.central.failures == [.timeout] && link.peripheral.failures == [.timeout])
    #expect(link.central.actions.last == .disconnect && link.peripheral.actions.last == .disconnect)
    let sent = link.central.sent.count + link.peripheral.sent.count
    link.answer(.passkey(1), at: .central)
    link.receive(.pairingFailed(.unspecified), at: .central)
    link.receive([0x01, 0x03, 0x00, 0x01, 0x10, 0x00, 0x00], at: .peripheral)
    link.receive([0x0B, 0x01], at: .central)
    #expect(link.central.sent.count + link.peripheral.sent.count == sent)
    link.raise()
    #expect(link.central.failures == [.timeout, .timeout])
    #expect(link.central.manager.deadline == nil)
  }

  /// The link carries no data meanwhile, whoever has begun.
  @Test(arguments: [true, false], [LinkRole.central, .peripheral])
  func encryptionWithTheKeysOfABondMayTakeThirtySeconds(_ isSecure: Bool, _ role: LinkRole) throws {
    let link = try bonded(isSecure: isSecure)
    link.central.isEncryptionHeld = true
    link.raise(role)
    #expect(link.central.manager.isEncrypting)
    link.pass(.seconds(29))
    #expect(link.central.failures == [])
    link.pass(.seconds(1))
    #expect(link.central.failures == [.encryptionTimeout])
    #expect(link.central.manager.security == .none && link.central.manager.deadline == nil)
    #expect(link.central.manager.encrypted(now: link.now) == [], "the event comes too late")
    #expect(link.central.manager.security == .none)
  }

  /// Key Refresh: the link is encrypted with the keys of a bond again.
  @Test func anEncryptedLinkMayTakeThirtySecondsToRenewItsKey() throws {
    let link = try bonded()
    link.raise()
    link.central.isEncryptionHeld = true
    link.raise()
    link.pass(.seconds(30))
    #expect(link.central.actions.suffix(2) == [.failed(.encryptionTimeout), .secured(.none)])
  }

  /// Its data would count as encrypted. 0: the controller reports success, and that the link is not encrypted.
  @Test(arguments: [UInt8(0), 0x06, 0x3D], [LinkRole.central, .peripheral])
  func aLinkThatIsEncryptedNoLongerHasNoLevel(_ code: UInt8, _ role: LinkRole) throws {
    let link = try bonded()
    link.raise()
    #expect(link.side(role).manager.security.level == 2)
    #expect(link.side(role).manager.encryptionFailed(code) == [.failed(.encryption(code)), .secured(.none)])
    #expect(link.side(role).manager.encryptionFailed(code) == [])
  }

  @Test(arguments: [UInt8(0), 0x3D], [true, false])
  func aPairingOnALinkThatIsEncryptedNoLongerIsTheLast(_ code: UInt8, _ isAgreed: Bool) throws {
    let link = try bonded(.displayYesNo)
    let weak = try bonded()
    (link.central.bond, link.peripheral.bond) = (weak.central.bond, weak.peripheral.bond)
    link.raise()
    link.central.bond = nil
    link.central.isEncryptionHeld = true
    link.central.answer = { _ in isAgreed ? .accept : nil }
    link.raise()
    #expect(link.central.manager.isPairing)
    let actions = link.central.manager.encryptionFailed(code)
    #expect(actions == [.secured(.none), .failed(.encryption(code)), .disconnect])
  }

  @Test func packetsOfTheOtherSideDoNotStopTheTimer() {
    let link = SMPLink(.keyboard, .display)
    link.central.answer = { _ in nil }
    link.raise()
    for _ in 0..<29 {
      link.pass(.seconds(1))
      link.receive(.keypressNotification(.digitEntered), at: .peripheral)
    }
    link.pass(.seconds(1))
    #expect(link.peripheral.failures == [.timeout])
  }

  @Test func aRequestForSecurityThatIsIgnoredEnds() {
    let link = SMPLink()
    link.relay = { _, _ in [] }
    link.raise(.peripheral)
    link.pass(.seconds(30))
    #expect(link.peripheral.failures == [.timeout])
    // The pairing has not begun: the link may stay.
    #expect(!link.peripheral.actions.contains(.disconnect))
    link.relay = { [$1.encoded] }
    link.raise()
    #expect(link.peripheral.paired.count == 1)
  }

  // MARK: - Questions

  @Test func anAnswerToAnEarlierQuestionIsIgnored() {
    let link = SMPLink(.displayYesNo, .displayYesNo)
    link.central.answer = { _ in nil }
    link.raise()
    link.receive(.pairingFailed(.unspecified), at: .central)
    link.receive(.pairingFailed(.unspecified), at: .peripheral)
    link.raise()
    #expect(link.central.questions.count == 2)
    #expect(link.central.manager.answer(1, .accept, now: link.now) == [])
    link.answer(.accept, at: .central)
    #expect(link.central.paired.count == 1)
    #expect(link.central.manager.answer(2, .refuse, now: link.now) == [])
  }

  @Test func theOtherSideMayBeFasterThanThePerson() {
    for (central, peripheral) in [
      (PairingCapability.displayYesNo, PairingCapability.displayYesNo), (.display, .keyboard),
    ] {
      for isSecure in [true, false] {
        let link = SMPLink(central, peripheral, isSecure: isSecure)
        link.peripheral.answer = { _ in nil }
        link.raise()
        #expect(link.peripheral.paired.isEmpty)
        link.answer(central == .display ? .passkey(link.central.terms.secrets.passkey) : .accept, at: .peripheral)
        #expect(link.peripheral.paired.count == 1 && link.central.paired.count == 1)
      }
    }
  }

  @Test(arguments: [true, false], [LinkRole.central, .peripheral])
  func keypressesWhereNobodyTypesAreIgnored(_ isSecure: Bool, _ sender: LinkRole) {
    let link = SMPLink(isSecure: isSecure)
    link.relay = { side, pdu in
      side == sender ? [SMPPDU.keypressNotification(.started).encoded, pdu.encoded] : [pdu.encoded]
    }
    link.raise()
    #expect(link.central.paired.count == 1 && link.peripheral.paired.count == 1)
    #expect(link.central.failures == [] && link.peripheral.failures == [])
  }

  @Test func keypressesAreShown() {
    let link = SMPLink(.keyboard, .display)
    link.central.answer = { _ in nil }
    link.raise()
    for keypress in [Keypress.digitEntered, .digitEntered, .digitErased, .cleared, .digitErased, .completed] {
      link.receive(.keypressNotification(keypress), at: .peripheral)
    }
    let entered = link.peripheral.actions.compactMap { if case .show(_, let count) = $0 { count } else { nil } }
    #expect(entered == [0, 1, 2, 1, 0, 6])
    let before = link.peripheral.actions.count
    for _ in 0..<500 {
      link.receive(.keypressNotification(.cleared), at: .peripheral)
      link.receive(.keypressNotification(.digitEntered), at: .peripheral)
    }
    #expect(link.peripheral.actions.count - before < 100)
    #expect(link.peripheral.failures == [])
  }
}
