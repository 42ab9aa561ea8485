import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

/// Legacy pairing with a side that keeps to the rules or breaks them. The names are from the SIG's test suite for the
/// Security Manager (SM.TS), first the case with us as central, then as peripheral.
@Suite struct LegacyConformanceTests {
  private static let roles = [LinkRole.central, .peripheral]
  private let passkey = Key128(123_456)

  /// Neither side has a person.
  private func begin(_ far: SMPTester, _ features: String = "0300 01 10 00 00") throws {
    try far.begin(features, "01 0300 01 10 05 07", "02 0300 01 10 00 00")
  }

  /// A side that shows a passkey here, or accepts one.
  private func withPasskey(_ role: LinkRole, isTyped: Bool) throws -> SMPTester {
    let far = try SMPTester(role, isTyped ? .keyboard : .display)
    far.answer = nil
    let capability = isTyped ? "02" : "00"
    let features = (isTyped ? "00" : "02") + "00 05 10 00 00"
    try far.begin(features, "01 \(capability)00 15 10 05 07", "02 \(capability)00 15 10 00 00")
    return far
  }

  private func expectPaired(_ far: SMPTester, _ key: Key128, level: Int) {
    far.encrypt(key)
    far.expect()
    // Without a key for encryption nothing is kept.
    #expect(far.paired == [nil] && far.failures == [])
    #expect(far.manager.security.level == level)
  }

  @Test("JW/BV-05, JW/BV-02: Just Works", arguments: roles) func justWorks(_ role: LinkRole) throws {
    let far = try SMPTester(role)
    try begin(far)
    expectPaired(far, try far.authenticate(.zero), level: 2)
  }

  @Test("JW/BI-01, JW/BI-02: reserved bits change nothing", arguments: roles) func reserved(_ role: LinkRole) throws {
    let far = try SMPTester(role)
    try begin(far, "0300 e1 10 f0 f0")
    expectPaired(far, try far.authenticate(.zero), level: 2)
  }

  @Test("JW/BI-04, JW/BI-03: a random number that is not the one committed to", arguments: roles)
  func wrongConfirm(_ role: LinkRole) throws {
    let far = try SMPTester(role)
    try begin(far)
    let own = try far.confirm(.zero, far.ownNonce)
    if role == .central { far.expect(own) }
    try far.exchange(try far.confirm(.zero, far.farNonce), role == .central ? "04" + far.hex(far.ownNonce) : own)
    try far.send("04" + far.hex(Key128(1)))
    far.expectFailure(.confirmValueFailed)
  }

  @Test("PKE/BV-01, PKE/BV-02: the passkey is shown here", arguments: roles) func shown(_ role: LinkRole) throws {
    let far = try withPasskey(role, isTyped: false)
    #expect(far.actions.first == .show(passkey: 123_456, entered: 0))
    expectPaired(far, try far.authenticate(passkey), level: 3)
  }

  @Test("PKE/BV-04, PKE/BV-05: the passkey is typed here", arguments: roles) func typed(_ role: LinkRole) throws {
    let far = try withPasskey(role, isTyped: true)
    far.expect()
    far.reply(.passkey(123_456))
    expectPaired(far, try far.authenticate(passkey), level: 3)
  }

  @Test("PKE/BI-01, PKE/BI-03: another passkey", arguments: roles) func wrongPasskey(_ role: LinkRole) throws {
    let far = try withPasskey(role, isTyped: true)
    far.reply(.passkey(123_457))
    let own = try far.confirm(Key128(123_457), far.ownNonce)
    if role == .central { far.expect(own) }
    try far.exchange(try far.confirm(passkey, far.farNonce), role == .central ? "04" + far.hex(far.ownNonce) : own)
    try far.send("04" + far.hex(far.farNonce))
    far.expectFailure(.confirmValueFailed)
  }

  @Test("PKE/BI-02: nobody types it", arguments: roles) func refusedPasskey(_ role: LinkRole) throws {
    let far = try withPasskey(role, isTyped: true)
    far.reply(.refuse)
    far.expectFailure(.passkeyEntryFailed)
  }

  // MARK: - Data by another way

  private let key = Key128(0x0102_0304)

  @Test("OOB/BV-01, OOB/BV-02: both have the temporary key", arguments: roles) func outOfBand(_ role: LinkRole) throws {
    let far = try SMPTester(role)
    far.terms.temporaryKey = key
    try far.begin("0301 01 10 00 00", "01 0301 01 10 05 07", "02 0301 01 10 00 00")
    expectPaired(far, try far.authenticate(key), level: 3)
    #expect(far.questions == [])
  }

  @Test(
    "OOB/BV-03 to OOB/BV-06: one side has the key alone, and a passkey is shown", arguments: roles, [true, false])
  func oneSidedWithPasskey(_ role: LinkRole, _ isOurs: Bool) throws {
    let far = try SMPTester(role, .display)
    if isOurs { far.terms.temporaryKey = key }
    let (own, theirs) = isOurs ? ("0001", "0200") : ("0000", "0201")
    try far.begin(theirs + "05 10 00 00", "01 \(own) 15 10 05 07", "02 \(own) 15 10 00 00")
    #expect(far.actions.contains(.show(passkey: 123_456, entered: 0)))
    expectPaired(far, try far.authenticate(passkey), level: 3)
  }

  @Test("OOB/BV-07 to OOB/BV-10: one side has the key alone: Just Works", arguments: roles, [true, false])
  func oneSided(_ role: LinkRole, _ isOurs: Bool) throws {
    let far = try SMPTester(role)
    if isOurs { far.terms.temporaryKey = key }
    let (own, theirs) = isOurs ? ("0301", "0300") : ("0300", "0301")
    try far.begin(theirs + "01 10 00 00", "01 \(own) 01 10 05 07", "02 \(own) 01 10 00 00")
    expectPaired(far, try far.authenticate(.zero), level: 2)
  }

