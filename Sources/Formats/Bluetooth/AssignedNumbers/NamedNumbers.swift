extension BluetoothUUID {
  /// The name of the service, characteristic, descriptor or declaration with this UUID from the Bluetooth SIG: "Heart
  /// Rate Measurement"; nil if it is not in the table.
  public var assignedName: String? { short16.flatMap { AssignedNames.name(of: $0, .uuid) } }

  /// Its name by the Bluetooth SIG or a vendor: "Nordic UART"; nil if it is not in the table.
  public var knownName: String? { AssignedNames.name(of: description, .uuid) }

  /// The services with a name, in upper or lower case, or, if none has it, with a name that begins so.
  public static func services(named name: String) -> [BluetoothUUID] {
    AssignedNames.numbers(named: name, .uuid).filter { !attributes.contains($0 >> 8) }.map { BluetoothUUID($0) }
  }

  /// The upper octets in numbers of declarations, descriptors and characteristics (Assigned Numbers, 3.6 to 3.8).
  private static let attributes: ClosedRange<UInt16> = 0x28...0x2F
}

extension AdvertisingData.ManufacturerData {
  /// The numbers of companies with a name, in upper or lower case, or, if none has it, with a name that begins so.
  public static func companies(named name: String) -> [UInt16] { AssignedNames.numbers(named: name, .company) }

  /// The names of all companies.
  public static var companyNames: [String] { AssignedNames.companyNames }

  /// The company's name; nil if it is not in the table.
  public var companyName: String? { AssignedNames.name(of: company, .company) }
}

extension AdvertisingDataType {
  /// The name in the Assigned Numbers (2.3), or else the number: "Flags", "AD type 0x99".
  public var name: String {
    let digits = Hex.encode([rawValue])
    return AssignedNames.name(of: digits.uppercased(), .advertisingDataType) ?? "AD type 0x\(digits)"
  }
}
