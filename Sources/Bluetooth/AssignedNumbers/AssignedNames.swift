extension BluetoothUUID {
  /// The name of the service, characteristic, descriptor or declaration that the Bluetooth SIG gave this UUID to:
  /// "Heart Rate Measurement"; nil if the tables here do not hold it.
  public var assignedName: String? {
    guard let short16 else { return nil }
    let number = UInt32(short16)
    return switch short16 >> 8 {
    case 0x28, 0x29: AssignedNames.descriptors[number]
    case 0x2A: AssignedNames.characteristics2A[number]
    case 0x2B...0x2F: AssignedNames.characteristics2B[number]
    default: AssignedNames.services[number]
    }
  }
}

extension AdvertisingData.ManufacturerData {
  /// The name of the company; nil if the table here does not hold it.
  public var companyName: String? { AssignedNames.companies[UInt32(company)] }
}

/// Tables of numbers and their names, kept as text and read when first asked for.
enum AssignedNames {
  /// Reads lines of a hexadecimal number, a space and a name.
  static func table(_ text: StaticString) -> [UInt32: String] {
    var table: [UInt32: String] = [:]
    for line in text.description.utf8.split(separator: UInt8(ascii: "\n")) {
      guard let space = line.firstIndex(of: UInt8(ascii: " ")),
        let number = String(line[..<space]).flatMap({ UInt32($0, radix: 16) }),
        let name = String(line[line.index(after: space)...])
      else { continue }
      table[number] = name
    }
    return table
  }
}
