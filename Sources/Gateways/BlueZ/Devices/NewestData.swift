import Bluetooth

/// The data of one kind that a device has advertised, by company or service. A device may advertise any number of them
/// in turn: the newest are kept.
struct NewestData<Key: Hashable> {
  /// The number of entries.
  static var maximum: Int { 16 }
  /// The octets of all entries but the newest.
  static var maximumOctets: Int { 2048 }

  private(set) var values: [Key: [UInt8]] = [:]
  /// The newest last.
  private var order: [Key] = []

  /// The device has advertised this.
  mutating func set(_ value: [UInt8], for key: Key) {
    if order.last != key {
      order.removeAll { $0 == key }
      order.append(key)
    }
    values[key] = value
    var octets = order.dropLast().reduce(0) { $0 + (values[$1]?.count ?? 0) }
    while order.count > Self.maximum || octets > Self.maximumOctets, let oldest = order.first {
      octets -= values.removeValue(forKey: oldest)?.count ?? 0
      order.removeFirst()
    }
  }
}

/// The services that a device has advertised: the newest are kept.
struct NewestServices {
  static let maximum = 64

  /// The newest last.
  private(set) var uuids: [BluetoothUUID] = []

  mutating func add(_ uuid: BluetoothUUID) {
    if let place = uuids.firstIndex(of: uuid) {
      uuids.remove(at: place)
    } else if uuids.count >= Self.maximum {
      uuids.removeFirst()
    }
    uuids.append(uuid)
  }
}
