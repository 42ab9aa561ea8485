import BledRPC
import Bluetooth
import GATT

/// The value of Characteristic Extended Properties (Core 5.4, Vol 3, Part G, 3.3.3.1).
struct ExtendedProperties: OptionSet, Hashable {
  /// The descriptor's two octets.
  let rawValue: UInt16

  /// Queued writes with verification.
  static let reliableWrite = ExtendedProperties(rawValue: 1)
  /// The descriptor Characteristic User Description can be written.
  static let writableAuxiliaries = ExtendedProperties(rawValue: 2)

  init(rawValue: UInt16) { self.rawValue = rawValue }

  /// Reads the descriptor's value; nil if it is empty. Bits of later versions are dropped.
  init?(_ octets: [UInt8]) {
    guard let first = octets.first else { return nil }
    self = Self(rawValue: UInt16(first)).intersection([.reliableWrite, .writableAuxiliaries])
  }

  /// As clients see them.
  var words: [Word<ExtendedProperty>] {
    [(Self.reliableWrite, ExtendedProperty.reliableWrite), (.writableAuxiliaries, .writableAuxiliaries)]
      .filter { contains($0.0) }.map(\.1).words()
  }
}

extension KnownAttributes {
  /// Reads the extended properties of a characteristic with known descriptors; nil if there is nothing to read.
  func missingExtendedProperties(of characteristic: DiscoveredCharacteristic) -> GATTProcedure? {
    let value = characteristic.valueHandle
    guard characteristic.properties.contains(.extendedProperties), !hasAskedForExtendedProperties(of: value) else {
      return nil
    }
    return descriptors(of: value)?.first { $0.uuid == 0x2900 }.map { .read($0.handle) }
  }

  /// Adds the device's answer, or nothing if it refused.
  mutating func add(extended octets: [UInt8], ofDescriptor handle: UInt16) {
    if let value = value(ofDescriptor: handle) { add(ExtendedProperties(octets), of: value) }
  }
}
