import Adapter
import Beacons
import BledRPC
import Bluetooth
import FoundationEssentials

/// Scans as subscriptions: each has its filter and its duplicate rule, each adapter runs the union. A session can have
/// several, with numbers.
///
/// A scan in the background needs a service filter, gets no duplicates, and makes the adapter listen only a tenth of
/// the time. A scan without a service filter is suspended while its program is disconnected.
///
/// If all scans of an adapter are for presence, and no other adapter could discover the devices, the controller may
/// watch for them (`ScanParameters.watched`); else advertisements decide.
final class ScanBroker {
  /// The parties that cause an adapter's scan.
  private enum Scanner: Hashable {
    case session(Session, scan: Int?)
    /// Search for devices with private addresses, for pending connections.
    case search
    /// Search for devices that sessions request to connect to.
    case devices
    /// Find trains of periodic advertisements.
    case trains
  }

  /// A device whose advertising event may not be over.
  private struct Heard: Equatable {
    let peripheral: Peripheral
    let slot: AdapterSlot
    /// The advertisement's address.
    let address: DeviceAddress
    /// When its advertisement was received, in seconds since 1970.
    let time: Double

    static func == (left: Heard, right: Heard) -> Bool {
      left.peripheral === right.peripheral && left.slot === right.slot
    }
  }

  /// The outbox key for a lagging client's anonymous reports, which have no number: the newest of them is kept.
  private static let anonymous = 0
  /// Device numbers are smaller than 2 to the power of this.
  private static let scanShift = 40

  weak var observer: (any ScanObserver)?
  private var looksForDevices = false
  private let adapters: AdapterRegistry
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler
  private var subscriptions: [(session: Session, subscription: ScanSubscription)] = []
  /// Counts the scan's beginnings after no session scanned.
  private var scan = 0
  private var arbiters: [AdapterSlot: ScanArbiter<Scanner>] = [:]
  private var events = ScanEvents<Heard>()
  private(set) var reports = ReportCache()
  private var isAlarmSet = false
  /// Started scans.
  private var lastPlace = 0

  init(adapters: AdapterRegistry, directory: PeripheralDirectory, scheduler: any Scheduler) {
    self.adapters = adapters
    self.directory = directory
    self.scheduler = scheduler
  }

  /// Starts a session's scan, or replaces the one with the same number.
  /// - Parameter isRevived: true if it was started before the daemon.
  func start(_ params: ScanStart.Params, for session: Session, isRevived: Bool = false) throws {
    let filter = try ScanFilter(params)
    guard isRevived || !session.isBackground || filter.namesServices else {
      throw BledError.invalidParameter.error(
        "this session runs in the background, where a scan requires \"services\": list those to scan for")
    }
    let chosen = isRevived ? try chooseAny(params.adapter) : try choose(params.adapter)
    if !isRevived, filter.phys.contains(.leCoded) { try checkCoded(chosen) }
    let subscription = try ScanSubscription(
      adapter: chosen, filter: filter, params: params, place: lastPlace + 1, directory: directory,
      scheduler: scheduler)
    subscription.named?.onChange = { [weak self, weak session] change, slot, rssi in
      guard let self, let session else { return true }
      return report(change, on: slot, rssi, to: session, scan: params.scan)
    }
    subscription.onLost = { [weak self, weak session] gone in
      guard let self, let session else { return true }
      return report(gone, to: session, scan: params.scan)
    }
    let others = subscriptions.filter { $0.session != session || $0.subscription.number != params.scan }
    try session.rules.admit(
      .scans, of: session, own: others.count { $0.session == session },
      all: others.count { $0.session.user == session.user })
    subscriptions = others
    if subscriptions.isEmpty { scan += 1 }
    lastPlace += 1
    subscriptions.append((session, subscription))
    session.costs.scanBegan(at: scheduler.now)
    request(for: subscription, of: session)
  }

  /// An adapter was added.
  func added(_ slot: AdapterSlot) { updateScans() }

  /// The adapters or the bonds are others, or an adapter resolves other addresses: it may have to be scanned in another
  /// way.
  func updateScans() {
    for (session, subscription) in subscriptions { request(for: subscription, of: session) }
  }

  /// An adapter's controller begins or ceases to watch for devices.
  func monitorChanged(_ isWatching: Bool, on slot: AdapterSlot) {
    for (_, subscription) in subscriptions where subscription.includes(slot) {
      subscription.named?.monitorChanged(isWatching)
    }
  }

