import Adapter
import Bluetooth
import BluetoothCrypto

extension PrivacySettings {
  /// The key that resolves the private addresses of one adapter, 16 octets, least significant first; nil if the root
  /// does not have 16. Adapters have different keys: otherwise a device that knows two could not tell them apart.
  /// - Parameter identity: the address that the adapter keeps.
  package func identityResolvingKey(of identity: DeviceAddress) -> [UInt8]? {
    let kind: UInt8 = identity.kind == .public ? 0 : 1
    let octets = (0..<6).map { UInt8(truncatingIfNeeded: identity.value >> (8 * $0)) }
    return Key128(littleEndian: root).map { AES128.cmac([kind] + octets, key: $0).littleEndian }
  }
}
