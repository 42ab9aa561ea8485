import Bluetooth

/// A device at one adapter: `/org/bluez/hci0/dev_AA_BB_CC_DD_EE_FF`. The values of its properties are in the object
/// tree.
struct Device {
  /// A device of bled at one of its adapters.
  struct Key: Hashable {
    let peripheral: String
    let adapter: String
  }

  var key: Key
  let path: String
  /// Its identity, once revealed.
  var address: String
  /// "public" or "random".
  var addressType: String
  /// The time of its last advertisement.
  var lastHeard: Instant
  /// bled's time of its last report: several sessions receive the same one.
  var lastReport = 0.0
  /// The time and the signal strength of the last PropertiesChanged with RSSI.
  var told: (time: Instant, rssi: Int)?
  /// The properties sent to all programs at its last report.
  var toldToAll: Set<String> = []
  var manufacturerData = NewestData<UInt16>()
  var serviceData = NewestData<BluetoothUUID>()
  /// By the type of the data that no other property contains.
  var otherData = NewestData<UInt8>()
  /// The services that it has advertised.
  var services = NewestServices()
  /// The services found at its last connection.
  var found: [BluetoothUUID] = []

  /// The services of both kinds, as the property has them.
  var uuids: BusValue { .strings(Set(services.uuids + found).map(\.long).sorted()) }

  /// The path of the object of a device with this address, as written by bled or a program.
  static func path(_ adapter: String, _ address: String) -> String {
    adapter + "/dev_" + String(address.map { $0 == ":" ? "_" : $0 }).uppercased()
  }

  /// The name of its settings.
  var settingsKey: String { Self.settingsKey(address, addressType) }

  static func settingsKey(_ address: String, _ addressType: String) -> String { address + " " + addressType }

  /// True if it has a private address (Core 5.4, Vol 6, Part B, 1.3.2.2), which changes.
  var isPrivate: Bool {
    guard addressType == "random", let first = UInt8(address.prefix(2), radix: 16) else { return false }
    return first < 0xC0
  }
}

extension BluetoothUUID {
  /// All 128 bits in lower-case hex digits, as BlueZ writes every UUID.
  var long: String {
    let digits = Hex.encode(Array(littleEndian128.reversed()))
    let parts = [(0, 8), (8, 4), (12, 4), (16, 4), (20, 12)]
    return parts.map { String(digits.dropFirst($0.0).prefix($0.1)) }.joined(separator: "-")
  }
}
