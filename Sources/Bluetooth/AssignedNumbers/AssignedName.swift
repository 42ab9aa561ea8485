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
