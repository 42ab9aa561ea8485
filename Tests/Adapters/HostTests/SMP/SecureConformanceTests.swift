import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

/// LE Secure Connections pairing with a side that keeps to the rules or breaks them. The names are from the SIG's test
/// suite for the Security Manager (SM.TS), first the case with us as central, then as peripheral.
@Suite struct SecureConformanceTests {
  private static let roles = [LinkRole.central, .peripheral]
  private let passkey: UInt32 = 123_456

  private func begin(_ role: LinkRole) throws -> SMPTester {
    let far = try SMPTester(role, isSecure: true)
    try far.begin("0300 09 10 00 00", "01 0300 09 10 05 07", "02 0300 09 10 00 00")
    return far
  }

  /// Both sides can compare numbers.
  private func comparing(_ role: LinkRole) throws -> SMPTester {
    let far = try SMPTester(role, .displayYesNo, isSecure: true)
    try far.begin("0100 0d 10 00 00", "01 0100 1d 10 05 07", "02 0100 1d 10 00 00")
    return far
  }

  /// One side shows a passkey, or both type it.
  private func withPasskey(_ role: LinkRole, isTyped: Bool, by other: String) throws -> SMPTester {
    let far = try SMPTester(role, isTyped ? .keyboard : .display, isSecure: true, level: 4)
    far.answer = .passkey(passkey)
    let own = isTyped ? "0200" : "0000"
    try far.begin("\(other)00 0d 10 00 00", "01 \(own) 1d 10 05 07", "02 \(own) 1d 10 00 00")
    return far
  }

  private func expectPaired(_ far: SMPTester, _ key: Key128, level: Int, location: SourceLocation = #_sourceLocation) {
    far.encrypt(key, location: location)
    far.expect(location: location)
    let keys = far.paired.first.flatMap { $0 }?.longTermKeys
    #expect(keys?.map { Hex.encode($0.value) } == [far.hex(key)], sourceLocation: location)
    #expect(far.manager.security == LinkSecurity(level: level, keySize: 16), sourceLocation: location)
    #expect(far.failures == [], sourceLocation: location)
  }

  // MARK: - Without a person

  @Test("SCJW/BV-01, SCJW/BV-02: Just Works", arguments: roles) func justWorks(_ role: LinkRole) throws {
    let far = try begin(role)
    expectPaired(far, try far.authenticate(), level: 2)
  }

  @Test("SCJW/BV-04, SCJW/BV-03: reserved bits count in the checks", arguments: roles)
  func reserved(_ role: LinkRole) throws {
    let far = try SMPTester(role, isSecure: true)
    try far.begin("0300 e9 10 f0 f0", "01 0300 09 10 05 07", "02 0300 09 10 00 00")
    expectPaired(far, try far.authenticate(), level: 2)
  }

  @Test("SCJW/BI-01, SCJW/BI-02: a wrong DHKey Check", arguments: roles) func wrongCheck(_ role: LinkRole) throws {
    let far = try begin(role)
    let right = try far.checks()
    let (nonces, confirms) = (far.nonces(0), far.confirms(0, 0))
    try far.exchangePublicKeys(confirms.own)
    if role == .central { try far.exchange(confirms.far, "04" + far.hex(nonces.own)) }
    try far.exchange("04" + far.hex(nonces.far), role == .central ? right.own : "04" + far.hex(nonces.own))
    try far.send("0d" + far.hex(Key128(1)))
    far.expectFailure(.dhKeyCheckFailed)
  }

  @Test("a nonce that is not the one committed to") func wrongConfirm() throws {
    let far = try begin(.central)
    try far.exchangePublicKeys()
    try far.exchange(far.confirms(0, 0).far, "04" + far.hex(far.nonces(0).own))
    try far.send("04" + far.hex(Key128(1)))
    far.expectFailure(.confirmValueFailed)
  }

  // MARK: - Numbers

