import Bluetooth

/// The document `blocked` of the store.
struct BlockedRecords: Codable, Hashable, Sendable {
  struct Device: Codable, Hashable, Sendable {
    let address: String
    let addressType: String
  }

  var devices: [Device] = []
}

/// The devices with which this machine refuses connections, by address.
final class BlockedDevices {
  /// Maximum blocked devices.
  static let maximum = 1024

  private var addresses: Set<DeviceAddress> = []
  private var document: StoredDocument<BlockedRecords>?

  init(store: Store) {
    let document = store.document("blocked", version: 1) { [unowned self] in
      BlockedRecords(devices: inOrder.map { .init(address: "\($0)", addressType: "\($0.kind)") })
    }
    self.document = document
    for device in (document.load()?.devices ?? []).prefix(Self.maximum) {
      guard let kind = DeviceAddress.Kind(word: device.addressType),
        let address = DeviceAddress(device.address, kind: kind)
      else { continue }
      addresses.insert(address)
    }
  }

  /// The blocked devices, in address order.
  var inOrder: [DeviceAddress] { addresses.sorted { ($0.value, "\($0.kind)") < ($1.value, "\($1.kind)") } }

  func contains(_ peripheral: Peripheral) -> Bool {
    !addresses.isEmpty && (addresses.contains(peripheral.identity) || addresses.contains(peripheral.address))
  }

  /// The reason why a session cannot be connected with a device; nil if it is not blocked.
  func refusal(of peripheral: Peripheral) -> BluetoothError? {
    guard contains(peripheral) else { return nil }
    return GAPError.blocked.error(
      "\(peripheral.address) is blocked on this machine: a program with the permission \"adapters\" can unblock it")
  }

  /// - Throws: `BledError.limitReached`.
  func add(_ peripheral: Peripheral) throws(BluetoothError) {
    guard !contains(peripheral) else { return }
    guard addresses.count < Self.maximum else {
      throw BledError.limitReached.error("\(Self.maximum) devices are blocked, which is the limit: unblock some")
    }
    addresses.insert(peripheral.identity)
    document?.changed()
  }

  func remove(_ peripheral: Peripheral) {
    guard contains(peripheral) else { return }
    addresses.subtract([peripheral.identity, peripheral.address])
    document?.changed()
  }
}
