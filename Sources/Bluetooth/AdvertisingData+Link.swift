/// AD data about addresses, intervals and the link layer (CSS, Part A, 1.8, 1.9, 1.13 to 1.17, 1.19 and 1.20).
extension AdvertisingData {
  /// Which roles a device can take and which it prefers.
  public enum Role: UInt8, Hashable, Sendable, CaseIterable {
    /// Peripheral only.
    case peripheral = 0
    /// Central only.
    case central = 1
    /// Both; preferably peripheral.
    case preferablyPeripheral = 2
    /// Both; preferably central.
    case preferablyCentral = 3
  }

  /// The range of connection intervals that a peripheral prefers, in units of 1.25 ms; nil where it says nothing.
  public struct ConnectionIntervalRange: Hashable, Sendable {
    /// 6 to 3200.
    public var minimum: UInt16?
    /// 6 to 3200, not less than the minimum.
    public var maximum: UInt16?

    /// Makes a range.
    public init(minimum: UInt16?, maximum: UInt16?) {
      self.minimum = minimum
      self.maximum = maximum
    }
  }

  /// New channel map and the event counter at which it comes into force.
  public struct ChannelMapUpdate: Hashable, Sendable {
    /// Bit n stands for channel n, 0 to 36.
    public var channelMap: UInt64
    /// The periodic event counter.
    public var instant: UInt16

    /// Makes an update.
    public init(channelMap: UInt64, instant: UInt16) {
      self.channelMap = channelMap
      self.instant = instant
    }
  }

  /// When and where answers to periodic advertising are sent.
  public struct PeriodicResponseTiming: Hashable, Sendable {
    /// The access address of the answers.
    public var accessAddress: UInt32
    /// 1 to 128.
    public var subevents: UInt8
    /// In units of 1.25 ms.
    public var subeventInterval: UInt8
    /// In units of 1.25 ms.
    public var responseSlotDelay: UInt8
    /// In units of 0.125 ms.
    public var responseSlotSpacing: UInt8

    /// Makes timing information.
    public init(
      accessAddress: UInt32, subevents: UInt8, subeventInterval: UInt8, responseSlotDelay: UInt8,
      responseSlotSpacing: UInt8
    ) {
      self.accessAddress = accessAddress
      self.subevents = subevents
      self.subeventInterval = subeventInterval
      self.responseSlotDelay = responseSlotDelay
      self.responseSlotSpacing = responseSlotSpacing
    }
  }

  /// The roles of the device.
  public var role: Role? { first(.role)?.first.flatMap(Role.init(rawValue:)) }

  /// The connection intervals that the peripheral prefers.
  public var connectionIntervalRange: ConnectionIntervalRange? {
    read(.peripheralConnectionIntervalRange) { reader in
      guard let minimum = reader.uint16(), let maximum = reader.uint16() else { return nil }
      return ConnectionIntervalRange(
        minimum: minimum == .max ? nil : minimum, maximum: maximum == .max ? nil : maximum)
    }
  }

  /// The time between two advertising events in units of 0.625 ms.
  public var advertisingInterval: UInt32? {
    if let short = first(.advertisingInterval), short.count == 2 { return UInt32(littleEndian: short) }
    guard let long = first(.advertisingIntervalLong), (3...4).contains(long.count) else { return nil }
    return UInt32(littleEndian: long)
  }

  /// The addresses of the devices that this is meant for.
  public var targetAddresses: [DeviceAddress] {
    structures.flatMap { structure -> [DeviceAddress] in
      guard [.publicTargetAddress, .randomTargetAddress].contains(structure.type) else { return [] }
      return stride(from: 0, through: structure.data.count - 6, by: 6).compactMap {
        DeviceAddress(
          littleEndian: structure.data[$0..<$0 + 6], kind: structure.type == .publicTargetAddress ? .public : .random)
      }
    }
  }

  /// The device's own address.
  public var deviceAddress: DeviceAddress? {
    guard let data = first(.deviceAddress), data.count == 7 else { return nil }
    return DeviceAddress(littleEndian: data.prefix(6), kind: data[6] & 1 == 0 ? .public : .random)
  }