  /// The controller's advertisement monitor reported a device found or lost.
  func monitorReported(_ address: DeviceAddress, isThere: Bool, on slot: AdapterSlot) {
    let known = directory.known(at: address)
    guard let peripheral = isThere ? directory.peripheral(at: address, on: slot) : known else { return }
    if isThere { peripheral.wasMet = true }
    for (session, subscription) in subscriptions {
      guard let named = subscription.named, subscription.includes(slot), subscription.filter.admits(peripheral),
        subscription.isRunning(inBackground: session.isBackground)
      else { continue }
      named.monitorReported(peripheral, isThere: isThere, on: slot)
    }
  }

  /// A session's scan without a number, as requested.
  func request(of session: Session) -> ScanStart.Params? {
    requests(of: session).first { $0.scan == nil }
  }

  /// A session's scans with numbers, as requested; nil if there are none.
  func numberedRequests(of session: Session) -> [ScanStart.Params]? {
    requests(of: session).filter { $0.scan != nil }.nonEmpty
  }

  private func requests(of session: Session) -> [ScanStart.Params] {
    subscriptions.filter { $0.session == session }.map(\.subscription.params)
  }

  /// A session moves into the background or returns from there.
  func backgroundChanged(_ session: Session) {
    for (_, subscription) in subscriptions.filter({ $0.session == session }) {
      subscription.backgroundChanged(to: session.isBackground)
      restartPresence(for: subscription, of: session)
    }
  }

  /// A device is about to be forgotten: for scans for presence it is lost, unless something else needs it.
  func forget(_ device: Peripheral) {
    let keepers = subscriptions.filter { $0.subscription.named?.keeps(device) == true }
    guard device.references == keepers.count else { return }
    for (session, subscription) in keepers {
      subscription.named?.forget(device)
      // A watching controller has already reported its presence.
      restartPresence(for: subscription, of: session)
    }
  }

  /// Makes a watching controller report presence anew.
  private func restartPresence(for subscription: ScanSubscription, of session: Session) {
    if let named = subscription.named {
      lastPlace += 1
      named.number = lastPlace
    }
    request(for: subscription, of: session)
  }

  /// Scans on these adapters for pending connections whose device must be discovered first.
  func setSearchScan(on slots: Set<AdapterSlot>) {
    for slot in adapters.slots { request(slots.contains(slot) ? .searching : nil, of: .search, on: slot) }
  }

  /// Searches for devices to be connected to, on these adapters with these parameters.
  func setConnectScan(on slots: [AdapterSlot: ScanParameters]) {
    looksForDevices = !slots.isEmpty
    for slot in adapters.slots { request(slots[slot], of: .devices, on: slot) }
  }

  /// Searches for trains of periodic advertisements, on these adapters with these parameters.
  func setTrainScan(on slots: [AdapterSlot: ScanParameters]) {
    for slot in adapters.slots { request(slots[slot], of: .trains, on: slot) }
  }

  /// Ends a session's scan, if there is one with this number; nil: the one without a number.
  func stop(_ number: Int?, of session: Session) {
    let before = subscriptions.count
    subscriptions.removeAll { $0.session == session && $0.subscription.number == number }
    guard subscriptions.count < before else { return }
    if !subscriptions.contains(where: { $0.session == session }) { session.costs.scanEnded(at: scheduler.now) }
    for slot in adapters.slots { request(nil, of: .session(session, scan: number), on: slot) }
    if subscriptions.isEmpty { events.removeAll() }
  }

  /// Ends all scans of a session.
  func ended(_ session: Session) {
    for params in requests(of: session) { stop(params.scan, of: session) }
  }

  /// Records an adapter's report and passes it on to the scanning sessions, once per advertising event.
  func received(_ report: AdvertisingReport, on slot: AdapterSlot) {
    guard let address = report.address else { return receivedAnonymous(report, on: slot) }
    let peripheral = directory.peripheral(at: address, on: slot)
    if report.isConnectable, !report.isScanResponse, isReached(peripheral, at: address, on: slot) {
      observer?.moved(peripheral)
    }
    guard !subscriptions.isEmpty else { return record(report, of: peripheral, on: slot) }
    let now = Heard(peripheral: peripheral, slot: slot, address: address, time: scheduler.secondsSinceEpoch)
    if report.isScanResponse {
      let event = events.scanResponse(of: now)
      record(report, of: peripheral, on: slot)
      return deliver(event)
    }
    let mayBeAnswered = report.isScannable && isScanActive(on: slot)
    if let over = events.advertisement(of: now, mayBeAnswered: mayBeAnswered, at: report.time) { deliver(over) }
    record(report, of: peripheral, on: slot)
    if mayBeAnswered { setAlarm() } else { deliver(now) }
  }

