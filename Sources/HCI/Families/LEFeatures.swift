/// The features of an LE controller (Core 5.4, Vol 6, Part B, 4.6).
public struct LEFeatures: OptionSet, Hashable, Sendable {
  /// One bit a feature.
  public let rawValue: UInt64
  /// Makes a set of its bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// LE Encryption.
  public static let encryption = LEFeatures(rawValue: 1 << 0)
  /// Connection Parameters Request Procedure.
  public static let connectionParametersRequest = LEFeatures(rawValue: 1 << 1)
  /// Peripheral-initiated Features Exchange.
  public static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
  /// LE Data Packet Length Extension.
  public static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
  /// LL Privacy.
  public static let linkLayerPrivacy = LEFeatures(rawValue: 1 << 6)
  /// LE 2M PHY.
  public static let phy2M = LEFeatures(rawValue: 1 << 8)
  /// LE Coded PHY.
  public static let codedPHY = LEFeatures(rawValue: 1 << 11)
  /// LE Extended Advertising: the controller has the extended family.
  public static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
  /// LE Periodic Advertising.
  public static let periodicAdvertising = LEFeatures(rawValue: 1 << 13)

  /// Reads the eight octets.
  public init(from reader: inout OctetReader) throws(HCICodingError) { rawValue = try reader.uint64() }
  /// Writes the eight octets.
  public func write(to writer: inout OctetWriter) { writer.uint64(rawValue) }
}

/// Which activities a controller combines (Core 5.4, Vol 4, Part E, 7.8.27).
public struct LEStates: OptionSet, Hashable, Sendable {
  /// One bit a combination.
  public let rawValue: UInt64
  /// Makes a set of its bits.
  public init(rawValue: UInt64) { self.rawValue = rawValue }

  /// Connectable advertising while scanning passively.
  public static let advertisingAndPassiveScanning = LEStates(rawValue: 1 << 10)
  /// Connectable advertising while scanning actively.
  public static let advertisingAndActiveScanning = LEStates(rawValue: 1 << 14)
  /// Initiating while scanning passively.
  public static let initiatingAndPassiveScanning = LEStates(rawValue: 1 << 22)
  /// Initiating while scanning actively.
  public static let initiatingAndActiveScanning = LEStates(rawValue: 1 << 23)
  /// Initiating while advertising connectably.
  public static let initiatingAndAdvertising = LEStates(rawValue: 1 << 32)

  /// Reads the eight octets.
  public init(from reader: inout OctetReader) throws(HCICodingError) { rawValue = try reader.uint64() }
  /// Writes the eight octets.
  public func write(to writer: inout OctetWriter) { writer.uint64(rawValue) }
}
