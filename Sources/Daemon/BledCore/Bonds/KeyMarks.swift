import Adapter
import BledRPC
import Bluetooth
import BluetoothCrypto

/// Marks of the keys of a bond: state that belongs to keys is stored with their marks, in another document than the
/// keys, and is of no use with others. They tell nothing of the keys.
struct KeyMarks: Codable, Hashable, Sendable {
  /// Of the keys for encryption.
  let encryption: HexBytes?
  /// Of the key with which the device signs.
  let theirs: HexBytes?
  /// Of the key with which we sign.
  let ours: HexBytes?

  init(_ bond: Bond) {
    encryption = Self.mark(bond.longTermKeys.map(\.value))
    theirs = Self.mark([bond.peerSignatureKey?.value].compactMap(\.self))
    ours = Self.mark([bond.signatureKey?.value].compactMap(\.self))
  }

  /// AES-CMAC of a text under each key, which tells nothing of the key; in no order of the keys.
  private static func mark(_ keys: [[UInt8]]) -> HexBytes? {
    let marks = keys.compactMap { Key128(littleEndian: $0) }.map { key in
      AES128.cmac("bled: clients".utf8, key: key).bigEndian
    }
    let sorted = marks.sorted { $0.lexicographicallyPrecedes($1) }
    return sorted.isEmpty ? nil : HexBytes(Array(sorted.joined()))
  }
}
