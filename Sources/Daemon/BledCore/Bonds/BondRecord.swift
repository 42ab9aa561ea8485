import Adapter
import BledRPC
import Bluetooth

/// The document `bonds` of the store: the keys shared with devices, the last pairing's first.
struct BondRecords: Codable, Hashable, Sendable {
  var bonds: [BondRecord] = []
}

/// A stored bond.
struct BondRecord: Codable, Hashable, Sendable {
  struct EncryptionKey: Codable, Hashable, Sendable {
    let value: HexBytes
    let size: Int
    let diversifier: UInt16
    let random: UInt64
    let authenticated: Bool
    let secureConnections: Bool
    let central: Bool
  }
  struct SigningKey: Codable, Hashable, Sendable {
    let value: HexBytes
    let ours: Bool
    let authenticated: Bool
  }

  let local: String
  let localType: String
  let peer: String
  let peerType: String
  let encryption: [EncryptionKey]
  let identity: HexBytes?
  let signing: [SigningKey]
  /// The pairing user; nil if unknown.
  let user: UInt32?

  init(_ bond: Bond, user: UInt32?) {
    self.user = user
    local = "\(bond.local)"
    localType = "\(bond.local.kind)"
    peer = "\(bond.peer)"
    peerType = "\(bond.peer.kind)"
    encryption = bond.longTermKeys.map { key in
      EncryptionKey(
        value: HexBytes(key.value), size: key.size, diversifier: key.diversifier, random: key.random,
        authenticated: key.isAuthenticated, secureConnections: key.isSecureConnections, central: key.role == .central)
    }
    identity = bond.identityResolvingKey.map { HexBytes($0) }
    signing = bond.signatureKeys.map { key in
      SigningKey(value: HexBytes(key.value), ours: key.isOurs, authenticated: key.isAuthenticated)
    }
  }

  /// The bond; nil if the record is not one.
  var bond: Bond? {
    guard let local = Self.address(local, localType), let peer = Self.address(peer, peerType),
      encryption.allSatisfy({ $0.value.octets.count == 16 && $0.value.octets != Self.zeros }),
      encryption.allSatisfy({ (7...16).contains($0.size) }),
      (identity?.octets.count ?? 16) == 16, signing.allSatisfy({ $0.value.octets.count == 16 })
    else { return nil }
    var bond = Bond(local: local, peer: peer)
    for key in encryption {
      bond.add(
        LongTermKey(
          value: key.value.octets, size: key.size, diversifier: key.diversifier, random: key.random,
          isAuthenticated: key.authenticated, isSecureConnections: key.secureConnections,
          role: key.central ? .central : .peripheral))
    }
    bond.identityResolvingKey = identity?.octets
    for key in signing {
      bond.add(SignatureKey(value: key.value.octets, isOurs: key.ours, isAuthenticated: key.authenticated))
    }
    return bond
  }

  private static let zeros = [UInt8](repeating: 0, count: 16)

  /// An address; nil if it is none.
  static func address(_ text: String, _ kind: String) -> DeviceAddress? {
    DeviceAddress.Kind(word: kind).flatMap { DeviceAddress(text, kind: $0) }
  }
}
