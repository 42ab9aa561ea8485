import Adapter
import Bluetooth
import BluetoothCrypto

@testable import Host

/// Two Security Managers at the ends of one link, with controllers that encrypt it. Questions are answered with yes,
/// and with the passkey shown by the other side, unless a test answers otherwise.
final class SMPLink {
  final class Side {
    var manager: SecurityManager
    var terms: PairingTerms
    /// Set if it does not pair when the other side wants to.
    var refusal: PairingFailureReason?
    var bond: Bond?
    /// True if its controller does not begin to encrypt.
    var isEncryptionHeld = false
    /// Nil for no answer.
    var answer: (PairingQuestion) -> PairingAnswer?
    var sent: [SMPPDU] = []
    /// All actions but packets.
    var actions: [SecurityAction] = []

    fileprivate init(_ manager: SecurityManager, _ terms: PairingTerms) {
      self.manager = manager
      self.terms = terms
      answer = { _ in .accept }
    }

    var permission: PairingPermission { refusal.map(PairingPermission.refused) ?? .granted(terms) }
    var questions: [PairingQuestion] {
      actions.compactMap { if case .ask(_, let question) = $0 { question } else { nil } }
    }
    var failures: [PairingFailure] {
      actions.compactMap { if case .failed(let failure) = $0 { failure } else { nil } }
    }
    /// The bonds of pairings that succeeded.
    var paired: [Bond?] { actions.compactMap { if case .paired(let bond) = $0 { .some(bond) } else { nil } } }
    /// The bond of the first pairing that succeeded.
    var bondMade: Bond? { paired.first ?? nil }
    var shown: UInt32? {
      actions.lazy.compactMap { if case .show(let passkey, _) = $0 { passkey } else { nil } }.last
    }
  }

  private enum Input {
    case packet([UInt8])
    case question(UInt32, PairingQuestion)
    case answer(UInt32, PairingAnswer)
    case encrypted
    case encryptionFailed(UInt8)
  }

  static let centralAddress = DeviceAddress(value: 0x5612_3737_BFCE, kind: .public)
  static let peripheralAddress = DeviceAddress(value: 0xC713_702D_CFC1, kind: .random)

  let central: Side
  let peripheral: Side
  var now = Instant.zero
  /// Replaces the packets of a side.
  var relay: (LinkRole, SMPPDU) -> [[UInt8]] = { [$1.encoded] }
  private var inputs: [(LinkRole, Input)] = []

  /// - Parameters:
  ///   - centralAddress: the central's address on the link, if it is not its identity address.
  ///   - peripheralAddress: the peripheral's address on the link, likewise.
  init(
    _ centralCapability: PairingCapability = .none, _ peripheralCapability: PairingCapability = .none,
    isSecure: Bool = true, centralAddress: DeviceAddress? = nil, peripheralAddress: DeviceAddress? = nil
  ) {
    let first = centralAddress ?? Self.centralAddress
    let second = peripheralAddress ?? Self.peripheralAddress
    var terms = PairingTerms(identity: Self.centralAddress, secrets: PairingSecrets())
    terms.capability = centralCapability
    terms.hasSecureConnections = isSecure
    terms.isOwn = true
    central = Side(SecurityManager(role: .central, local: first, peer: second), terms)
    terms = PairingTerms(identity: Self.peripheralAddress, secrets: PairingSecrets())
    terms.capability = peripheralCapability
    peripheral = Side(SecurityManager(role: .peripheral, local: second, peer: first), terms)
    central.answer = { [unowned self] in Self.usual($0, peripheral) }
    peripheral.answer = { [unowned self] in Self.usual($0, central) }
  }

  private static func usual(_ question: PairingQuestion, _ other: Side) -> PairingAnswer {
    question == .passkey ? .passkey(other.shown ?? 123_456) : .accept
  }

  func side(_ role: LinkRole) -> Side { role == .central ? central : peripheral }

  /// A side raises the protection of the link, and both continue as far as they can.
  func raise(_ role: LinkRole = .central) {
    let side = side(role)
    let requirements = PairingFeatures(requesting: side.terms).requirements
    perform(side.manager.raise(bond: side.bond, requirements, side.terms, now: now), role)
    run()
  }

  /// A side receives octets, and both continue as far as they can.
  func receive(_ octets: [UInt8], at role: LinkRole) {
    inputs.append((role, .packet(octets)))
    run()
  }

  func receive(_ pdu: SMPPDU, at role: LinkRole) { receive(pdu.encoded, at: role) }

  /// A person answers the last question late.
  func answer(_ answer: PairingAnswer, at role: LinkRole) {
    for case .ask(let number, _) in side(role).actions.reversed() {
      inputs.append((role, .answer(number, answer)))
      break
    }
    run()
  }

  func pass(_ duration: Duration) {
    now = now.advanced(by: duration)
    perform(central.manager.timePassed(now: now), .central)
    perform(peripheral.manager.timePassed(now: now), .peripheral)
    run()
  }

  private func run() {
    while !inputs.isEmpty {
      let (role, input) = inputs.removeFirst()
      let side = side(role)
      let actions =
        switch input {
        case .packet(let octets):
          side.manager.receive(octets, bond: side.bond, side.permission, now: now)
        case .question(let number, let question):
          // Now, as the other side may have shown a passkey since.
          side.answer(question).map { side.manager.answer(number, $0, now: now) } ?? []
        case .answer(let number, let answer): side.manager.answer(number, answer, now: now)
        case .encrypted: side.manager.encrypted(now: now)
        case .encryptionFailed(let code): side.manager.encryptionFailed(code)
        }
      perform(actions, role)
    }
  }

  private func perform(_ actions: [SecurityAction], _ role: LinkRole) {
    let side = side(role)
    for action in actions {
      switch action {
      case .send(let pdu):
        side.sent.append(pdu)
        for octets in relay(role, pdu) { inputs.append((role.other, .packet(octets))) }
        continue
      case .ask(let number, let question):
        side.actions.append(action)
        inputs.append((role, .question(number, question)))
        continue
      case .encrypt(let key): if !side.isEncryptionHeld { encrypt(key) }
      case .replyToKeyRequest, .show, .secured, .paired, .failed, .keysLost, .disconnect: break
      }
      side.actions.append(action)
    }
  }

  /// The controllers encrypt the link, if both have the same key.
  private func encrypt(_ key: EncryptionKey) {
    let actions = peripheral.manager.keyRequested(
      random: key.random, diversifier: key.diversifier, bond: peripheral.bond)
    perform(actions, .peripheral)
    guard case .replyToKeyRequest(let reply) = actions.first else { return }
    guard reply == key.value else {
      inputs.append((.central, .encryptionFailed(reply == nil ? 0x06 : 0x3D)))
      return
    }
    for role in [LinkRole.peripheral, .central] { inputs.append((role, .encrypted)) }
  }
}
