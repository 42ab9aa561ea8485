import Adapter
import BledRPC
import Bluetooth

/// A device that was received, connected, or requested: the daemon's record of it.
final class Peripheral {
  /// How many users are remembered.
  private static let maximumUsers = 16
  /// How long an address that is not heard any more counts as in use.
  private static let rotationTimeout = Duration.seconds(2)
  /// How long a device that advertises in turns in two ways may take for one.
  private static let turnTimeout = Duration.seconds(3)

  /// The name that clients use for it: a random UUID, upper case.
  let id: String
  /// The names of others that turned out to be the same device.
  private(set) var formerIDs: [String] = []
  private static let maximumFormerIDs = 4
  /// The same as a small number, for internal tables; never reused.
  let number: Int
  /// The address by which it is known: that of its identity, once it has told it.
  private(set) var address: DeviceAddress
  /// The address that it keeps, once it has told it: keys are kept under that one. It differs from `address` while
  /// another one is known by it, as long as both are in use.
  var identity: DeviceAddress
  /// The address under which it is reached at present, which is a private one if it uses private addresses.
  private(set) var current: DeviceAddress
  /// When it was last heard under that one.
  private var lastReached: Instant?
  /// Whether it advertises with private addresses; nil if that is not known.
  var isPrivate: Bool?
  /// The adapter that heard it last or holds its link.
  var adapter: AdapterSlot
  /// When it was last heard, connected or asked for.
  var lastUse: Instant
  /// Signal strength when it was last heard.
  var rssi: Int?
  /// The last advertisement and the data of the last scan response, as received.
  private(set) var advertisement: AdvertisingReport?
  private(set) var scanResponse: [UInt8]?
  /// In which scan it could be asked for a scan response last, and when.
  private var lastScannable: (scan: Int, time: Instant)?
  /// The set that announced a periodic train last, and the interval of that.
  private(set) var periodic: (sid: UInt8, interval: Duration)?
  /// The data of both.
  private(set) var advertised = AdvertisingData(parsing: [])
  /// The services that both list; every report is held against the filters of all scans.
  private(set) var services: [BluetoothUUID] = []
  /// Its name as last advertised, possibly before the daemon started. An advertisement without one leaves it: most
  /// names are in scan responses, which a passive scan does not get.
  private(set) var name: String?
  /// Incremented when the bytes of either change.
  private(set) var revision = 0
  /// The report on it, while it is repeated: as long as nothing in it changes but signal strength and time.
  var reportForm: ScanReport.Form?
  /// The decoded data, once a scan has asked for it.
  var decoded: DecodedReport?
  /// How many brokers rely on it; while there is one it is not forgotten.
  var references = 0
  /// Whether there ever was a link to it.
  var wasConnected = false
  /// Whether it was ever heard, or linked in either role; an address that was only requested may be mistyped.
  var wasMet = false
  /// Whether it did not answer Exchange MTU. That is stored.
  var answersNoExchange = false
  /// Whether its links ended at Exchange MTU. Bad radio looks like that, too, so it is not stored.
  var endsAtExchange = false
  /// Whether it is asked for its MTU no more.
  var ignoresMTU: Bool { answersNoExchange || endsAtExchange }
  /// How many links in a row ended before it had answered Exchange MTU.
  var lostExchanges = 0
  /// Whether its controller resolves private addresses, as its Central Address Resolution tells; nil if it was not
  /// asked with its present bond.
  var resolvesAddresses: Bool?
  /// The users that requested a connection to it, as far as known.
  private(set) var users: Set<UInt32> = []
  /// The discovered attributes, if its database has a hash.
  var cache: GATTCache?

  init(id: String, number: Int, address: DeviceAddress, adapter: AdapterSlot, now: Instant, name: String? = nil) {
    self.id = id
    self.number = number
    self.address = address
    identity = address
    current = address
    self.adapter = adapter
    lastUse = now
    self.name = name
  }

  /// A user requests a connection to it.
  func used(by user: UInt32?) {
    guard let user, users.count < Self.maximumUsers else { return }
    users.insert(user)
  }

