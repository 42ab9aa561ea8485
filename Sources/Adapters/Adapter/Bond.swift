import Bluetooth

/// The keys shared by one of this machine's adapters with a device (Core 5.4, Vol 3, Part H, 2.4).
public struct Bond: Hashable, Sendable, Identifiable {
  /// The two devices between which a bond is.
  public struct ID: Hashable, Sendable {
    /// The adapter's address.
    public let local: DeviceAddress
    /// The device's identity address.
    public let peer: DeviceAddress

    /// Names a bond.
    public init(local: DeviceAddress, peer: DeviceAddress) {
      self.local = local
      self.peer = peer
    }
  }

  /// The adapter's address: another adapter in the same machine does not share the keys.
  public let local: DeviceAddress
  /// The device's identity address.
  public let peer: DeviceAddress
  /// The encryption keys: one after LE Secure Connections; after legacy pairing up to two, one for each role.
  public var longTermKeys: [LongTermKey]
  /// The device's identity resolving key, 16 octets; nil if it gave none.
  public var identityResolvingKey: [UInt8]?
  /// The keys for signed writes, at most one for each side.
  public var signatureKeys: [SignatureKey]

  /// The two devices.
  public var id: ID { ID(local: local, peer: peer) }

  /// Makes a bond without keys.
  public init(local: DeviceAddress, peer: DeviceAddress) {
    self.local = local
    self.peer = peer
    longTermKeys = []
    signatureKeys = []
  }

  /// A link's protection by these keys; nil without an encryption key.
  public var security: LinkSecurity? {
    longTermKeys.max { $0.level < $1.level }?.security
  }

  /// Returns true if these keys protect less than others with the same device: some link would have a lower level, or a
  /// shorter key.
  public func isWeaker(than other: Bond) -> Bool {
    guard let least = longTermKeys.map(\.level).min(), let size = longTermKeys.map(\.size).min() else { return false }
    return least < other.longTermKeys.map(\.level).min() ?? 0 || size < other.longTermKeys.map(\.size).min() ?? 0
  }

  /// Adds a key; it replaces the one for the same role.
  public mutating func add(_ key: LongTermKey) {
    longTermKeys.removeAll { $0.role == key.role || $0.isSecureConnections || key.isSecureConnections }
    longTermKeys.append(key)
  }

  /// Adds a key, replacing the same side's earlier one.
  public mutating func add(_ key: SignatureKey) {
    signatureKeys.removeAll { $0.isOurs == key.isOurs }
    signatureKeys.append(key)
  }
}

/// A link's encryption key (Vol 3, Part H, 2.4.2.3).
public struct LongTermKey: Hashable, Sendable {
  /// 16 octets, the lowest first.
  public let value: [UInt8]
  /// Significant octets, 7 to 16.
  public let size: Int
  /// Names the key in legacy pairing; 0 otherwise.
  public let diversifier: UInt16
  /// Names the key in legacy pairing, with `diversifier`; 0 otherwise.
  public let random: UInt64
  /// True if the pairing was protected against a person in the middle.
  public let isAuthenticated: Bool
  /// True if the key is from LE Secure Connections.
  public let isSecureConnections: Bool
  /// Our role on the links with this key; a key from LE Secure Connections is used in both.
  public let role: LinkRole

  /// Makes a key.
  public init(
    value: [UInt8], size: Int, diversifier: UInt16, random: UInt64, isAuthenticated: Bool, isSecureConnections: Bool,
    role: LinkRole
  ) {
    self.value = value
    self.size = size
    self.diversifier = diversifier
    self.random = random
    self.isAuthenticated = isAuthenticated
    self.isSecureConnections = isSecureConnections
    self.role = role
  }

  /// A link's protection by this key.
  public var security: LinkSecurity {
    LinkSecurity(isAuthenticated: isAuthenticated, isSecureConnections: isSecureConnections, keySize: size)
  }

  /// The security level of such a link, 2 to 4.
  public var level: Int { security.level }
}

/// A key for signing writes (Vol 3, Part H, 2.4.2.2).
public struct SignatureKey: Hashable, Sendable {
  /// 16 octets, the lowest first.
  public let value: [UInt8]
  /// True if we sign with it; otherwise the device does.
  public let isOurs: Bool
  /// True if the pairing was protected against a person in the middle.
  public let isAuthenticated: Bool

  /// Makes a key.
  public init(value: [UInt8], isOurs: Bool, isAuthenticated: Bool) {
    self.value = value
    self.isOurs = isOurs
    self.isAuthenticated = isAuthenticated
  }
}