  @Test("SCJW with displays: numbers are compared", arguments: roles) func comparison(_ role: LinkRole) throws {
    let far = try comparing(role)
    let (keys, nonces) = ([far.own, far.pair.publicKey], far.nonces(0))
    let key = try far.authenticate()
    let number =
      role == .central
      ? SecureConnections.g2(u: keys[0].x, v: keys[1].x, x: nonces.own, y: nonces.far)
      : SecureConnections.g2(u: keys[1].x, v: keys[0].x, x: nonces.far, y: nonces.own)
    #expect(far.questions == [.comparison(number % 1_000_000)])
    expectPaired(far, key, level: 4)
  }

  @Test("the numbers differ", arguments: roles) func otherNumbers(_ role: LinkRole) throws {
    let far = try comparing(role)
    far.answer = nil
    let (nonces, confirms) = (far.nonces(0), far.confirms(0, 0))
    try far.exchangePublicKeys(confirms.own)
    if role == .central { try far.exchange(confirms.far, "04" + far.hex(nonces.own)) }
    try far.send("04" + far.hex(nonces.far))
    if role == .peripheral { far.expect("04" + far.hex(nonces.own)) }
    far.reply(.refuse)
    far.expectFailure(.numericComparisonFailed)
  }

  @Test("the central's check comes before the person's answer") func earlyCheck() throws {
    let far = try comparing(.peripheral)
    far.answer = nil
    let (nonces, right) = (far.nonces(0), try far.checks())
    try far.exchangePublicKeys(far.confirms(0, 0).own)
    try far.exchange("04" + far.hex(nonces.far), "04" + far.hex(nonces.own))
    try far.exchange(right.far)
    // A second one is out of order.
    try far.send(right.far)
    far.expectFailure(.unspecified)
  }

  // MARK: - A passkey

  @Test("SCPK/BV-01, SCPK/BV-02: it is shown here", arguments: roles) func shown(_ role: LinkRole) throws {
    let far = try withPasskey(role, isTyped: false, by: "02")
    try far.exchangePublicKeys()
    #expect(far.actions.contains(.show(passkey: passkey, entered: 0)))
    expectPaired(far, try far.authenticate(passkey: passkey), level: 4)
  }

  @Test("SCPK/BV-04, SCPK/BV-03: it is typed here, and there as well", arguments: roles, ["00", "02"])
  func typed(_ role: LinkRole, _ other: String) throws {
    let far = try withPasskey(role, isTyped: true, by: other)
    try far.exchangePublicKeys()
    #expect(far.questions == [.passkey])
    expectPaired(far, try far.authenticate(passkey: passkey), level: 4)
  }

  @Test("SCPK/BI-01, SCPK/BI-03: one bit is another", arguments: roles, [0, 9, 19])
  func otherBit(_ role: LinkRole, _ wrong: Int) throws {
    let far = try withPasskey(role, isTyped: true, by: "00")
    try far.exchangePublicKeys()
    if role == .central { far.expect(bit(far, 0).own) }
    for number in 0..<wrong { try far.exchangeBit(number, of: passkey, bit(far, number + 1).own) }
    let nonces = far.nonces(wrong)
    let other = far.confirms(wrong, 0x81 ^ UInt8(passkey >> UInt32(wrong) & 1)).far
    try far.exchange(other, role == .central ? "04" + far.hex(nonces.own) : bit(far, wrong).own)
    try far.send("04" + far.hex(nonces.far))
    far.expectFailure(.confirmValueFailed)
  }

  /// The confirm values of a bit of the passkey.
  private func bit(_ far: SMPTester, _ number: Int) -> (own: String, far: String) {
    far.confirms(number, 0x80 | UInt8(passkey >> UInt32(number) & 1))
  }

  @Test("SCPK/BI-02, SCPK/BI-04: nobody types it", arguments: roles) func refused(_ role: LinkRole) throws {
    let far = try withPasskey(role, isTyped: true, by: "00")
    far.answer = nil
    try far.exchangePublicKeys()
    far.reply(.refuse)
    far.expectFailure(.passkeyEntryFailed)
  }