  /// The link layer features, bit n for feature n (Core 5.4, Vol 6, Part B, 4.6).
  public var supportedFeatures: UInt64? {
    first(.supportedFeatures).map { data in data.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
  }

  /// A channel map that comes into force.
  public var channelMapUpdate: ChannelMapUpdate? {
    read(.channelMapUpdate) { reader in
      guard let map = reader.unsigned(5), let instant = reader.uint16() else { return nil }
      return ChannelMapUpdate(channelMap: map, instant: instant)
    }
  }

  /// When and where answers to periodic advertising are sent.
  public var periodicResponseTiming: PeriodicResponseTiming? {
    read(.periodicResponseTiming) { reader in
      guard let address = reader.uint32(), let subevents = reader.uint8(), let interval = reader.uint8(),
        let delay = reader.uint8(), let spacing = reader.uint8()
      else { return nil }
      return PeriodicResponseTiming(
        accessAddress: address, subevents: subevents, subeventInterval: interval, responseSlotDelay: delay,
        responseSlotSpacing: spacing)
    }
  }

  func read<Value>(_ type: AdvertisingDataType, _ body: (inout OctetReader) -> Value?) -> Value? {
    guard let data = first(type) else { return nil }
    var reader = OctetReader(data)
    return body(&reader)
  }
}

extension UInt32 {
  /// The number in up to four octets, least significant first.
  init(littleEndian octets: [UInt8]) { self = octets.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
}

extension FixedWidthInteger {
  /// The low octets of the number, least significant first.
  func littleEndianOctets(_ count: Int = Self.bitWidth / 8) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: self >> (8 * $0)) }
  }
}

/// Builds the structures that `AdvertisingData+Link` reads.
extension AdvertisingData.Structure {
  /// A structure of the device's roles.
  public static func role(_ role: AdvertisingData.Role) -> Self { Self(.role, [role.rawValue]) }

  /// A structure of the connection intervals that the peripheral prefers.
  public static func connectionIntervalRange(_ range: AdvertisingData.ConnectionIntervalRange) -> Self {
    let (minimum, maximum) = (range.minimum ?? .max, range.maximum ?? .max)
    return Self(.peripheralConnectionIntervalRange, minimum.littleEndianOctets() + maximum.littleEndianOctets())
  }

  /// A structure of the time between two advertising events in units of 0.625 ms, in the shortest form that holds it.
  public static func advertisingInterval(_ interval: UInt32) -> Self {
    switch interval {
    case ...0xFFFF: Self(.advertisingInterval, interval.littleEndianOctets(2))
    case ...0xFF_FFFF: Self(.advertisingIntervalLong, interval.littleEndianOctets(3))
    default: Self(.advertisingIntervalLong, interval.littleEndianOctets())
    }
  }

  /// Structures of the target devices, one for each type of address that occurs.
  public static func targetAddresses(_ addresses: [DeviceAddress]) -> [Self] {
    DeviceAddress.Kind.allCases.compactMap { kind in
      let octets = addresses.filter { $0.kind == kind }.flatMap(\.littleEndian)
      return octets.isEmpty ? nil : Self(kind == .public ? .publicTargetAddress : .randomTargetAddress, octets)
    }
  }

  /// A structure of the device's own address.
  public static func deviceAddress(_ address: DeviceAddress) -> Self {
    Self(.deviceAddress, address.littleEndian + [address.kind.rawValue])
  }

  /// A structure of link layer features, without the zeros at its end.
  public static func supportedFeatures(_ features: UInt64) -> Self {
    let count = max(1, (64 - features.leadingZeroBitCount + 7) / 8)
    return Self(.supportedFeatures, features.littleEndianOctets(count))
  }

  /// A structure of a channel map that comes into effect.
  public static func channelMapUpdate(_ update: AdvertisingData.ChannelMapUpdate) -> Self {
    Self(.channelMapUpdate, update.channelMap.littleEndianOctets(5) + update.instant.littleEndianOctets())
  }

  /// A structure of when and where answers to periodic advertising are sent.
  public static func periodicResponseTiming(_ timing: AdvertisingData.PeriodicResponseTiming) -> Self {
    let rest = [timing.subevents, timing.subeventInterval, timing.responseSlotDelay, timing.responseSlotSpacing]
    return Self(.periodicResponseTiming, timing.accessAddress.littleEndianOctets() + rest)
  }
}
