import Bluetooth

/// AltBeacon (AltBeacon Protocol Specification 1.0): like an iBeacon, in the manufacturer-specific data of any company.
public struct AltBeacon: Hashable, Sendable {
  /// The company identifier of the beacon's maker.
  public var company: UInt16
  /// The first 16 of the 20 identifying octets: the organization.
  public var uuid: BluetoothUUID
  /// The next two, most significant octet first.
  public var major: UInt16
  /// The last two, most significant octet first.
  public var minor: UInt16
  /// The signal strength at a receiver 1 m away, in dBm.
  public var measuredPower: Int8
  /// An octet defined by the beacon's maker.
  public var reserved: UInt8

  /// Makes a beacon.
  public init(
    company: UInt16, uuid: BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: Int8, reserved: UInt8 = 0
  ) {
    self.company = company
    self.uuid = uuid
    self.major = major
    self.minor = minor
    self.measuredPower = measuredPower
    self.reserved = reserved
  }

  /// Reads manufacturer-specific data.
  /// - Returns: nil for other data.
  public init?(_ data: AdvertisingData.ManufacturerData) {
    var reader = OctetReader(data.data)
    guard data.data.count == 24, reader.bigEndian(2) == 0xBEAC, let place = BeaconPlace(from: &reader),
      let power = reader.uint8(), let reserved = reader.uint8()
    else { return nil }
    self.init(
      company: data.company, uuid: place.uuid, major: place.major, minor: place.minor,
      measuredPower: Int8(bitPattern: power), reserved: reserved)
  }

  /// Its manufacturer-specific data.
  public var manufacturerData: AdvertisingData.ManufacturerData {
    let place = BeaconPlace(uuid: uuid, major: major, minor: minor)
    return .init(
      company: company, data: [0xBE, 0xAC] + place.octets + [UInt8(bitPattern: measuredPower), reserved])
  }

  /// The content, by name.
  public var decoded: DecodedData {
    var decoded = DecodedData(.altBeacon)
    decoded.add(BeaconPlace(uuid: uuid, major: major, minor: minor))
    decoded.add("measuredPower", measuredPower)
    decoded.add("company", company)
    decoded.add("reserved", reserved)
    return decoded
  }
}
