import Bluetooth

/// Apple's beacon: manufacturer-specific data of 25 octets, sent about ten times a second.
public struct IBeacon: Hashable, Sendable {
  /// Apple's company identifier.
  public static let company: UInt16 = 0x004C
  /// The first octets of the data: the type, and the number of octets that follow.
  private static let beginning: [UInt8] = [0x02, 0x15]

  /// The owner's identifier.
  public var uuid: BluetoothUUID
  /// The first number set by the owner, for example a building's.
  public var major: UInt16
  /// The second number, for example a room's.
  public var minor: UInt16
  /// The signal strength at a receiver 1 m away, in dBm.
  public var measuredPower: Int8

  /// Makes a beacon.
  public init(uuid: BluetoothUUID, major: UInt16, minor: UInt16, measuredPower: Int8) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
    self.measuredPower = measuredPower
  }

  /// Reads manufacturer-specific data.
  /// - Returns: nil for other data.
  public init?(_ data: AdvertisingData.ManufacturerData) {
    guard data.company == Self.company, data.data.starts(with: Self.beginning) else { return nil }
    self.init(content: data.data.dropFirst(Self.beginning.count))
  }

  /// Reads the octets behind the type and the length: the names and the power.
  /// - Returns: nil unless there are 21.
  public init?(content: some Collection<UInt8>) {
    guard content.count == 21 else { return nil }
    var reader = OctetReader(Array(content))
    guard let place = BeaconPlace(from: &reader), let power = reader.uint8() else { return nil }
    self.init(
      uuid: place.uuid, major: place.major, minor: place.minor, measuredPower: Int8(bitPattern: power))
  }

  /// Its manufacturer-specific data.
  public var manufacturerData: AdvertisingData.ManufacturerData {
    .init(company: Self.company, data: Self.beginning + content)
  }

  /// The 21 octets behind the type and the length.
  public var content: [UInt8] { place.octets + [UInt8(bitPattern: measuredPower)] }

  var place: BeaconPlace { BeaconPlace(uuid: uuid, major: major, minor: minor) }

  /// The content, by name.
  public var decoded: DecodedData {
    var decoded = DecodedData(.iBeacon)
    decoded.add(place)
    decoded.add("measuredPower", measuredPower)
    return decoded
  }
}

/// The 20 octets identifying an iBeacon, and by custom also an AltBeacon: all numbers with the most significant octet
/// first.
struct BeaconPlace: Hashable {
  var uuid: BluetoothUUID
  var major: UInt16
  var minor: UInt16

  init(uuid: BluetoothUUID, major: UInt16, minor: UInt16) {
    self.uuid = uuid
    self.major = major
    self.minor = minor
  }

  init?(from reader: inout OctetReader) {
    guard let octets = reader.octets(16), let uuid = BluetoothUUID(littleEndian: octets.reversed()),
      let major = reader.bigEndian(2), let minor = reader.bigEndian(2)
    else { return nil }
    self.init(uuid: uuid, major: UInt16(truncatingIfNeeded: major), minor: UInt16(truncatingIfNeeded: minor))
  }

  var octets: [UInt8] {
    uuid.littleEndian128.reversed() + [major, minor].flatMap { [UInt8($0 >> 8), UInt8(truncatingIfNeeded: $0)] }
  }
}

extension DecodedData {
  mutating func add(_ place: BeaconPlace) {
    add("uuid", .text("\(place.uuid)"))
    add("major", place.major)
    add("minor", place.minor)
  }
}