  /// Whether a user has requested a connection to it.
  func isUsed(by user: UInt32?) -> Bool { user.map(users.contains) ?? false }

  /// The device is known by another address from now on: that of its identity.
  func rename(to identity: DeviceAddress) {
    if address != identity { isPrivate = true }
    address = identity
    self.identity = identity
    reportForm = nil
  }

  /// Another device turned out to be the same.
  /// - Returns: the name that gives way.
  func wasKnown(as id: String) -> String? {
    formerIDs.append(id)
    return formerIDs.count > Self.maximumFormerIDs ? formerIDs.removeFirst() : nil
  }

  /// Records that the device can be reached under this address.
  ///
  /// An address at which the device was heard a moment ago is kept: it may have several advertisements with an address
  /// each, and a pending connection should not go back and forth between them.
  /// - Returns: whether the device is reached under another address than before.
  func isReached(at address: DeviceAddress, now: Instant) -> Bool {
    if address != identity { isPrivate = true } else if isPrivate == nil { isPrivate = false }
    guard address != current else {
      lastReached = now
      return false
    }
    if let lastReached, lastReached.duration(to: now) < Self.rotationTimeout { return false }
    current = address
    lastReached = now
    return true
  }

  /// Records an advertisement or scan response.
  /// - Parameter scan: The number of the scan that heard it: the answers in one do not count in the next.
  func heard(_ report: AdvertisingReport, on slot: AdapterSlot, in scan: Int) {
    adapter = slot
    wasMet = true
    rssi = report.rssi
    var isNews: Bool
    if report.isScanResponse {
      isNews = report.data != scanResponse
      scanResponse = report.data
      lastScannable = (scan, report.time)
    } else {
      isNews = report.data != advertisement?.data || report.isTruncated != advertisement?.isTruncated
      if isScanResponseOver(at: report, in: scan) {
        isNews = true
        scanResponse = nil
      }
      if report.isScannable { lastScannable = (scan, report.time) }
      if let last = advertisement, !report.isSent(as: last) { reportForm = nil }
      advertisement = report
      if let sid = report.sid, let interval = report.periodicInterval { periodic = (sid, interval) }
    }
    guard isNews else { return }
    reportForm = nil
    decoded = nil
    revision += 1
    advertised = AdvertisingData(parsing: advertisement?.data ?? [])
    if let scanResponse { advertised = advertised.merged(with: AdvertisingData(parsing: scanResponse)) }
    services = advertised.serviceUUIDs
    if let heard = advertised.localName, !isShortened(heard) { name = heard }
  }

  /// Whether a name is the shortened form of the known one.
  private func isShortened(_ heard: String) -> Bool {
    advertised.first(.completeLocalName) == nil && name?.utf8.starts(with: heard.utf8) == true
  }

  /// Whether an advertisement shows that the scan response does not belong to the present advertisement. A device may
  /// advertise in turns in two ways, of which only one is scannable.
  private func isScanResponseOver(at report: AdvertisingReport, in scan: Int) -> Bool {
    guard scanResponse != nil, let lastScannable else { return false }
    return lastScannable.scan != scan
      || !report.isScannable && lastScannable.time.duration(to: report.time) > Self.turnTimeout
  }
}

extension AdvertisingReport {
  /// Whether all but the data, the signal strength and the time is the same.
  fileprivate func isSent(as other: AdvertisingReport) -> Bool {
    isConnectable == other.isConnectable && isDirected == other.isDirected && primaryPHY == other.primaryPHY
      && secondaryPHY == other.secondaryPHY && sid == other.sid && txPower == other.txPower
      && periodicInterval == other.periodicInterval
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
    wasMet = peripheral.wasMet ? nil : false
    ignoresMTU = peripheral.answersNoExchange ? true : nil
    resolvesAddresses = peripheral.resolvesAddresses
    former = peripheral.formerIDs.nonEmpty
    usesPrivateAddresses = peripheral.isPrivate == true ? true : nil
    users = peripheral.users.isEmpty ? nil : peripheral.users.sorted()
    cache = peripheral.cache.map { Cache(hash: HexBytes($0.hash), attributes: HexBytes($0.attributes)) }
  }
}
