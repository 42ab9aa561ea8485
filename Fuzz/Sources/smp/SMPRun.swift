import Adapter
import Bluetooth
import BluetoothCrypto
import Fuzzing

/// Two Security Managers and the controllers of their link, whose packets the input alters, drops and makes up.
struct SMPRun {
  private struct Side {
    var manager: SecurityManager
    var terms: PairingTerms
    var bond: Bond?
    /// Packets on their way to this side.
    var incoming: [[UInt8]] = []
    var question: UInt32 = 0
    var isDone = false
  }

  /// The same in each run.
  private static let secrets = (UInt8(1)...2).map { number in
    let key = P256KeyPair(privateKey: Array(repeating: number, count: 32)) ?? P256KeyPair()
    var secrets = PairingSecrets(keyPair: key)
    let base = UInt32(number) << 8
    secrets.nonces = (0..<UInt32(PairingSecrets.rounds)).map { Key128(base + $0) }
    secrets.passkey = UInt32(number) * 123_456
    secrets.longTermKey = EncryptionKey(value: Key128(base + 100), random: UInt64(number), diversifier: 7)
    secrets.signatureKey = Key128(base + 101)
    return secrets
  }
  private static let addresses = [
    DeviceAddress(value: 0x5612_3737_BFCE, kind: .public), DeviceAddress(value: 0xC713_702D_CFC1, kind: .random),
    DeviceAddress(value: 0x4A12_3456_789A, kind: .random),
  ]
  /// More packets than one input can cause: the keys of one side, an answer, and two of keypresses.
  private static let maximumActions = 24
  private static let maximumIncoming = 32

  private var sides: [Side]
  private var now = Instant.zero
  /// The key with which the central's controller encrypts.
  private var encryption: EncryptionKey?
  /// Whether each packet has arrived as it was sent.
  private var isFaithful = true

  init(_ input: inout FuzzInput) {
    let peripheral = Self.addresses[1 + input.number(below: 2)]
    let ends = [Self.addresses[0], peripheral]
    sides = []
    for index in 0..<2 {
      var terms = PairingTerms(identity: Self.addresses[index], secrets: Self.secrets[index])
      let choice = input.octet()
      terms.capability = PairingCapability.allCases[Int(choice) % PairingCapability.allCases.count]
      terms.hasSecureConnections = choice & 0x40 != 0
      terms.isOwn = choice & 0x80 != 0
      let more = input.octet()
      terms.maximumKeySize = 7 + Int(more & 15)
      terms.bonds = more & 0x10 == 0
      terms.identityResolvingKey = more & 0x20 == 0 ? Key128(UInt32(index) + 1) : nil
      terms.level = more & 0x40 == 0 ? 2 : 3
      terms.temporaryKey = more & 0x80 == 0 ? nil : Key128(4)
      let role: LinkRole = index == 0 ? .central : .peripheral
      sides.append(
        Side(manager: SecurityManager(role: role, local: ends[index], peer: ends[1 - index]), terms: terms))
    }
  }

  mutating func step(_ input: inout FuzzInput) {
    let choice = input.octet()
    let index = Int(choice >> 7)
    switch choice & 15 {
    case 0:
      let terms = sides[index].terms
      let requirements = PairingFeatures(requesting: terms).requirements
      execute(sides[index].manager.raise(bond: sides[index].bond, requirements, terms, now: now), index)
    case 1: answer(index, .accept)
    case 2: answer(index, .passkey(sides[1 - index].terms.secrets.passkey))
    case 3: answer(index, input.octet() & 1 == 0 ? .refuse : .passkey(UInt32(input.word())))
    case 4: deliver(input.packet(), to: index, isForeign: true)
    case 5: drop(index)
    case 6: alter(index, &input)
    case 7:
      now = now.advanced(by: .milliseconds(Int64(input.word())))
      for index in 0..<2 { execute(sides[index].manager.timePassed(now: now), index) }
    case 8: encrypt()
    case 9:
      execute(
        sides[1].manager.keyRequested(
          random: UInt64(input.octet()), diversifier: UInt16(input.octet()), bond: sides[1].bond), 1)
    case 10: execute(sides[index].manager.encryptionFailed(input.octet()), index)
    default:
      for _ in 0...Int(input.octet() & 15) {
        encrypt()
        next(0)
        next(1)
      }
    }
  }

  private mutating func answer(_ index: Int, _ answer: PairingAnswer) {
    execute(sides[index].manager.answer(sides[index].question, answer, now: now), index)
  }

