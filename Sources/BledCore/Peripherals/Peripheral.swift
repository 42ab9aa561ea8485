import Adapter
import BledRPC
import Bluetooth

/// A device that was received, connected, or requested: what the daemon remembers of it.
final class Peripheral {
  /// How many users are remembered.
  private static let maximumUsers = 16

  /// The name that clients use for it: a random UUID, upper case.
  let id: String
  /// The same as a small number, for internal tables; never reused.
  let number: Int
  /// The address by which it is reached.
  let address: DeviceAddress
  /// The address that it keeps, once it has told it: keys are kept under that one.
  var identity: DeviceAddress
  /// The adapter that heard it last or holds its link.
  var adapter: AdapterSlot
  /// When it was last heard, connected or asked for.
  var lastUse: Instant
  /// Signal strength when it was last heard.
  var rssi: Int?
  /// The last advertisement and the data of the last scan response, as received.
  private(set) var advertisement: AdvertisingReport?
  private(set) var scanResponse: [UInt8]?
  /// What both say.
  private(set) var advertised = AdvertisingData(parsing: [])
  /// The services that both list; every report is held against the filters of all scans.
  private(set) var services: [BluetoothUUID] = []
  /// Incremented when the bytes of either change.
  private(set) var revision = 0
  /// The report on it, while it is repeated: as long as nothing in it changes but signal strength and time.
  var reportForm: ScanReport.Form?
  /// How many brokers rely on it; while there is one it is not forgotten.
  var holds = 0
  /// Whether the store has it.
  var isKept = false
  /// Whether there ever was a link to it.
  var wasConnected = false
  /// Whether it does not answer Exchange MTU.
  var ignoresMTU = false
  /// The users who requested a connection to it, as far as known.
  private(set) var users: Set<UInt32> = []
  /// What was discovered on it, if its database has a hash.
  var cache: GATTCache?
  /// Its name when it was last written to the store.
  private let storedName: String?

  init(id: String, number: Int, address: DeviceAddress, adapter: AdapterSlot, now: Instant, name: String? = nil) {
    self.id = id
    self.number = number
    self.address = address
    identity = address
    self.adapter = adapter
    lastUse = now
    storedName = name
  }

  /// A user requests a connection to it.
  func used(by user: UInt32?) {
    guard let user, users.count < Self.maximumUsers else { return }
    users.insert(user)
  }

  /// Whether a user has requested a connection to it.
  func isUsed(by user: UInt32?) -> Bool { user.map(users.contains) ?? false }

  /// Its name as last advertised, possibly before the daemon started.
  var name: String? { advertised.localName ?? storedName }

  /// Records an advertisement or scan response.
  func heard(_ report: AdvertisingReport, on slot: AdapterSlot) {
    adapter = slot
    rssi = report.rssi
    let isNews: Bool
    if report.isScanResponse {
      isNews = report.data != scanResponse
      scanResponse = report.data
    } else {
      isNews = report.data != advertisement?.data || report.isTruncated != advertisement?.isTruncated
      if let last = advertisement, !report.isSent(as: last) { reportForm = nil }
      advertisement = report
    }
    guard isNews else { return }
    reportForm = nil
    revision += 1
    advertised = AdvertisingData(parsing: advertisement?.data ?? [])
    if let scanResponse { advertised = advertised.merged(with: AdvertisingData(parsing: scanResponse)) }
    services = advertised.serviceUUIDs
  }
}

extension AdvertisingReport {
  /// Whether all but the data, the signal strength and the time is the same.
  fileprivate func isSent(as other: AdvertisingReport) -> Bool {
    isConnectable == other.isConnectable && isDirected == other.isDirected && primaryPHY == other.primaryPHY
      && secondaryPHY == other.secondaryPHY && sid == other.sid && txPower == other.txPower
  }
}

extension Peripheral: Hashable {
  static func == (left: Peripheral, right: Peripheral) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}

extension PeripheralRecord {
  init(_ peripheral: Peripheral) {
    self.peripheral = peripheral.id
    address = "\(peripheral.address)"
    addressType = "\(peripheral.address.kind)"
    adapter = peripheral.adapter.id
    name = peripheral.name
    wasConnected = peripheral.wasConnected ? nil : false
    ignoresMTU = peripheral.ignoresMTU ? true : nil
    users = peripheral.users.isEmpty ? nil : peripheral.users.sorted()
    cache = peripheral.cache.map { Cache(hash: HexBytes($0.hash), attributes: HexBytes($0.attributes)) }
  }
}
