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

extension BluetoothUUID {
  /// The services with a name, in upper or lower case, or, if none has it, with a name that begins so.
  public static func services(named name: String) -> [BluetoothUUID] {
    AssignedNames.numbers(named: name, in: AssignedNames.services).map { BluetoothUUID(UInt16($0)) }
  }
}

extension AdvertisingData.ManufacturerData {
  /// The numbers of the companies with a name, in upper or lower case, or, if none has it, with a name that begins so.
  public static func companies(named name: String) -> [UInt16] {
    AssignedNames.numbers(named: name, in: AssignedNames.companies).map { UInt16($0) }
  }

  /// The name of the company; nil if the table here does not hold it.
  public var companyName: String? { AssignedNames.companies[UInt32(company)] }
}

/// Tables of numbers and their names, kept as text and read when first asked for.
package enum AssignedNames {
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
  /// The numbers of 16 bits of a name, or of all names that begin so, the lowest first.
  fileprivate static func numbers(named name: String, in table: [UInt32: String]) -> [UInt32] {
    let wanted = name.lowercased()
    guard !wanted.isEmpty else { return [] }
    let whole = table.filter { $0.value.lowercased() == wanted }
    let found = whole.isEmpty ? table.filter { $0.value.lowercased().hasPrefix(wanted) } : whole
    return found.keys.filter { $0 <= UInt32(UInt16.max) }.sorted()
  }
}