  @Test("OOB/BI-01, OOB/BI-02: another key", arguments: roles) func otherKey(_ role: LinkRole) throws {
    let far = try SMPTester(role)
    far.terms.temporaryKey = key
    try far.begin("0301 05 10 00 00", "01 0301 01 10 05 07", "02 0301 01 10 00 00")
    let own = try far.confirm(key, far.ownNonce)
    if role == .central { far.expect(own) }
    try far.exchange(try far.confirm(Key128(1), far.farNonce), role == .central ? "04" + far.hex(far.ownNonce) : own)
    try far.send("04" + far.hex(far.farNonce))
    far.expectFailure(.confirmValueFailed)
  }

  @Test("EKS/BV-01, EKS/BV-02: a key of seven octets", arguments: roles) func shortestKey(_ role: LinkRole) throws {
    let far = try SMPTester(role)
    try begin(far, "0300 01 07 00 00")
    expectPaired(far, try far.authenticate(.zero).truncated(to: 7), level: 2)
    #expect(far.manager.security.keySize == 7)
  }

  @Test("EKS/BI-01, EKS/BI-02: a key of six octets", arguments: roles) func tooShortKey(_ role: LinkRole) throws {
    let far = try SMPTester(role)
    if role == .central {
      try begin(far, "0300 01 06 00 00")
    } else {
      try far.send("01 0300 01 06 00 00")
    }
    far.expectFailure(.encryptionKeySize)
  }

  // MARK: - Keys

  /// The keys that the other side hands out, in their order.
  private func keys(of role: LinkRole) -> [String] {
    [
      "06 0102030405060708090a0b0c0d0e0f10", "07 3412 1122334455667788", "08 00112233445566778899aabbccddeeff",
      role == .central ? "09 00 cebf37371256" : "09 01 c1cf2d7013c7", "0a ffeeddccbbaa99887766554433221100",
    ]
  }

  /// A side that is about to receive keys, and distributes all.
  private func distributing(_ role: LinkRole) throws -> (far: SMPTester, ours: [String]) {
    let far = try SMPTester(role)
    far.terms.secrets.longTermKey = EncryptionKey(value: Key128(7), random: 0x0807_0605_0403_0201, diversifier: 0x0B0A)
    far.terms.secrets.signatureKey = Key128(8)
    far.terms.identityResolvingKey = Key128(9)
    try far.begin("0300 01 10 07 07", "01 0300 01 10 07 07", "02 0300 01 10 07 07")
    far.encrypt(try far.authenticate(.zero))
    let ours = [
      "06" + far.hex(Key128(7)), "07 0a0b 0102030405060708", "08" + far.hex(Key128(9)),
      role == .central ? "09 00 cebf37371256" : "09 01 c1cf2d7013c7", "0a" + far.hex(Key128(8)),
    ]
    if role == .peripheral { far.expect(ours, #_sourceLocation) }
    return (far, ours)
  }

  @Test("KDU/BV-05, KDU/BV-06, KDU/BV-01 to BV-03: all keys, the peripheral's first", arguments: roles)
  func keys(_ role: LinkRole) throws {
    let (far, ours) = try distributing(role)
    for packet in keys(of: role.other) {
      #expect(far.paired == [])
      far.expect()
      try far.send(packet)
    }
    far.expect(role == .central ? ours : [], #_sourceLocation)
    let bond = try #require(far.paired.first ?? nil)
    #expect(bond.identityResolvingKey.map { Hex.encode($0) } == "00112233445566778899aabbccddeeff")
    let theirs = try #require(bond.longTermKeys.first { $0.role == .central })
    #expect(Hex.encode(theirs.value) == "0102030405060708090a0b0c0d0e0f10")
    #expect((theirs.diversifier, theirs.random) == (0x1234, 0x8877_6655_4433_2211))
    #expect(bond.longTermKeys.contains { $0.role == .peripheral && $0.diversifier == 0x0B0A })
  }

  /// Other hosts accept them, too, so such devices are sold.
  @Test("keys in another order, and one twice, are taken", arguments: roles, 0..<5)
  func keysInAnotherOrder(_ role: LinkRole, _ place: Int) throws {
    let keys = keys(of: role.other)
    for early in [keys[4], keys[0]] {
      let (far, _) = try distributing(role)
      for packet in keys[..<place] + [early] + keys[place...] { try far.send(packet) }
      let bond = try #require(far.paired.first ?? nil)
      let theirs = try #require(bond.longTermKeys.first { $0.role == .central })
      #expect(Hex.encode(theirs.value) == "0102030405060708090a0b0c0d0e0f10")
      #expect((theirs.diversifier, theirs.random) == (0x1234, 0x8877_6655_4433_2211))
      #expect(far.failures == [])
    }
  }

  @Test("KDU/BI-01: another packet among the keys", arguments: roles, 0..<5)
  func anotherPacketAmongTheKeys(_ role: LinkRole, _ place: Int) throws {
    let keys = keys(of: role.other)
    let (far, _) = try distributing(role)
    for packet in keys[..<place] { try far.send(packet) }
    try far.send("04" + keys[4].dropFirst(2))
    far.expectFailure(.unspecified)
    #expect(far.actions.last == .disconnect)
  }

  @Test("KDU/BI-02: a key of zeros", arguments: roles) func zeroKey(_ role: LinkRole) throws {
    let (far, _) = try distributing(role)
    try far.send("06" + String(repeating: "00", count: 16))
    far.expectFailure(.keyRejected)
    #expect(far.actions.last == .disconnect)
  }
}
