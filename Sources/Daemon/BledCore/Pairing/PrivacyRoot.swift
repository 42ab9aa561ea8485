import BledRPC
import Bluetooth
import BluetoothCrypto

/// The secret behind this machine's identity resolving keys, and the addresses for controllers without one. It is made
/// once and stored: paired devices know this machine by them.
enum PrivacyRoot {
  /// The document `privacy` of the store.
  private struct Record: Codable, Hashable, Sendable {
    let root: HexBytes
  }

  /// The secret, 16 octets.
  static func load(from store: Store) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    var root = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    let document = store.document("privacy", version: 1) { Record(root: HexBytes(root)) }
    if let kept = document.load()?.root.octets, kept.count == 16 {
      root = kept
    } else {
      document.changed()
    }
    return root
  }

  /// The static random address for an adapter whose controller has none (Core 5.4, Vol 6, Part B, 1.3.2.1). Its message
  /// is longer than that for a key.
  static func address(of adapter: String, from root: [UInt8]) -> DeviceAddress {
    let key = Key128(littleEndian: root) ?? .zero
    let octets = AES128.cmac(Array("address \(adapter)".utf8), key: key).littleEndian.prefix(6)
    let value = octets.reduce(0) { $0 << 8 | UInt64($1) }
    return DeviceAddress(value: value | 0b11 << 46, kind: .random)
  }
}
