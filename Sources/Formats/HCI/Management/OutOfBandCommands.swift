/// Add Remote Out Of Band Data in its long form, for LE Secure Connections (mgmt-api).
package struct AddRemoteOutOfBandData: ManagementCommand {
  package static let opcode: UInt16 = 0x0021
  package var device = ManagementAddress()
  /// 16 octets.
  package var confirmation: [UInt8] = []
  /// 16 octets.
  package var random: [UInt8] = []

  package init() {}
  package mutating func code(with coder: inout OctetCoder) {
    // The values for P-192, which LE does not have.
    var none = [UInt8](repeating: 0, count: 32)
    coder.fields(&device)
    coder.octets(&none, count: 32)
    coder.octets(&confirmation, count: 16)
    coder.octets(&random, count: 16)
  }
}

/// Remove Remote Out Of Band Data (mgmt-api).
package struct RemoveRemoteOutOfBandData: ManagementCommand, ManagementDeviceParameters {
  package static let opcode: UInt16 = 0x0022
  package var device = ManagementAddress()
  package init() {}
}

/// Read Local Out Of Band Extended Data (mgmt-api): the kernel makes new data each time.
package struct ReadLocalOutOfBandExtendedData: ManagementCommand {
  package static let opcode: UInt16 = 0x003B
  /// Bits of address types: LE public and LE random.
  package var types: UInt8 = 0x06

  package init() {}
  package mutating func code(with coder: inout OctetCoder) { coder.fields(&types) }

  /// The AD structures in the return parameters; nil if they are cut.
  package static func data(in returned: [UInt8]) -> ArraySlice<UInt8>? {
    guard returned.count >= 3 else { return nil }
    let end = 3 + Int(returned[1]) + Int(returned[2]) << 8
    return end <= returned.count ? returned[3..<end] : nil
  }
}