  /// A device can be connected under this address.
  /// - Returns: true if its address for connections has changed.
  private func isReached(_ peripheral: Peripheral, at address: DeviceAddress, on slot: AdapterSlot) -> Bool {
    let isResolved = slot.adapter.resolves(peripheral.identity)
    // Other adapters know the device by its address on the air.
    if isResolved, address == peripheral.identity { return true }
    let wasPrivate = peripheral.isPrivate
    let hasMoved = directory.reached(peripheral, at: address)
    if peripheral.isPrivate != wasPrivate, directory.resolvesAny { updateScans() }
    guard isResolved else { return hasMoved }
    slot.adapter.doesNotResolve(peripheral.identity, at: address)
    if !slot.adapter.resolves(peripheral.identity) { updateScans() }
    return hasMoved || !slot.adapter.resolves(peripheral.identity)
  }

  private func record(_ report: AdvertisingReport, of peripheral: Peripheral, on slot: AdapterSlot) {
    peripheral.received(report, on: slot, in: scan)
    if looksForDevices { observer?.discovered(peripheral, on: slot) }
  }

  /// The alarm is neither moved nor cancelled: later events have later deadlines, and most are over before.
  private func setAlarm() {
    guard !isAlarmSet, let deadline = events.deadline else { return }
    isAlarmSet = true
    _ = scheduler.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      isAlarmSet = false
      for event in events.tick(at: scheduler.now) { deliver(event) }
      setAlarm()
    }
  }

  private func deliver(_ event: Heard) {
    let peripheral = event.peripheral
    var lines = ReportLines()
    var isMissed = false
    for (session, subscription) in subscriptions {
      let isBackground = session.isBackground
      guard subscription.includes(event.slot), subscription.isRunning(inBackground: isBackground) else { continue }
      if let named = subscription.named {
        guard subscription.filter.admits(peripheral) else { continue }
        let isListed = arbiters[event.slot]?.watched?.timeouts[event.address] != nil
        named.received(peripheral, isListed: isListed, on: event.slot)
        if named.isWatching, !isListed { isMissed = true }
        continue
      }
      let wantsAll = subscription.wantsAll(inBackground: isBackground)
      guard subscription.passes(peripheral, wantsAll: wantsAll) else { continue }
      let number = subscription.number
      let line = lines.line(with: subscription.decoding?.decoded(peripheral, &reports), scan: number) {
        encode(event, isRepeated: wantsAll, decoded: $0, scan: number)
      }
      session.send(line, as: Self.report(on: peripheral.number, scan: number))
    }
    if isMissed { watchAnew(peripheral, at: event.address) }
  }

  /// Received a monitored device at an address that is missing from the monitor list.
  private func watchAnew(_ peripheral: Peripheral, at address: DeviceAddress) {
    // Reached or not: it uses private addresses.
    if address != peripheral.identity { peripheral.isPrivate = true }
    updateScans()
  }

  /// Reports a lost device to a session.
  /// - Returns: true if there was room for the report.
  private func report(_ gone: ScanPresence<Peripheral>.Lost, to session: Session, scan: Int?) -> Bool {
    let age = gone.lastHeard.duration(to: scheduler.now).inSeconds
    let line = session.encoded {
      try RPCEncoding.notification(
        ScanLost.self, .init(peripheral: gone.device.id, lastHeard: scheduler.secondsSinceEpoch - age, scan: scan))
    }
    // Like a later report, the line replaces a waiting report on the device.
    return session.send(line, as: Self.report(on: gone.device.number, scan: scan)) != .dropped
  }

  /// Reports a found or lost device to a session.
  /// - Returns: true if there was room for the report.
  private func report(
    _ change: NamedPresence<Peripheral>.Change, on slot: AdapterSlot, _ rssi: Int?, to session: Session, scan: Int?
  ) -> Bool {
    let (device, age) = (change.device, change.lastHeard.duration(to: scheduler.now).inSeconds)
    guard change.isThere else {
      return report(.init(device: device, lastHeard: change.lastHeard), to: session, scan: scan)
    }
    var params = ScanFound.Params(
      peripheral: device.id, adapter: slot.id, address: "\(device.address)",
      addressType: Word(device.address.kind), time: scheduler.secondsSinceEpoch - age)
    (params.name, params.rssi, params.scan) = (device.name, rssi, scan)
    let line = session.encoded { try RPCEncoding.notification(ScanFound.self, params) }
    return session.send(line, as: Self.report(on: device.number, scan: scan)) != .dropped
  }

  /// A report replaces a waiting one on the same device for the same scan.
  private static func report(on device: Int, scan: Int?) -> Outbox.Kind {
    .report(device: device | (scan ?? 0) << scanShift)
  }

  /// Passes on a report without an address.
  private func receivedAnonymous(_ report: AdvertisingReport, on slot: AdapterSlot) {
    let wanting = subscriptions.filter { $0.subscription.params.anonymous ?? false }
    guard !wanting.isEmpty else { return }
    let content = AdvertisedContent(anonymous: report)
    lazy var said = content.advertised.decoded(address: nil)
    var lines = ReportLines()
    for (session, subscription) in wanting where subscription.includes(slot) {
      let isBackground = session.isBackground
      guard subscription.isRunning(inBackground: isBackground),
        subscription.passes(
          anonymous: report, content, wantsAll: subscription.wantsAll(inBackground: isBackground))
      else { continue }
      let decoded = subscription.decoding == nil ? [] : said
      let line = lines.line(with: DecodedReport.Part(decoded), scan: subscription.number) { _ in
        session.encoded {
          var params = ScanAnonymousReport.Params(
            report, content.advertised, adapter: slot.id, time: scheduler.secondsSinceEpoch)
          params.decoded = decoded.nonEmpty
          params.scan = subscription.number
          return try RPCEncoding.notification(ScanAnonymousReport.self, params)
        }
      }
      session.send(line, as: Self.report(on: Self.anonymous, scan: subscription.number))
    }
  }

  private func encode(_ event: Heard, isRepeated: Bool, decoded: Data?, scan: Int?) -> Data? {
    let (peripheral, adapter) = (event.peripheral, event.slot.id)
    if let form = reports.form(of: peripheral), form.adapter.hasSameOctets(as: adapter) {
      return try? form.line(decoded: decoded, scan: scan, rssi: peripheral.rssi, time: event.time)
    }
    guard let form = try? ScanReport.Form(ScanReport.Params(peripheral, adapter: adapter)) else { return nil }
    if isRepeated { reports.keep(form, of: peripheral) }
    return try? form.line(decoded: decoded, scan: scan, rssi: peripheral.rssi, time: event.time)
  }

  /// The adapter with this name; nil for all.
  private func choose(_ name: String?) throws -> AdapterSlot? {
    if name != nil { return try adapters.findUsable(name) }
    // Presently unusable adapters join in later; at least one must be usable.
    guard adapters.slots.contains(where: \.isUsable) else { return try adapters.findUsable(nil) }
    return nil
  }

  /// Checks that one of the scanning adapters supports the coded PHY, as far as known.
  private func checkCoded(_ chosen: AdapterSlot?) throws {
    var refusal: (any Error)?
    for slot in chosen.map({ [$0] }) ?? adapters.slots {
      do throws(BluetoothError) { return try slot.check(has: .leCoded) } catch { refusal = error }
    }
    if let refusal { throw refusal }
  }

  /// Like `choose`, for a scan that waits for its adapters.
  private func chooseAny(_ name: String?) throws -> AdapterSlot? { try name.map { try adapters.find($0) } }

  private func isScanActive(on slot: AdapterSlot) -> Bool { arbiters[slot]?.isActive ?? false }

  private func request(for subscription: ScanSubscription, of session: Session) {
    var parameters = subscription.parameters(inBackground: session.isBackground)
    if let named = subscription.named, let only = subscription.adapter ?? adapters.only {
      parameters?.watched = named.watched(on: only)
    }
    for slot in adapters.slots {
      request(
        subscription.includes(slot) ? parameters : nil, of: .session(session, scan: subscription.number), on: slot)
    }
  }

  private func request(_ parameters: ScanParameters?, of scanner: Scanner, on slot: AdapterSlot) {
    switch arbiters[slot, default: ScanArbiter()].request(parameters, of: scanner) {
    case .none: break
    case .set(let union): slot.adapter.setScan(union)
    }
  }
}

extension Array {
  var nonEmpty: Self? { isEmpty ? nil : self }
}
