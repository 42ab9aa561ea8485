import Adapter
import BledRPC
import Bluetooth

/// The criteria of a device search: all given ones must match.
struct DeviceCriteria: Hashable {
  private let name: OctetText?
  private let namePrefix: OctetText?
  let service: BluetoothUUID?

  /// Reads a call's criteria.
  /// - Returns: nil if the call has none.
  /// - Throws: `BledError.invalidParameter`.
  init?(name: String?, namePrefix: String?, service: BluetoothUUID?) throws(BluetoothError) {
    for (member, text) in [("name", name), ("namePrefix", namePrefix)] {
      guard let text else { continue }
      guard 1...ScanFilter.longestName ~= text.utf8.count else {
        throw BledError.invalidParameter.error("\"\(member)\" must have 1 to \(ScanFilter.longestName) octets")
      }
    }
    guard name == nil || namePrefix == nil else {
      throw BledError.invalidParameter.error("give either \"name\" or \"namePrefix\"")
    }
    guard name != nil || namePrefix != nil || service != nil else { return nil }
    self.name = name.map { OctetText($0) }
    self.namePrefix = namePrefix.map { OctetText($0) }
    self.service = service
  }

  /// True if the device's latest advertisement matches.
  func admits(_ peripheral: Peripheral) -> Bool {
    if let service, !peripheral.services.contains(service) { return false }
    guard name != nil || namePrefix != nil else { return true }
    guard let own = peripheral.name else { return false }
    return name?.string.hasSameOctets(as: own) ?? true && own.utf8.starts(with: namePrefix?.string.utf8 ?? "".utf8)
  }

  /// In words, for messages.
  var words: String {
    let parts = [
      name.map { "the name \"\($0.string.excerpt)\"" },
      namePrefix.map { "a name that begins with \"\($0.string.excerpt)\"" }, service.map { "the service \($0)" },
    ]
    return parts.compactMap { $0 }.joined(separator: " and ")
  }

  /// For `session.list`.
  var description: SessionDescription.Search {
    .init(name: name?.string, namePrefix: namePrefix?.string, service: service)
  }
}

/// A `peripheral.connect` call before its device was discovered.
final class DeviceSearch {
  let session: Session
  let criteria: DeviceCriteria
  let wish: ConnectWish
  let reply: Reply<PeripheralConnect.Result>
  /// The adapter of the search; nil: all adapters.
  let slot: AdapterSlot?
  /// When the call fails, if ever.
  let deadline: Instant?
  fileprivate var alarm: (any ScheduledWork)?

  init(
    _ criteria: DeviceCriteria, _ wish: ConnectWish, on slot: AdapterSlot?, for session: Session,
    _ reply: Reply<PeripheralConnect.Result>, deadline: Instant?
  ) {
    self.criteria = criteria
    self.wish = wish
    self.slot = slot
    self.session = session
    self.reply = reply
    self.deadline = deadline
  }
}

/// Searches for the devices that sessions request by name or service only. Each continues until a matching connectable
/// device is discovered, or its call ends.
///
/// | Input                                   | Effect                                                 |
/// |-----------------------------------------|--------------------------------------------------------|
/// | begin                                   | the adapters look                                      |
/// | heard, meets criteria, connectable      | `onFound`, once                                        |
/// | the deadline                            | the call fails: timeout                                |
/// | cancel, the session or its program gone | the call fails                                         |
/// | the last search on an adapter has ended | the adapter no longer looks                            |
final class DeviceSearches {
  /// Called with an ended search and the device discovered.
  var onFound: (DeviceSearch, Peripheral) -> Void = { _, _ in }
  private var searches: [DeviceSearch] = []
  private var looking: [AdapterSlot: ScanParameters] = [:]
  private let adapters: AdapterRegistry
  private let scans: ScanBroker
  private let scheduler: any Scheduler

  init(adapters: AdapterRegistry, scans: ScanBroker, scheduler: any Scheduler) {
    self.adapters = adapters
    self.scans = scans
    self.scheduler = scheduler
  }

  /// The number of these sessions' searches.
  func count(where isMeant: (Session) -> Bool) -> Int { searches.count { isMeant($0.session) } }

  /// The criteria of a session's searches, oldest call first.
  func criteria(of session: Session) -> [DeviceCriteria] {
    searches.filter { $0.session === session }.map(\.criteria)
  }

  func begin(_ search: DeviceSearch) {
    searches.append(search)
    if let deadline = search.deadline {
      search.alarm = scheduler.schedule(at: deadline) { [weak self, weak search] in
        guard let self, let search, remove(where: { $0 === search }).first != nil else { return }
        search.reply.fail(
          GAPError.timeout.error(
            """
            no device with \(search.criteria.words) was heard within \(search.wish.timeout ?? 0) s that can be \
            connected to: see with "bleshell scan" whether it is on and in range
            """))
      }
    }
    update()
  }

  /// A device's advertisement was received.
  func discovered(_ peripheral: Peripheral, on slot: AdapterSlot) {
    guard peripheral.advertisement?.isConnectable == true else { return }
    let found = remove { search in
      (search.slot == nil || search.slot == slot) && search.criteria.admits(peripheral)
    }
    for search in found { onFound(search, peripheral) }
  }

  /// Ends a session's searches: all, or those by these criteria.
  /// - Returns: true if there was one.
  @discardableResult
  func end(of session: Session, by criteria: DeviceCriteria? = nil, _ error: BluetoothError) -> Bool {
    let ended = remove { $0.session === session && (criteria == nil || $0.criteria == criteria) }
    for search in ended { search.reply.fail(error) }
    return !ended.isEmpty
  }

  /// Searches have begun or ended, a session has entered or left the background, or an adapter was added.
  func update() {
    var wanted: [AdapterSlot: ScanParameters] = [:]
    for slot in adapters.slots {
      let here = searches.filter { $0.slot == nil || $0.slot == slot }
      guard !here.isEmpty else { continue }
      wanted[slot] = here.allSatisfy(\.session.isBackground) ? .background : ScanParameters(isActive: true)
    }
    guard wanted != looking else { return }
    looking = wanted
    scans.setConnectScan(on: wanted)
  }

  private func remove(where isMeant: (DeviceSearch) -> Bool) -> [DeviceSearch] {
    let removed = searches.filter(isMeant)
    guard !removed.isEmpty else { return [] }
    searches.removeAll { search in removed.contains { $0 === search } }
    for search in removed { search.alarm?.cancel() }
    update()
    return removed
  }
}
