import Bluetooth

/// Imports keys that this machine shares with a device already.
public enum PairingImport: ClientCall {
  public typealias Result = Empty
  public static let method = MethodDescription(
    "pairing.import", needs: .pair,
    """
    Takes over the keys that an adapter of this machine shares with a device because another stack has paired them, in \
    place of those that the daemon has. Answers when they are stored. They are used for links that come up afterwards. \
    It fails with notPermitted without the permission "adapters".
    """)

  /// A key with which links are encrypted.
  public struct LongTermKey: Codable, Sendable, Hashable {
    /// 16 octets, the lowest first.
    public var value: HexBytes
    /// The number of octets that count, 7 to 16.
    public var size: Int
    /// Names the key in legacy pairing, 0 to 65535; 0 otherwise.
    public var diversifier: UInt16
    /// Its random number (Rand), 16 hex digits with the highest first.
    public var random: HexBytes
    /// True if the pairing was protected against a person in the middle.
    public var authenticated: Bool
    /// True if it comes from LE Secure Connections; then it is used in both roles.
    public var secureConnections: Bool
    /// True if it is used on links that this machine begins; otherwise on the device's links.
    public var central: Bool
    public init(
      value: HexBytes, size: Int, diversifier: UInt16, random: HexBytes, authenticated: Bool, secureConnections: Bool,
      central: Bool
    ) {
      self.value = value
      self.size = size
      self.diversifier = diversifier
      self.random = random
      self.authenticated = authenticated
      self.secureConnections = secureConnections
      self.central = central
    }
  }

  /// A key with which writes are signed.
  public struct SignatureKey: Codable, Sendable, Hashable {
    /// 16 octets, the lowest first.
    public var value: HexBytes
    /// True if this machine signs with it; otherwise the device does.
    public var ours: Bool
    /// True if the pairing was protected against a person in the middle.
    public var authenticated: Bool
    public init(value: HexBytes, ours: Bool, authenticated: Bool) {
      self.value = value
      self.ours = ours
      self.authenticated = authenticated
    }
  }

  public struct Params: RPCPayload {
    /// The address of the adapter that shares the keys.
    public var adapterAddress: String
    /// The device's identity address.
    public var address: String
    /// "public" or "random".
    public var addressType: DeviceAddress.Kind
    /// The keys for encryption: one, or after legacy pairing up to two, one for each role.
    public var longTermKeys: [LongTermKey]
    /// The key that resolves the device's private addresses, 16 octets.
    public var identityResolvingKey: HexBytes?
    /// The keys for signed writes, at most one for each side.
    public var signatureKeys: [SignatureKey]?
    public init(
      adapterAddress: String, address: String, addressType: DeviceAddress.Kind, longTermKeys: [LongTermKey],
      identityResolvingKey: HexBytes? = nil, signatureKeys: [SignatureKey]? = nil
    ) {
      self.adapterAddress = adapterAddress
      self.address = address
      self.addressType = addressType
      self.longTermKeys = longTermKeys
      self.identityResolvingKey = identityResolvingKey
      self.signatureKeys = signatureKeys
    }
  }
}
