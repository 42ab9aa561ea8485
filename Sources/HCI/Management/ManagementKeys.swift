/// A long term key as mgmt takes and gives it (mgmt-api).
public struct ManagementLongTermKey: ManagementParameters {
  /// Whom.
  public var device: ManagementAddress
  /// 0 legacy unauthenticated, 1 legacy authenticated, 2 and 3 the same for Secure Connections, 4 debug.
  public var keyType: UInt8
  /// Whether it is used while we are central.
  public var isCentral: Bool
  /// 7 to 16 octets.
  public var encryptionSize: UInt8
  /// Chosen with the key.
  public var encryptedDiversifier: UInt16
  /// Chosen with the key.
  public var randomNumber: UInt64
  /// 16 octets.
  public var value: [UInt8]

  /// Makes it of its parameters.
  public init(
    device: ManagementAddress, keyType: UInt8, isCentral: Bool, encryptionSize: UInt8, encryptedDiversifier: UInt16,
    randomNumber: UInt64, value: [UInt8]
  ) {
    self.device = device
    self.keyType = keyType
    self.isCentral = isCentral
    self.encryptionSize = encryptionSize
    self.encryptedDiversifier = encryptedDiversifier
    self.randomNumber = randomNumber
    self.value = value
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    keyType = try reader.uint8()
    isCentral = try reader.bool()
    encryptionSize = try reader.uint8()
    encryptedDiversifier = try reader.uint16()
    randomNumber = try reader.uint64()
    value = try reader.octets(16)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint8(keyType)
    writer.bool(isCentral)
    writer.uint8(encryptionSize)
    writer.uint16(encryptedDiversifier)
    writer.uint64(randomNumber)
    writer.octets(value, count: 16)
  }
}

/// An identity resolving key as mgmt takes and gives it (mgmt-api).
public struct ManagementIdentityResolvingKey: ManagementParameters {
  /// Whom.
  public var device: ManagementAddress
  /// 16 octets.
  public var value: [UInt8]

  /// Makes it of its parameters.
  public init(device: ManagementAddress, value: [UInt8]) {
    self.device = device
    self.value = value
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    value = try reader.octets(16)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.octets(value, count: 16)
  }
}

/// A signature resolving key as mgmt gives it (mgmt-api).
public struct ManagementSignatureResolvingKey: ManagementParameters {
  /// Whom.
  public var device: ManagementAddress
  /// 0 ours, 1 theirs, 2 and 3 the same, authenticated.
  public var type: UInt8
  /// 16 octets.
  public var value: [UInt8]

  /// Makes it of its parameters.
  public init(device: ManagementAddress, type: UInt8, value: [UInt8]) {
    self.device = device
    self.type = type
    self.value = value
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    device = try ManagementAddress(from: &reader)
    type = try reader.uint8()
    value = try reader.octets(16)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    device.write(to: &writer)
    writer.uint8(type)
    writer.octets(value, count: 16)
  }
}

/// New Long Term Key (mgmt-api).
public struct NewLongTermKey: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x000A
  /// Whether the key ought to be kept.
  public var storeHint: Bool
  /// The key.
  public var key: ManagementLongTermKey

  /// Makes it of its parameters.
  public init(storeHint: Bool, key: ManagementLongTermKey) {
    self.storeHint = storeHint
    self.key = key
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    storeHint = try reader.bool()
    key = try ManagementLongTermKey(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.bool(storeHint)
    key.write(to: &writer)
  }
}

/// New Identity Resolving Key (mgmt-api).
public struct NewIdentityResolvingKey: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0018
  /// Whether the key ought to be kept.
  public var storeHint: Bool
  /// 48 bits: the address that was used.
  public var resolvableAddress: UInt64
  /// The key, with the identity.
  public var key: ManagementIdentityResolvingKey

  /// Makes it of its parameters.
  public init(storeHint: Bool, resolvableAddress: UInt64, key: ManagementIdentityResolvingKey) {
    self.storeHint = storeHint
    self.resolvableAddress = resolvableAddress
    self.key = key
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    storeHint = try reader.bool()
    resolvableAddress = try reader.uint48()
    key = try ManagementIdentityResolvingKey(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.bool(storeHint)
    writer.uint48(resolvableAddress)
    key.write(to: &writer)
  }
}

/// New Signature Resolving Key (mgmt-api).
public struct NewSignatureResolvingKey: ManagementEventParameters {
  /// The event code.
  public static let code: UInt16 = 0x0019
  /// Whether the key ought to be kept.
  public var storeHint: Bool
  /// The key.
  public var key: ManagementSignatureResolvingKey

  /// Makes it of its parameters.
  public init(storeHint: Bool, key: ManagementSignatureResolvingKey) {
    self.storeHint = storeHint
    self.key = key
  }

  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    storeHint = try reader.bool()
    key = try ManagementSignatureResolvingKey(from: &reader)
  }

  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) {
    writer.bool(storeHint)
    key.write(to: &writer)
  }
}
