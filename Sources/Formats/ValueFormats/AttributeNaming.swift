import AssignedValues
import Bluetooth

/// The names and formats of one device's attributes beside the assigned ones: the user's, else the ones in the device's
/// descriptors.
public struct AttributeNaming: Sendable {
  /// The user's.
  public var list: NameList
  /// The device's address.
  public let address: String?
  /// By the handle of the characteristic.
  private var names: [UInt16: String] = [:]
  private var formats: [UInt16: ValueFormat] = [:]

  /// The longest name of a device, in characters.
  private static let longestName = 64

  /// Begins without any description by the device.
  public init(list: NameList = NameList(), address: String? = nil) { (self.list, self.address) = (list, address) }

  /// The descriptors with a name and a format: Characteristic User Description and Presentation Format.
  public static let descriptors: [BluetoothUUID] = [0x2901, 0x2904]

  /// A descriptor was read.
  /// - Parameter handle: That of its characteristic.
  public mutating func received(_ descriptor: BluetoothUUID, _ value: [UInt8], of handle: UInt16) {
    switch descriptor.short16 {
    case 0x2901: if let name = Self.name(value) { names[handle] = name }
    case 0x2904: formats[handle] = PresentationFormat(value).flatMap { ValueFormat($0) }
    default: break
    }
  }

  /// The text of a description, so that it can be part of a line: control characters, characters that change the
  /// direction, and separators of lines are dropped.
  /// - Returns: nil if nothing is left.
  private static func name(_ value: [UInt8]) -> String? {
    var scalars = String.UnicodeScalarView()
    for scalar in (AdvertisingData.text(value) ?? "").unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: continue
      default: if !scalars.isEmpty || !scalar.properties.isWhitespace { scalars.append(scalar) }
      }
    }
    var name = String(scalars).prefix(longestName)
    while name.last?.isWhitespace == true { name.removeLast() }
    return name.isEmpty ? nil : String(name)
  }

  /// The name of an attribute: a device names only attributes without an assigned name.
  /// - Parameter handle: That of a characteristic; nil: any.
  public func name(of uuid: BluetoothUUID, in service: BluetoothUUID? = nil, handle: UInt16? = nil) -> String? {
    list.name(of: uuid, in: service, of: address) ?? (uuid.knownName == nil ? handle.flatMap { names[$0] } : nil)
  }

  /// The format of an attribute's value.
  /// - Parameter handle: That of a characteristic.
  public func format(of uuid: BluetoothUUID, in service: BluetoothUUID? = nil, handle: UInt16) -> ValueFormat? {
    list.format(of: uuid, in: service, of: address) ?? formats[handle]
  }
}
