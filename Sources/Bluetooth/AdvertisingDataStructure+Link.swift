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
