import Bluetooth
import BluetoothCrypto

/// The contents of an init packet, the boot loader's reasons for or against an update: a message of Protocol Buffers,
/// signed or not (nRF5 SDK, `dfu-cc.proto`). Only the device can check the signature.
public struct InitPacket: Hashable, Sendable {
  /// The firmware that is replaced.
  public enum Kind: UInt64, Sendable, CustomStringConvertible {
    case application = 0
    case softDevice = 1
    case bootLoader = 2
    case softDeviceAndBootLoader = 3
    case externalApplication = 4

    /// "application", "SoftDevice and boot loader"
    public var description: String {
      switch self {
      case .application: "application"
      case .softDevice: "SoftDevice"
      case .bootLoader: "boot loader"
      case .softDeviceAndBootLoader: "SoftDevice and boot loader"
      case .externalApplication: "external application"
      }
    }
  }

  /// The version, which boot loaders compare with that of the firmware they have; nil if it has none.
  public private(set) var firmwareVersion: UInt32?
  /// The number of the hardware; nil for any.
  public private(set) var hardwareVersion: UInt32?
  /// The identifiers of the SoftDevices that the firmware runs on.
  public private(set) var softDevices: [UInt32] = []
  /// The firmware that is replaced.
  public private(set) var kind = Kind.application
  /// Octets of the SoftDevice, the boot loader and the application, which follow one another in the firmware.
  public private(set) var sizes: [UInt32] = []
  /// The SHA-256 hash of the firmware; nil if it has another kind of hash.
  public private(set) var hash: [UInt8]?
  /// True if it has a signature.
  public private(set) var isSigned = false

  /// Octets of all firmware.
  public var length: Int { sizes.reduce(0) { $0 + Int($1) } }

  /// Reads an init packet.
  /// - Returns: nil if it has none of the known forms.
  public init?(_ octets: [UInt8]) {
    guard let packet = ProtobufFields(octets) else { return nil }
    var command = packet.message(1)
    if let signed = packet.message(2) {
      isSigned = true
      command = signed.message(1)
    }
    guard let initial = command?.message(2) else { return nil }
    firmwareVersion = initial.uint32(1)
    hardwareVersion = initial.uint32(2)
    softDevices = initial.uint32s(3)
    guard let kind = Kind(rawValue: initial.number(4) ?? 0) else { return nil }
    self.kind = kind
    sizes = (5...7).compactMap { initial.uint32($0) }
    if let hash = initial.message(8), hash.number(1) == 3, let octets = hash.octets(2), octets.count == 32 {
      // The least significant octet first.
      self.hash = octets.reversed()
    }
  }

  /// True if this firmware is the one described; also if it has no hash that can be compared.
  public func describes(_ firmware: [UInt8]) -> Bool {
    (sizes.isEmpty || length == firmware.count) && (hash.map { $0 == SHA256.hash(firmware) } ?? true)
  }
}

/// The fields of a message of Protocol Buffers.
private struct ProtobufFields {
  private enum Value {
    case number(UInt64)
    case octets([UInt8])
  }

  private var fields: [(number: UInt64, value: Value)] = []

  /// - Returns: nil for octets that are no message.
  init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    while !reader.isAtEnd {
      guard let key = Self.varint(&reader) else { return nil }
      switch key & 7 {
      case 0:
        guard let number = Self.varint(&reader) else { return nil }
        fields.append((key >> 3, .number(number)))
      case 1: guard reader.octets(8) != nil else { return nil }
      case 2:
        guard let count = Self.varint(&reader), let length = Int(exactly: count), let value = reader.octets(length)
        else { return nil }
        fields.append((key >> 3, .octets(value)))
      case 5: guard reader.octets(4) != nil else { return nil }
      default: return nil
      }
    }
  }

  func number(_ field: UInt64) -> UInt64? {
    for case (field, .number(let number)) in fields.reversed() { return number }
    return nil
  }

  func uint32(_ field: UInt64) -> UInt32? { number(field).flatMap(UInt32.init(exactly:)) }

  func octets(_ field: UInt64) -> [UInt8]? {
    for case (field, .octets(let octets)) in fields.reversed() { return octets }
    return nil
  }

  func message(_ field: UInt64) -> ProtobufFields? { octets(field).flatMap { ProtobufFields($0) } }

  /// Repeated numbers, one by one or packed.
  func uint32s(_ field: UInt64) -> [UInt32] {
    fields.filter { $0.number == field }.flatMap { entry -> [UInt32] in
      switch entry.value {
      case .number(let number): return UInt32(exactly: number).map { [$0] } ?? []
      case .octets(let octets):
        var (reader, numbers) = (OctetReader(octets), [UInt32]())
        while let number = Self.varint(&reader) { numbers += UInt32(exactly: number).map { [$0] } ?? [] }
        return numbers
      }
    }
  }

  private static func varint(_ reader: inout OctetReader) -> UInt64? {
    var value: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let octet = reader.uint8() else { return nil }
      value |= UInt64(octet & 0x7F) << shift
      if octet < 0x80 { return value }
    }
    return nil
  }
}
