extension BluetoothUUID: Codable {
  /// Reads the text form.
  /// - Throws: `DecodingError.dataCorrupted` for any text that is not a UUID.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let uuid = BluetoothUUID(text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text)\" is not a UUID: give 4 or 8 hex digits, or 32 with dashes")
    }
    self = uuid
  }

  /// Writes the shortest text form.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension DeviceAddress.Kind: Codable {
  /// Reads "public" or "random".
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let kind = DeviceAddress.Kind.allCases.first(where: { "\($0)" == text }) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text)\" is not an address type: give \"public\" or \"random\"")
    }
    self = kind
  }

  /// Writes "public" or "random".
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode("\(self)")
  }
}
