import Adapter
import BledRPC
import Bluetooth
import BluetoothCrypto

/// Marks of a bond's keys: state that belongs to keys is stored with their marks, in another document than the keys,
/// and is useless with others. They reveal nothing about the keys.
struct KeyMarks: Codable, Hashable, Sendable {
  /// Mark of the encryption keys.
  let encryption: HexBytes?
  /// Mark of the device's signing key.
  let theirs: HexBytes?
  /// Mark of our signing key.
  let ours: HexBytes?

  init(_ bond: Bond) {
    encryption = Self.mark(bond.longTermKeys.map(\.value))
    theirs = Self.mark([bond.peerSignatureKey?.value].compactMap(\.self))
    ours = Self.mark([bond.signatureKey?.value].compactMap(\.self))
  }

  /// AES-CMAC of a text under each key, independent of their order. It reveals nothing about the keys.
  private static func mark(_ keys: [[UInt8]]) -> HexBytes? {
    let marks = keys.compactMap { Key128(littleEndian: $0) }.map { key in
      AES128.cmac("bled: clients".utf8, key: key).bigEndian
    }
    let sorted = marks.sorted { $0.lexicographicallyPrecedes($1) }
    return sorted.isEmpty ? nil : HexBytes(Array(sorted.joined()))
  }
}
