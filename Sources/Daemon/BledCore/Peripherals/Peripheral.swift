import Adapter
import BledRPC
import Bluetooth

/// A device that was discovered, connected or requested: the daemon's record of it.
final class Peripheral {
  /// Maximum remembered users.
  private static let maximumUsers = 16
  /// The time after which an address no longer received counts as unused.
  private static let rotationTimeout = Duration.seconds(2)
  /// The longest cycle of a device that alternates between two advertisements.
  private static let turnTimeout = Duration.seconds(3)

  /// Its identifier for clients: a random UUID, upper case.
  let id: String
  /// Identifiers of entries that turned out to be the same device.
  private(set) var formerIDs: [String] = []
  private static let maximumFormerIDs = 4
  /// A small number for internal tables; never reused.
  let number: Int
  /// Its address in the directory: the identity address, once known.
  private(set) var address: DeviceAddress
  /// Identity address, once known; keys are stored under it. Differs from `address` while another `Peripheral` has that
  /// address and both are in use.
  var identity: DeviceAddress
  /// Its present address for connections, private if it uses private addresses.
  private(set) var current: DeviceAddress
  /// When it was last seen at `current`.
  private var lastReached: Instant?
  /// True if it advertises with private addresses; nil if unknown.
  var isPrivate: Bool?
  /// The adapter that last saw it or holds its link.
  var adapter: AdapterSlot
  /// When it was last seen, connected or requested.
  var lastUse: Instant
  /// When its last advertisement or scan response was received; nil if none was.
  var lastHeard: Instant? {
    switch (advertisement?.time, lastResponse) {
    case (let first?, let second?): max(first, second)
    case (let first, let second): first ?? second
    }
  }
  private var lastResponse: Instant?
  /// Signal strength of its last packet, in dBm.
  var rssi: Int?
  /// The last advertisement and the data of the last scan response, as received.
  private(set) var advertisement: AdvertisingReport?
  private(set) var scanResponse: [UInt8]?
  /// Its last scannable advertisement: in which scan, and when.
  private var lastScannable: (scan: Int, time: Instant)?
  /// The set and interval of its last announced periodic train.
  private(set) var periodic: (sid: UInt8, interval: Duration)?
  /// The data of both.
  private(set) var advertised = AdvertisingData(parsing: [])
  /// The services in both; every report is compared with the filters of all scans.
  private(set) var services: [BluetoothUUID] = []
  /// Its name as last advertised, possibly before the daemon started. An advertisement without one leaves it: most
  /// names are in scan responses, which a passive scan does not get.
  private(set) var name: String?
  /// Incremented when the bytes of either change.
  private(set) var revision = 0
  /// Incremented when anything in its reports changes but signal strength and time.
  private(set) var reportRevision = 0
  /// The number of brokers relying on it; it is not forgotten while there are any.
  var references = 0
  /// True if there ever was a link to it.
  var wasConnected = false
  /// True if it was ever discovered, or linked in either role; an address that was only requested may be mistyped.
  var wasMet = false
  /// When it was learned that it does not answer Exchange MTU, in seconds since the epoch. That is stored.
  var unansweredExchange: Double?
  /// True if its links ended at Exchange MTU. Bad radio looks like that, too, so it is not stored.
  var endsAtExchange = false
  /// True if the MTU exchange is skipped.
  var ignoresMTU: Bool { unansweredExchange != nil || endsAtExchange }
  /// Consecutive links that ended before it answered Exchange MTU.
  var lostExchanges = 0
  /// True if its controller resolves private addresses, by its Central Address Resolution; nil if not read with its
  /// present bond.
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

  /// True if the user has requested a connection to it.
  func isUsed(by user: UInt32?) -> Bool { user.map(users.contains) ?? false }

  /// The device is known by another address from now on: its identity.
  func rename(to identity: DeviceAddress) {
    if address != identity { isPrivate = true }
    address = identity
    self.identity = identity
    reportRevision += 1
  }

  /// Another device turned out to be the same.
  /// - Returns: the identifier dropped for it.
  func wasKnown(as id: String) -> String? {
    formerIDs.append(id)
    return formerIDs.count > Self.maximumFormerIDs ? formerIDs.removeFirst() : nil
  }

  /// Records that the device can be reached under this address.
  ///
  /// A recently received address is kept: it may have several advertisements with an address each, and a pending
  /// connection should not go back and forth between them.
  /// - Returns: true if the device's address for connections has changed.
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
  /// - Parameter scan: the number of the scan: responses in one scan do not count in the next.
  func received(_ report: AdvertisingReport, on slot: AdapterSlot, in scan: Int) {
    adapter = slot
    wasMet = true
    rssi = report.rssi
    var isNews: Bool
    if report.isScanResponse {
      isNews = report.data != scanResponse
      scanResponse = report.data
      lastResponse = report.time
      lastScannable = (scan, report.time)
    } else {
      isNews = report.data != advertisement?.data || report.isTruncated != advertisement?.isTruncated
      if isScanResponseOver(at: report, in: scan) {
        isNews = true
        scanResponse = nil
      }
      if report.isScannable { lastScannable = (scan, report.time) }
      if let last = advertisement, !report.isSent(as: last) { reportRevision += 1 }
      advertisement = report
      if let sid = report.sid, let interval = report.periodicInterval { periodic = (sid, interval) }
    }
    guard isNews else { return }
    reportRevision += 1
    revision += 1
    advertised = AdvertisingData(parsing: advertisement?.data ?? [])
    if let scanResponse { advertised = advertised.merged(with: AdvertisingData(parsing: scanResponse)) }
    services = advertised.serviceUUIDs
    if let heard = advertised.localName, !isShortened(heard) { name = heard }
  }

  /// True if a name is the shortened form of the known one.
  private func isShortened(_ heard: String) -> Bool {
    advertised.first(.completeLocalName) == nil && name?.utf8.starts(with: heard.utf8) == true
  }

  /// True if an advertisement shows the scan response to be outdated. A device may alternate between two
  /// advertisements, only one of them scannable.
  private func isScanResponseOver(at report: AdvertisingReport, in scan: Int) -> Bool {
    guard scanResponse != nil, let lastScannable else { return false }
    return lastScannable.scan != scan
      || !report.isScannable && lastScannable.time.duration(to: report.time) > Self.turnTimeout
  }
}

extension AdvertisingReport {
  /// True if everything but data, signal strength and time is equal.
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
    ignoresMTUSince = peripheral.unansweredExchange
    resolvesAddresses = peripheral.resolvesAddresses
    former = peripheral.formerIDs.nonEmpty
    usesPrivateAddresses = peripheral.isPrivate == true ? true : nil
    users = peripheral.users.isEmpty ? nil : peripheral.users.sorted()
    cache = peripheral.cache.map { Cache(hash: HexBytes($0.hash), attributes: HexBytes($0.attributes)) }
  }
}