  /// SweynTooth: a check in place of a confirm value or of a nonce, in each round.
  @Test("a DHKey Check before its turn", arguments: roles, [true, false])
  func checkInARound(_ role: LinkRole, _ isNonce: Bool) throws {
    for place in 0..<20 {
      let far = try withPasskey(role, isTyped: false, by: "02")
      try far.exchangePublicKeys()
      if role == .central { far.expect(bit(far, 0).own) }
      for number in 0..<place { try far.exchangeBit(number, of: passkey, bit(far, number + 1).own) }
      if isNonce {
        let answer = role == .central ? "04" + far.hex(far.nonces(place).own) : bit(far, place).own
        try far.exchange(bit(far, place).far, answer)
      }
      try far.send(try far.checks(place, random: (Key128(passkey), Key128(passkey))).far)
      far.expectFailure(.unspecified)
    }
  }

  @Test("keypresses are told of while a passkey is typed", arguments: roles) func keypresses(_ role: LinkRole) throws {
    let far = try SMPTester(role, .display, isSecure: true)
    try far.begin("0200 1d 10 00 00", "01 0000 1d 10 05 07", "02 0000 1d 10 00 00")
    try far.exchangePublicKeys()
    if role == .central { far.expect(bit(far, 0).own) }
    for (packet, entered) in [("0e00", 0), ("0e01", 1), ("0e01", 2), ("0e02", 1), ("0e03", 0), ("0e04", 6)] {
      try far.exchange(packet)
      let shown = far.actions.last { if case .show = $0 { true } else { false } }
      #expect(shown == .show(passkey: passkey, entered: entered), "after \(packet)")
    }
    try far.send("0e05")
    far.expectFailure(.invalidParameters)
  }

  // MARK: - Data by another way

  @Test("SCOB: the other side has our data, we have theirs, and both", arguments: roles, 1...3)
  func outOfBand(_ role: LinkRole, _ givers: Int) throws {
    let far = try SMPTester(role, isSecure: true, level: 4)
    let (isGiven, isGot) = (givers & 1 != 0, givers & 2 != 0)
    let random = try give(far, isGiven: isGiven, isGot: isGot)
    let own = "030\(isGot ? 1 : 0)"
    try far.begin("030\(isGiven ? 1 : 0) 09 10 00 00", "01 \(own) 0d 10 05 07", "02 \(own) 0d 10 00 00")
    let (nonces, last) = (far.nonces(0), try far.checks(random: random))
    try far.exchangePublicKeys()
    if role == .central { far.expect("04" + far.hex(nonces.own)) }
    try far.exchange("04" + far.hex(nonces.far), role == .central ? last.own : "04" + far.hex(nonces.own))
    expectPaired(far, try far.conclude(last), level: 4)
    #expect(far.questions == [])
  }

  /// - Returns: the random values of the data that count.
  private func give(_ far: SMPTester, isGiven: Bool, isGot: Bool) throws -> (own: Key128, far: Key128) {
    let data = OwnOutOfBandData()
    if isGiven {
      far.terms.ownOutOfBand = data
      far.terms.secrets.keyPair = data.keyPair
    }
    if isGot { far.terms.outOfBand = OwnOutOfBandData(keyPair: far.pair).data?.secure }
    let theirs = far.terms.outOfBand.flatMap { Key128(littleEndian: $0.random) }
    return (isGiven ? data.random : .zero, theirs ?? .zero)
  }

  @Test("SCOB: data of another key", arguments: roles) func otherData(_ role: LinkRole) throws {
    let far = try SMPTester(role, isSecure: true)
    far.terms.outOfBand = OwnOutOfBandData().data?.secure
    try far.begin("0300 09 10 00 00", "01 0301 09 10 05 07", "02 0301 09 10 00 00")
    if role == .central { far.expect("0c" + Hex.encode(far.own.littleEndian)) }
    try far.send("0c" + Hex.encode(far.pair.publicKey.littleEndian))
    far.expectFailure(.confirmValueFailed)
  }

  @Test("SCOB: data that were never given") func unknownData() throws {
    let far = try SMPTester(.peripheral, isSecure: true)
    try far.send("01 0301 09 10 00 00")
    far.expectFailure(.outOfBandNotAvailable)
  }
}
