import Adapter
import Bluetooth
import BluetoothCrypto

// State      Input                            Next
// waiting    start, as responder              waiting (our keys are sent); ended if no key is to come
// waiting    start, as initiator              waiting; ended if no key is to come (our keys are sent)
// waiting    a key that is to come            waiting; ended after the last one
// waiting    another key, or one again        waiting: it is not kept
// any        anything else                    throws: the pairing fails
//
// The responder's keys come first. Each side's have this order: key for encryption, its name, identity resolving key,
// identity address, key for signatures. Devices with another order, or with unannounced keys, pair with other hosts:
// any order is accepted. We send ours in the specified one.

/// Phase 3 of a pairing, on the encrypted link (Core 5.4, Vol 3, Part H, 3.6.1): each side sends its keys to the other.
struct KeyDistributionMachine: Sendable {
  private let parameters: PairingParameters
  /// The key for encryption of LE Secure Connections; nil in legacy pairing.
  private let longTermKey: Key128?
  /// The packets still expected.
  private var expected: [SMPPDU.Code]

  /// The key for encryption of legacy pairing, and its name.
  private var encryptionKey: Key128?
  private var name: (diversifier: UInt16, random: UInt64) = (0, 0)
  private var identityResolvingKey: Key128?
  private var identity: DeviceAddress?
  private var signatureKey: Key128?

  /// - Parameter agreed: the key from phase 2, of which only the lowest octets count.
  init(_ parameters: PairingParameters, agreed: Key128) {
    self.parameters = parameters
    longTermKey = parameters.isSecureConnections ? agreed : nil
    expected = parameters.keys(of: parameters.role.other).packets
  }

  /// Begins.
  mutating func start() -> [PairingStep] {
    switch parameters.role {
    case .central: expected.isEmpty ? sendKeys() + [complete()] : []
    case .peripheral: sendKeys() + (expected.isEmpty ? [complete()] : [])
    }
  }

  /// A packet was received.
  mutating func receive(_ pdu: SMPPDU) throws(PairingFailureReason) -> [PairingStep] {
    guard pdu.isKey else { throw .unspecified }
    guard let place = expected.firstIndex(of: pdu.code) else { return [] }
    expected.remove(at: place)
    switch pdu {
    case .encryptionInformation(let key):
      let key = key.truncated(to: parameters.keySize)
      // A key of zeros is not secret.
      guard key != .zero else { throw .keyRejected }
      encryptionKey = key
    case .centralIdentification(let diversifier, let random): name = (diversifier, random)
    case .identityInformation(let key): identityResolvingKey = key
    case .identityAddressInformation(let address): identity = address
    case .signingInformation(let key): signatureKey = key
    case .pairingRequest, .pairingResponse, .pairingConfirm, .pairingRandom, .pairingFailed, .pairingPublicKey,
      .pairingDHKeyCheck, .keypressNotification, .securityRequest:
      throw .unspecified
    }
    guard expected.isEmpty else { return [] }
    return (parameters.role == .central ? sendKeys() : []) + [complete()]
  }

  // MARK: - Our keys

  private var ownKeys: KeyDistribution { parameters.keys(of: parameters.role) }

  /// Our encryption key.
  private var ownEncryptionKey: EncryptionKey {
    var key = parameters.terms.secrets.longTermKey
    key.value = key.value.truncated(to: parameters.keySize)
    return key
  }

  private func sendKeys() -> [PairingStep] {
    var packets: [SMPPDU] = []
    if ownKeys.contains(.encryption) {
      let key = ownEncryptionKey
      packets.append(.encryptionInformation(key.value))
      packets.append(.centralIdentification(diversifier: key.diversifier, random: key.random))
    }
    if ownKeys.contains(.identity) {
      packets.append(.identityInformation(parameters.terms.identityResolvingKey ?? .zero))
      packets.append(.identityAddressInformation(parameters.terms.identity))
    }
    if ownKeys.contains(.signing) { packets.append(.signingInformation(parameters.terms.secrets.signatureKey)) }
    return packets.map(PairingStep.send)
  }

  // MARK: - The bond

  private func complete() -> PairingStep { .completed(parameters.bonds ? bond : nil) }

  /// Nil without an encryption key, or if the device's identity address is unknown.
  private var bond: Bond? {
    guard let peer = bondAddress else { return nil }
    var bond = Bond(local: parameters.terms.identity, peer: peer.address)
    if let longTermKey {
      bond.add(storedKey(EncryptionKey(value: longTermKey), for: parameters.role))
    } else {
      // The peripheral supplied the central's encryption key.
      if let encryptionKey {
        let key = EncryptionKey(value: encryptionKey, random: name.random, diversifier: name.diversifier)
        bond.add(storedKey(key, for: .central))
      }
      if ownKeys.contains(.encryption) { bond.add(storedKey(ownEncryptionKey, for: .peripheral)) }
    }
    guard !bond.longTermKeys.isEmpty else { return nil }
    bond.identityResolvingKey = peer.key?.littleEndian
    if let signatureKey, signatureKey != .zero { bond.add(storedKey(signatureKey, isOurs: false)) }
    if ownKeys.contains(.signing) { bond.add(storedKey(parameters.terms.secrets.signatureKey, isOurs: true)) }
    return bond
  }

  /// The device's address for the bond, and the key for its private addresses. A device connected with a permanent
  /// address cannot have another one, and an all-zero key would resolve any forged one.
  private var bondAddress: (address: DeviceAddress, key: Key128?)? {
    let key = identityResolvingKey == .zero ? nil : identityResolvingKey
    if parameters.peer.isIdentity { return (parameters.peer, identity == parameters.peer ? key : nil) }
    guard let identity, identity.isIdentity, identity != .none else { return nil }
    return (identity, key)
  }

  private func storedKey(_ key: EncryptionKey, for role: LinkRole) -> LongTermKey {
    LongTermKey(
      value: key.value.littleEndian, size: parameters.keySize, diversifier: key.diversifier, random: key.random,
      isAuthenticated: parameters.method.isAuthenticated, isSecureConnections: parameters.isSecureConnections,
      role: role)
  }

  private func storedKey(_ key: Key128, isOurs: Bool) -> SignatureKey {
    SignatureKey(value: key.littleEndian, isOurs: isOurs, isAuthenticated: parameters.method.isAuthenticated)
  }
}

extension KeyDistribution {
  /// The packets with these keys, in their order.
  fileprivate var packets: [SMPPDU.Code] {
    (contains(.encryption) ? [.encryptionInformation, .centralIdentification] : [])
      + (contains(.identity) ? [.identityInformation, .identityAddressInformation] : [])
      + (contains(.signing) ? [.signingInformation] : [])
  }
}

extension LinkRole {
  /// The other side's role.
  var other: LinkRole { self == .central ? .peripheral : .central }
}
