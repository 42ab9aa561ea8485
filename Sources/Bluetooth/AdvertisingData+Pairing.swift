/// Advertising data for out-of-band pairing (CSS, Part A, 1.6 to 1.8 and 1.18; Core 5.4, Vol 3, Part H, 2.3.5).
extension AdvertisingData {
  /// What is known out of band.
  public struct SecurityManagerFlags: OptionSet, Hashable, Sendable {
    /// The octet of the packet.
    public let rawValue: UInt8
    /// Makes flags from the octet.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// Out of band data is present.
    public static let outOfBandDataPresent = Self(rawValue: 0x01)
    /// The host supports LE.
    public static let leSupported = Self(rawValue: 0x02)
    /// The host can do LE and BR/EDR at once.
    public static let simultaneousLEAndBREDR = Self(rawValue: 0x04)
    /// The address is random, not public.
    public static let randomAddress = Self(rawValue: 0x08)
  }

  /// What is known out of band.
  public var securityManagerFlags: SecurityManagerFlags? {
    first(.securityManagerFlags)?.first.map(SecurityManagerFlags.init(rawValue:))
  }

  /// The temporary key of legacy pairing, 16 octets in wire order.
  public var temporaryKey: [UInt8]? { value128(.securityManagerTK) }

  /// The confirm value of LE Secure Connections, 16 octets in wire order.
  public var secureConnectionsConfirmation: [UInt8]? { value128(.secureConnectionsConfirmation) }

  /// The random value of LE Secure Connections, 16 octets in wire order.
  public var secureConnectionsRandom: [UInt8]? { value128(.secureConnectionsRandom) }

  /// The code that encrypts a broadcast, 16 octets in wire order.
  public var broadcastCode: [UInt8]? { value128(.broadcastCode) }

  /// Class of Device, 24 bits (BR/EDR).
  public var classOfDevice: UInt32? { read(.classOfDevice) { $0.uint24() } }

  private func value128(_ type: AdvertisingDataType) -> [UInt8]? {
    first(type).flatMap { $0.count == 16 ? $0 : nil }
  }
}

extension AdvertisingData.Structure {
  /// A structure of what is known out of band.
  public static func securityManagerFlags(_ flags: AdvertisingData.SecurityManagerFlags) -> Self {
    Self(.securityManagerFlags, [flags.rawValue])
  }

  /// A structure of Class of Device; only the low 24 bits are used.
  public static func classOfDevice(_ value: UInt32) -> Self { Self(.classOfDevice, value.littleEndianOctets(3)) }
}