  private mutating func next(_ index: Int) {
    guard !sides[index].incoming.isEmpty else { return }
    deliver(sides[index].incoming.removeFirst(), to: index, isForeign: false)
  }

  private mutating func drop(_ index: Int) {
    guard !sides[index].incoming.isEmpty else { return }
    isFaithful = false
    sides[index].incoming.removeFirst()
  }

  private mutating func alter(_ index: Int, _ input: inout FuzzInput) {
    guard var packet = sides[index].incoming.first, !packet.isEmpty else { return }
    isFaithful = false
    packet[input.number(below: packet.count)] = input.octet()
    sides[index].incoming[0] = packet
  }

  private mutating func deliver(_ octets: [UInt8], to index: Int, isForeign: Bool) {
    if isForeign { isFaithful = false }
    let isRefused = octets.first == 0x01 && octets.last == 0x0F
    let (bond, terms) = (sides[index].bond, sides[index].terms)
    execute(
      sides[index].manager.receive(
        octets, bond: bond, isRefused ? .refused(.repeatedAttempts) : .granted(terms), now: now), index)
  }

  /// The controllers encrypt the link, if both have the key.
  private mutating func encrypt() {
    guard let key = encryption else { return }
    encryption = nil
    let actions = sides[1].manager.keyRequested(
      random: key.random, diversifier: key.diversifier, bond: sides[1].bond)
    execute(actions, 1)
    guard case .replyToKeyRequest(key.value) = actions.first else {
      return execute(sides[0].manager.encryptionFailed(0x06), 0)
    }
    for index in [1, 0] { execute(sides[index].manager.encrypted(now: now), index) }
  }

  private mutating func execute(_ actions: [SecurityAction], _ index: Int) {
    invariant(actions.count <= Self.maximumActions, "\(actions.count) actions for one input")
    for action in actions {
      switch action {
      case .send(let pdu):
        invariant(!sides[index].isDone, "a packet behind the time-out")
        invariant((try? SMPPDU(parsing: pdu.encoded)) == pdu, "a packet that cannot be read: \(pdu)")
        if sides[1 - index].incoming.count < Self.maximumIncoming {
          sides[1 - index].incoming.append(pdu.encoded)
        } else {
          isFaithful = false
        }
      case .encrypt(let key):
        invariant(index == 0, "a peripheral encrypts")
        invariant(key.value != .zero, "a key of zeros encrypts")
        encryption = key
      case .replyToKeyRequest(let key):
        invariant(index == 1, "a central answers for keys")
        invariant(key != .zero, "a key of zeros is given")
      case .ask(let number, _):
        invariant(number == sides[index].question &+ 1, "a question with an old number")
        sides[index].question = number
      case .show(let passkey, let entered):
        invariant(passkey <= 999_999 && (0...6).contains(entered), "\(passkey) is shown, with \(entered) digits")
      case .secured(let security):
        invariant(
          security == .none || (2...4).contains(security.level) && (7...16).contains(security.keySize), "\(security)")
      case .paired(let bond):
        if let bond { check(bond, index) }
        sides[index].bond = bond ?? sides[index].bond
      case .disconnect: sides[index].isDone = true
      case .failed, .keysLost: break
      }
    }
  }

  private func check(_ bond: Bond, _ index: Int) {
    invariant(bond.peer.isIdentity && bond.local == Self.addresses[index], "a bond of \(bond.peer)")
    invariant(!bond.longTermKeys.isEmpty, "a bond without keys")
    for key in bond.longTermKeys {
      invariant(key.value.count == 16 && key.value.contains { $0 != 0 }, "a key of zeros is kept")
      invariant((7...16).contains(key.size), "a key of \(key.size) octets")
      let isNamed = key.random != 0 || key.diversifier != 0
      invariant(isNamed != key.isSecureConnections || !isFaithful, "the name of a key")
    }
    // With nothing altered, both sides have the same keys.
    guard isFaithful, let other = sides[1 - index].bond, !sides[1 - index].manager.isPairing else { return }
    invariant(
      Set(other.longTermKeys.map(\.value)) == Set(bond.longTermKeys.map(\.value)) || sides[1 - index].bond == nil,
      "the sides have different keys")
  }

  mutating func end() {
    now = now.advanced(by: SecurityManager.timeout)
    for index in 0..<2 {
      execute(sides[index].manager.timePassed(now: now), index)
      invariant(sides[index].manager.deadline == nil, "something goes on behind the time-out")
    }
  }
}
