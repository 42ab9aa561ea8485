import Adapter
import Bluetooth
import BluetoothCrypto
import Testing

@testable import Host

/// One Security Manager, and the other side of its link as a script. The other side's packets are octets, in hex, and
/// its values are computed here, of the specification's functions alone.
final class SMPTester {
  /// The role of the Security Manager.
  let role: LinkRole
  var manager: SecurityManager
  var terms: PairingTerms
  var bond: Bond?
  var refusal: PairingFailureReason?
  /// The answer to each question; nil for none.
  var answer: PairingAnswer? = .accept
  private(set) var actions: [SecurityAction] = []
  private(set) var now = Instant.zero
  private(set) var request: [UInt8] = []
  private(set) var response: [UInt8] = []
  private var sent: [String] = []
  /// True if the responder may give its controller a key.
  private var isAgreed = false

  let pair = P256KeyPair()
  /// For the central and the peripheral, by their roles.
  private let addresses: [LinkRole: DeviceAddress] = [
    .central: SMPLink.centralAddress, .peripheral: SMPLink.peripheralAddress,
  ]

  /// - Parameter level: the lowest level with which a pairing may end.
  init(_ role: LinkRole, _ capability: PairingCapability = .none, isSecure: Bool = false, level: Int = 2) throws {
    self.role = role
    let local = try #require(addresses[role])
    manager = SecurityManager(role: role, local: local, peer: try #require(addresses[role.other]))
    terms = PairingTerms(identity: local, secrets: PairingSecrets())
    terms.capability = capability
    terms.hasSecureConnections = isSecure
    terms.level = level
    terms.isOwn = true
    terms.secrets.nonces = (0..<20).map { Key128(0x0A00_0000 + $0) }
    terms.secrets.passkey = 123_456
  }

  // MARK: - Steps

  /// This side requests protection of the link.
  func raise() {
    let requirements = PairingFeatures(requesting: terms).requirements
    perform(manager.raise(bond: bond, requirements, terms, now: now))
  }

  /// Both send their features; the other side's are given without the code.
  func begin(
    _ features: String, _ ownRequest: String, _ ownResponse: String, location: SourceLocation = #_sourceLocation
  ) throws {
    isAgreed = false
    switch role {
    case .central:
      raise()
      expect([ownRequest], location)
      try send("02" + features)
    case .peripheral: try exchange("01" + features, ownResponse, location: location)
    }
  }

  /// A person answers the last question late.
  func reply(_ answer: PairingAnswer) {
    guard case .ask(let number, _)? = actions.last(where: { if case .ask = $0 { true } else { false } }) else { return }
    perform(manager.answer(number, answer, now: now))
  }

  /// The other side sends a packet.
  func send(_ hex: String) throws {
    let octets = try #require(Hex.decode(hex.filter { $0 != " " }))
    note(octets)
    perform(
      manager.receive(
        octets, bond: bond, refusal.map(PairingPermission.refused) ?? .granted(terms), now: now))
    guard role == .peripheral, !isAgreed else { return }
    // SweynTooth: before the agreement on a key there is none.
    var copy = manager
    #expect(copy.keyRequested(random: 0, diversifier: 0, bond: nil).first == .replyToKeyRequest(nil))
  }

  /// The other side sends a packet, and gets these.
  func exchange(_ hex: String, _ answers: String..., location: SourceLocation = #_sourceLocation) throws {
    try send(hex)
    expect(answers, location)
  }

  /// These packets were sent, and no others.
  func expect(_ packets: String..., location: SourceLocation = #_sourceLocation) { expect(packets, location) }

  /// The packets that were sent and not looked at.
  func take() -> [String] {
    defer { sent = [] }
    return sent
  }

  func expect(_ packets: [String], _ location: SourceLocation) {
    #expect(take() == packets.map { $0.filter { $0 != " " } }, sourceLocation: location)
  }

  func pass(_ duration: Duration) {
    now = now.advanced(by: duration)
    perform(manager.timePassed(now: now))
  }

  /// Both controllers encrypt the link with this key.
  func encrypt(_ key: Key128, location: SourceLocation = #_sourceLocation) {
    switch role {
    case .central: #expect(actions.last == .encrypt(EncryptionKey(value: key)), sourceLocation: location)
    case .peripheral:
      let reply = manager.keyRequested(random: 0, diversifier: 0, bond: bond)
      #expect(reply == [.replyToKeyRequest(key)], sourceLocation: location)
    }
    isAgreed = true
    perform(manager.encrypted(now: now))
  }

  // MARK: - Ends

  var questions: [PairingQuestion] {
    actions.compactMap { if case .ask(_, let question) = $0 { question } else { nil } }
  }
  var failures: [PairingFailure] {
    actions.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
  }
  /// The bonds of pairings that succeeded.
  var paired: [Bond?] { actions.compactMap { if case .paired(let bond) = $0 { .some(bond) } else { nil } } }

  /// The pairing ended for this reason, the other side was notified, and nothing is left of it.
  func expectFailure(_ reason: PairingFailureReason, location: SourceLocation = #_sourceLocation) {
    expect([Hex.encode([0x05, reason.rawValue])], location)
    #expect(failures == [.ours(reason)] && paired.isEmpty && !manager.isPairing, sourceLocation: location)
    #expect(manager.security == .none && manager.deadline == nil, sourceLocation: location)
  }

  // MARK: - Legacy pairing

  let farNonce = Key128(0x0F00_0000)
  var ownNonce: Key128 { terms.secrets.nonces[0] }

  func confirm(_ key: Key128, _ nonce: Key128) throws -> String {
    "03"
      + hex(
        try #require(
          LegacyPairing.c1(
            k: key, r: nonce, request: request, response: response, initiator: SMPLink.centralAddress,
            responder: SMPLink.peripheralAddress)))
  }

  /// Both confirm that they have this temporary key.
  /// - Returns: the short term key.
  func authenticate(_ key: Key128, location: SourceLocation = #_sourceLocation) throws -> Key128 {
    let (own, far) = (try confirm(key, ownNonce), try confirm(key, farNonce))
    switch role {
    case .central:
      expect([own], location)
      try exchange(far, "04" + hex(ownNonce), location: location)
      try exchange("04" + hex(farNonce), location: location)
      return LegacyPairing.s1(k: key, r1: farNonce, r2: ownNonce)
    case .peripheral:
      try exchange(far, own, location: location)
      isAgreed = true
      try exchange("04" + hex(farNonce), "04" + hex(ownNonce), location: location)
      return LegacyPairing.s1(k: key, r1: ownNonce, r2: farNonce)
    }
  }

  // MARK: - LE Secure Connections

  var own: P256PublicKey { terms.secrets.keyPair.publicKey }

  func nonces(_ number: Int) -> (own: Key128, far: Key128) {
    (terms.secrets.nonces[number], Key128(0x0F00_0000 + UInt32(number)))
  }

  /// The confirm values of a round.
  func confirms(_ number: Int, _ last: UInt8) -> (own: String, far: String) {
    let nonces = nonces(number)
    return (
      "03" + hex(SecureConnections.f4(u: own.x, v: pair.publicKey.x, x: nonces.own, z: last)),
      "03" + hex(SecureConnections.f4(u: pair.publicKey.x, v: own.x, x: nonces.far, z: last))
    )
  }

  /// The DHKey Checks after this round, and the long term key.
  /// - Parameter random: the passkey, or the random values of the data that each side gave by another way than the air.
  func checks(
    _ number: Int = 0, random: (own: Key128, far: Key128) = (.zero, .zero)
  ) throws -> (own: String, far: String, key: Key128) {
    let (nonces, isCentral) = (nonces(number), role == .central)
    let (local, peer) = (try #require(addresses[role]), try #require(addresses[role.other]))
    let secret = try #require(pair.sharedSecret(with: own))
    let (key, longTermKey) = SecureConnections.f5(
      w: secret, n1: isCentral ? nonces.own : nonces.far, n2: isCentral ? nonces.far : nonces.own,
      initiator: SMPLink.centralAddress, responder: SMPLink.peripheralAddress)
    // AuthReq, OOB data flag, IO capability.
    let ours = (isCentral ? request : response)[1...3].reversed() as [UInt8]
    let theirs = (isCentral ? response : request)[1...3].reversed() as [UInt8]
    let ownCheck = SecureConnections.f6(
      w: key, n1: nonces.own, n2: nonces.far, r: random.far, ioCapability: ours, sender: local, receiver: peer)
    let farCheck = SecureConnections.f6(
      w: key, n1: nonces.far, n2: nonces.own, r: random.own, ioCapability: theirs, sender: peer, receiver: local)
    return ("0d" + hex(ownCheck), "0d" + hex(farCheck), longTermKey)
  }

  /// Both exchange public keys; a peripheral that commits itself at once sends these, too.
  func exchangePublicKeys(_ more: String..., location: SourceLocation = #_sourceLocation) throws {
    let packet = "0c" + Hex.encode(own.littleEndian)
    if role == .central { expect([packet], location) }
    try send("0c" + Hex.encode(pair.publicKey.littleEndian))
    if role == .peripheral { expect([packet] + more, location) }
  }

  /// One of the twenty rounds of a passkey.
  /// - Parameter next: the central's following packet.
  func exchangeBit(
    _ number: Int, of passkey: UInt32, _ next: String, location: SourceLocation = #_sourceLocation
  ) throws {
    let (nonces, confirms) = (nonces(number), confirms(number, 0x80 | UInt8(passkey >> UInt32(number) & 1)))
    switch role {
    case .central:
      try exchange(confirms.far, "04" + hex(nonces.own), location: location)
      try exchange("04" + hex(nonces.far), next, location: location)
    case .peripheral:
      try exchange(confirms.far, confirms.own, location: location)
      try exchange("04" + hex(nonces.far), "04" + hex(nonces.own), location: location)
    }
  }

  /// The rounds of a passkey, and the checks.
  /// - Returns: the long term key.
  func authenticate(passkey: UInt32, location: SourceLocation = #_sourceLocation) throws -> Key128 {
    let last = try checks(19, random: (Key128(passkey), Key128(passkey)))
    if role == .central { expect([confirms(0, 0x80 | UInt8(passkey & 1)).own], location) }
    for number in 0..<20 {
      let bit = 0x80 | UInt8(passkey >> UInt32(number + 1) & 1)
      try exchangeBit(number, of: passkey, number < 19 ? confirms(number + 1, bit).own : last.own, location: location)
    }
    return try conclude(last, location)
  }

  /// Nonces without a passkey, and the checks.
  /// - Returns: the long term key.
  func authenticate(location: SourceLocation = #_sourceLocation) throws -> Key128 {
    let (nonces, confirms, last) = (nonces(0), confirms(0, 0), try checks())
    switch role {
    case .central:
      try exchangePublicKeys(location: location)
      try exchange(confirms.far, "04" + hex(nonces.own), location: location)
      try exchange("04" + hex(nonces.far), last.own, location: location)
    case .peripheral:
      try exchangePublicKeys(confirms.own, location: location)
      try exchange("04" + hex(nonces.far), "04" + hex(nonces.own), location: location)
    }
    return try conclude(last, location)
  }

  /// The other side's check; the central has sent its own.
  func conclude(
    _ checks: (own: String, far: String, key: Key128), _ location: SourceLocation = #_sourceLocation
  ) throws -> Key128 {
    isAgreed = true
    try send(checks.far)
    expect(role == .central ? [] : [checks.own], location)
    return checks.key
  }

  func hex(_ value: Key128) -> String { Hex.encode(value.littleEndian) }

  // MARK: - The machine

  private func note(_ octets: [UInt8]) {
    if octets.first == 0x01 { request = octets }
    if octets.first == 0x02 { response = octets }
  }

  private func perform(_ new: [SecurityAction]) {
    for action in new {
      switch action {
      case .send(let pdu):
        note(pdu.encoded)
        sent.append(Hex.encode(pdu.encoded))
      case .ask(let number, _):
        actions.append(action)
        if let answer { perform(manager.answer(number, answer, now: now)) }
      case .encrypt, .replyToKeyRequest, .show, .secured, .paired, .failed, .keysLost, .disconnect:
        actions.append(action)
      }
    }
  }
}
