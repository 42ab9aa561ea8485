extension AdvertisingDataType {
  /// The name of the Assigned Numbers (2.3), or the number where there is none: "Flags", "AD type 0x99".
  public var name: String {
    AssignedNames.advertisingDataTypes[UInt32(rawValue)] ?? "AD type 0x\(Hex.encode([rawValue]))"
  }
}
