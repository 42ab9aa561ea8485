import Bluetooth

/// The type of an address as HCI has it; more of them than devices have.
public struct AddressType: RawRepresentable, Hashable, Sendable {
  /// The octet on the wire.
  public let rawValue: UInt8
  /// Makes a type of the octet on the wire; all are accepted.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A public device address.
  public static let `public` = AddressType(rawValue: 0)
  /// A random device address.
  public static let random = AddressType(rawValue: 1)
  /// A public identity address that the controller resolved.
  public static let publicIdentity = AddressType(rawValue: 2)
  /// A random identity address that the controller resolved.
  public static let randomIdentity = AddressType(rawValue: 3)
  /// No address: an anonymous advertisement.
  public static let anonymous = AddressType(rawValue: 0xFF)

  /// Reads it.
  public init(from reader: inout OctetReader) throws(HCICodingError) { rawValue = try reader.uint8() }
  /// Writes it.
  public func write(to writer: inout OctetWriter) { writer.uint8(rawValue) }
}

/// An address with its type, as commands and events of HCI carry it.
public struct HCIAddress: Hashable, Sendable {
  /// The type.
  public var type: AddressType
  /// The 48 bits as a number.
  public var value: UInt64

  /// All bits zero.
  public static let none = HCIAddress(type: .public, value: 0)

  /// Makes an address of its parts.
  public init(type: AddressType, value: UInt64) {
    self.type = type
    self.value = value
  }

  /// The address of a device.
  public init(_ device: DeviceAddress) {
    self.init(type: device.kind == .public ? .public : .random, value: device.value)
  }

  /// The device behind it; nil for an anonymous one and types that are unknown.
  public var device: DeviceAddress? {
    switch type {
    case .public, .publicIdentity: DeviceAddress(value: value, kind: .public)
    case .random, .randomIdentity: DeviceAddress(value: value, kind: .random)
    default: nil
    }
  }
}
