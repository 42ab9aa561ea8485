import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

/// Requests for security, time, and pairings over links that are encrypted. The names are from the SIG's test suite for
/// the Security Manager (SM.TS).
@Suite struct SecurityConformanceTests {
  private static let roles = [LinkRole.central, .peripheral]
  private let justWorks = (
    features: "0300 01 10 00 00", request: "01 0300 01 10 05 07", response: "02 0300 01 10 00 00"
  )

  private func begin(_ far: SMPTester) throws {
    try far.begin(justWorks.features, justWorks.request, justWorks.response)
  }

  private func bond(_ far: SMPTester, isAuthenticated: Bool = false) -> Bond {
    var bond = Bond(local: far.terms.identity, peer: SMPLink.peripheralAddress)
    bond.add(
      LongTermKey(
        value: Key128(5).littleEndian, size: 16, diversifier: 0, random: 0, isAuthenticated: isAuthenticated,
        isSecureConnections: true, role: far.role))
    return bond
  }

  // MARK: - Requests for security

  @Test("SIP/BV-02: the peripheral asks for security, and is paired with") func securityRequest() throws {
    let far = try SMPTester(.central)
    try far.exchange("0b 01", justWorks.request)
    // Further ones change nothing.
    for _ in 0..<3 { try far.exchange("0b 05") }
    try far.send("02" + justWorks.features)
    far.encrypt(try far.authenticate(.zero))
    #expect(far.paired == [nil] && far.manager.security.level == 2)
  }

  @Test("SIP/BV-02: a central that pairs with nobody says so") func refusedSecurityRequest() throws {
    let far = try SMPTester(.central)
    far.refusal = .pairingNotSupported
    try far.exchange("0b 01", "05 05")
    #expect(far.actions == [] && !far.manager.isPairing)
  }

  @Test("SIP/BV-01, PIS/BV-01: we ask for security, and the central pairs") func ownSecurityRequest() throws {
    let far = try SMPTester(.peripheral)
    far.raise()
    far.expect("0b 01")
    // One request is enough.
    far.raise()
    far.expect()
    try begin(far)
    far.encrypt(try far.authenticate(.zero))
    #expect(far.paired == [nil] && far.failures == [])
  }

  @Test("SIP/BV-01: the central refuses") func ownSecurityRequestIsRefused() throws {
    let far = try SMPTester(.peripheral)
    far.raise()
    far.expect("0b 01")
    try far.exchange("05 05")
    #expect(far.failures == [.theirs(.pairingNotSupported)] && far.manager.deadline == nil)
  }

  @Test("SIE/BV-01, PIS/BV-02: we ask for security, and the central encrypts with the keys of the bond")
  func encryptionOnRequest() throws {
    let far = try SMPTester(.peripheral)
    far.bond = bond(far)
    far.raise()
    far.expect("0b 01")
    far.encrypt(Key128(5))
    far.expect()
    #expect(far.actions == [.secured(LinkSecurity(level: 2, keySize: 16))] && far.manager.deadline == nil)
  }

  @Test("the peripheral asks for security, and the bond gives it") func bondOnRequest() throws {
    let far = try SMPTester(.central)
    far.bond = bond(far)
    try far.exchange("0b 01")
    far.encrypt(Key128(5))
    // The link has the level.
    try far.exchange("0b 01")
    #expect(far.actions.count == 2 && far.manager.security.level == 2)
    // More than the bond gives, or any other one can.
    try far.exchange("0b 05", "05 03")
    far.terms.capability = .displayYesNo
    try far.exchange("0b 05", "01 0100 15 10 05 07")
  }

  // MARK: - Time

  /// The last step of the other side before it falls silent.
  private func silence(_ far: SMPTester, after step: Int) throws {
    if step == 0, far.role == .central {
      far.raise()
    } else {
      try begin(far)
    }
    guard step > 1 else { return }
    try far.send(try far.confirm(.zero, far.farNonce))
    // The link is not encrypted then.
    if step > 2 { try far.send("04" + far.hex(far.farNonce)) }
  }

  @Test("PROT/BV-01, PROT/BV-02: the other side falls silent", arguments: roles, 0...2)
  func timeout(_ role: LinkRole, _ step: Int) throws {
    let far = try SMPTester(role)
    try silence(far, after: step)
    far.pass(.milliseconds(29_999))
    #expect(far.failures == [] && far.manager.isPairing)
    far.pass(.milliseconds(1))
    #expect(far.failures == [.timeout] && far.actions.last == .disconnect)
    try expectClosed(far, justWorks.features)
  }

  @Test("PROT/BV-01: the link is not encrypted, though the key is agreed on") func noEncryption() throws {
    let far = try SMPTester(.central)
    try silence(far, after: 3)
    far.pass(.seconds(30))
    #expect(far.failures == [.timeout] && far.actions.last == .disconnect)
    try expectClosed(far, justWorks.features)
  }

  /// Nothing of the Security Manager follows on the link.
  private func expectClosed(_ far: SMPTester, _ features: String) throws {
    _ = far.take()
    for packet in ["01" + features, "02" + features, "0b 01", "05 08"] { try far.exchange(packet) }
    far.raise()
    far.expect()
    #expect(far.failures == [.timeout, .timeout] && far.manager.deadline == nil)
  }

  // MARK: - Encrypted links

  /// A side that has paired without authentication.
  private func encrypted(_ role: LinkRole) throws -> SMPTester {
    let far = try SMPTester(role, isSecure: true)
    try far.begin("0300 09 10 00 00", "01 0300 09 10 05 07", "02 0300 09 10 00 00")
    far.encrypt(try far.authenticate())
    #expect(far.manager.security.level == 2)
    // Numbers can be compared from now on.
    far.terms.capability = .displayYesNo
    far.terms.secrets.keyPair = P256KeyPair()
    try far.begin("0100 0d 10 00 00", "01 0100 1d 10 05 07", "02 0100 1d 10 00 00")
    return far
  }

  @Test("a pairing over an encrypted link raises its level", arguments: roles) func again(_ role: LinkRole) throws {
    let far = try encrypted(role)
    far.encrypt(try far.authenticate())
    #expect(far.manager.security == LinkSecurity(level: 4, keySize: 16))
    #expect(far.paired.count == 2 && far.failures == [])
  }

  @Test("a pairing over an encrypted link that fails leaves the link as it was", arguments: roles)
  func againInVain(_ role: LinkRole) throws {
    let far = try encrypted(role)
    if role == .central { far.expect("0c" + Hex.encode(far.own.littleEndian)) }
    // A point beside the curve.
    var octets = far.pair.publicKey.littleEndian
    octets[40] ^= 1
    try far.exchange("0c" + Hex.encode(octets), "05 0a")
    #expect(far.failures == [.ours(.invalidParameters)] && far.paired.count == 1)
    #expect(far.manager.security.level == 2 && far.actions.last != .disconnect)
  }

  @Test("during a pairing over an encrypted link the bond's key is not given") func keyRequestDuringAPairing() throws {
    let far = try encrypted(.peripheral)
    let key = try #require((far.paired.first ?? nil)?.longTermKeys.first)
    let bond = far.paired.first ?? nil
    #expect(
      far.manager.keyRequested(random: key.random, diversifier: key.diversifier, bond: bond)
        == [.replyToKeyRequest(nil)])
    // The pairing continues.
    far.encrypt(try far.authenticate())
    #expect(far.manager.security.level == 4)
  }
}
