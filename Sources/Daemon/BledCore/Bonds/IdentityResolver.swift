import Adapter
import Bluetooth
import BluetoothCrypto

/// Resolves the private addresses of bonded devices (Core 5.4, Vol 3, Part C, 10.8.2.3).
struct IdentityResolver {
  private struct Entry: Hashable {
    let key: Key128
    let identity: DeviceAddress
  }

  /// All keys of all bonds: each adapter may have received a different one.
  private let keys: Set<Entry>
  private let identities: Set<DeviceAddress>

  /// Collects the keys of bonds, but none of zeros, and none for a private address, which cannot be an identity.
  init(_ bonds: [Bond] = []) {
    self.init(
      Set(
        bonds.compactMap { bond in
          guard let key = bond.identityResolvingKey.flatMap({ Key128(littleEndian: $0) }), key != .zero,
            !bond.peer.isResolvablePrivate
          else { return nil }
          return Entry(key: key, identity: bond.peer)
        }))
  }

  private init(_ keys: Set<Entry>) {
    self.keys = keys
    identities = Set(keys.map(\.identity))
  }

  /// The keys missing in `other`.
  func subtracting(_ other: IdentityResolver) -> IdentityResolver { IdentityResolver(keys.subtracting(other.keys)) }

  var resolvesAny: Bool { !keys.isEmpty }

  /// True if private addresses of this device can be resolved.
  func resolves(_ identity: DeviceAddress) -> Bool { identities.contains(identity) }

  /// The identity address behind this address; nil if no bond resolves it. Costs one encryption per key.
  func identity(of address: DeviceAddress) -> DeviceAddress? {
    keys.first { address.isResolved(by: $0.key) }?.identity
  }
}

extension IdentityResolver: Equatable {}
