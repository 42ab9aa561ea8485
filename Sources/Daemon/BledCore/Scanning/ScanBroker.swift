import Adapter
import Beacons
import BledRPC
import Bluetooth
import FoundationEssentials

/// Scans as subscriptions: each has its filter and its duplicate rule, each adapter runs the union. A session can have
/// several, with numbers.
///
/// A scan in the background needs a service filter, gets no duplicates, and makes the adapter listen for a tenth of
/// the time only. A scan without a service filter is suspended while its program is disconnected.
///
/// Where all scans of an adapter are for the presence of devices, and no other adapter could hear them, the controller
/// may watch for them (`ScanParameters.watched`); else the reports tell.
final class ScanBroker {
  /// The parties that have an adapter scan.
  private enum Scanner: Hashable {
    case session(Session, scan: Int?)
    /// Devices with private addresses are waited for.
    case search
    /// Devices are looked for that sessions want to connect to.
    case devices
    /// Trains of periodic advertisements are to be found.
    case trains
  }

  /// A device with an advertising event that may not be over.
  private struct Heard: Equatable {
    let peripheral: Peripheral
    let slot: AdapterSlot
    /// The address of its advertisement.
    let address: DeviceAddress
    /// When its advertisement came, in seconds since 1970.
    let time: Double

    static func == (left: Heard, right: Heard) -> Bool {
      left.peripheral === right.peripheral && left.slot === right.slot
    }
  }

  /// Where a lagging client's outbox keeps anonymous reports, which have no number: the newest of them.
  private static let anonymous = 0
  /// The numbers of devices are smaller than 2 to the power of this.
  private static let scanShift = 40

  weak var observer: (any ScanObserver)?
  private var looksForDevices = false
  private let adapters: AdapterRegistry
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler
  private var subscriptions: [(session: Session, subscription: ScanSubscription)] = []
  /// How many times scanning began, after no session scanned.
  private var scan = 0
  private var arbiters: [AdapterSlot: ScanArbiter<Scanner>] = [:]
  private var events = ScanEvents<Heard>()
  private var isAlarmSet = false
  /// How many scans were started.
  private var lastPlace = 0

  init(adapters: AdapterRegistry, directory: PeripheralDirectory, scheduler: any Scheduler) {
    self.adapters = adapters
    self.directory = directory
    self.scheduler = scheduler
  }

  /// Starts a scan of a session, or replaces the one of the same number.
  /// - Parameter isRevived: whether it was started before the daemon was.
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
      return tell(change, on: slot, rssi, to: session, scan: params.scan)
    }
    subscription.onLost = { [weak self, weak session] gone in
      guard let self, let session else { return true }
      return tell(gone, to: session, scan: params.scan)
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
  func added(_ slot: AdapterSlot) { refresh() }

  /// The adapters or the bonds are others, or an adapter resolves other addresses: it may have to be scanned in another
  /// way.
  func refresh() {
    for (session, subscription) in subscriptions { request(for: subscription, of: session) }
  }

  /// The controller of an adapter watches for devices from now on, or no longer.
  func watching(_ isWatching: Bool, on slot: AdapterSlot) {
    for (_, subscription) in subscriptions where subscription.includes(slot) {
      subscription.named?.watching(isWatching)
    }
  }

  /// The controller of an adapter says that a device is there, or not any more.
  func told(_ address: DeviceAddress, isThere: Bool, on slot: AdapterSlot) {
    let known = directory.known(at: address)
    guard let peripheral = isThere ? directory.peripheral(at: address, on: slot) : known else { return }
    if isThere { peripheral.wasMet = true }
    for (session, subscription) in subscriptions {
      guard let named = subscription.named, subscription.includes(slot), subscription.filter.admits(peripheral),
        subscription.isRunning(inBackground: session.isBackground)
      else { continue }
      named.told(peripheral, isThere: isThere, on: slot)
    }
  }

  /// The scan without a number of a session, as requested.
  func request(of session: Session) -> ScanStart.Params? {
    requests(of: session).first { $0.scan == nil }
  }

  /// The scans with numbers of a session, as requested; nil if there are none.
  func numberedRequests(of session: Session) -> [ScanStart.Params]? {
    requests(of: session).filter { $0.scan != nil }.nonEmpty
  }

  private func requests(of session: Session) -> [ScanStart.Params] {
    subscriptions.filter { $0.session == session }.map(\.subscription.params)
  }

  /// A session goes into the background or comes back from there.
  func backgroundChanged(_ session: Session) {
    for (_, subscription) in subscriptions.filter({ $0.session == session }) {
      subscription.backgroundChanged(to: session.isBackground)
      requestAnew(for: subscription, of: session)
    }
  }

  /// A device is about to be forgotten: for scans for presence it is lost, unless something else needs it.
  func forget(_ device: Peripheral) {
    let keepers = subscriptions.filter { $0.subscription.named?.keeps(device) == true }
    guard device.references == keepers.count else { return }
    for (session, subscription) in keepers {
      subscription.named?.forget(device)
      // A controller that watches has told that it is there.
      requestAnew(for: subscription, of: session)
    }
  }

  /// Has a controller that watches tell anew which devices are there.
  private func requestAnew(for subscription: ScanSubscription, of session: Session) {
    if let named = subscription.named {
      lastPlace += 1
      named.number = lastPlace
    }
    request(for: subscription, of: session)
  }

  /// Devices are waited for that have to be heard before they can be connected, on these adapters.
  func search(on slots: Set<AdapterSlot>) {
    for slot in adapters.slots { request(slots.contains(slot) ? .searching : nil, of: .search, on: slot) }
  }

  /// Devices are looked for, to be connected to, on these adapters in these ways.
  func look(on slots: [AdapterSlot: ScanParameters]) {
    looksForDevices = !slots.isEmpty
    for slot in adapters.slots { request(slots[slot], of: .devices, on: slot) }
  }

  /// Trains of periodic advertisements are to be found, on these adapters in these ways.
  func seek(on slots: [AdapterSlot: ScanParameters]) {
    for slot in adapters.slots { request(slots[slot], of: .trains, on: slot) }
  }

  /// Ends a scan of a session, if there is one of this number; nil: the one without a number.
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

  /// Records an adapter's report and passes it on to the sessions that scan for it, once for each advertising event.
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
  /// - Returns: whether it has to be under another one than before.
  private func isReached(_ peripheral: Peripheral, at address: DeviceAddress, on slot: AdapterSlot) -> Bool {
    let isResolved = slot.adapter.resolves(peripheral.identity)
    // Other adapters know the device by its address on the air.
    if isResolved, address == peripheral.identity { return true }
    let wasPrivate = peripheral.isPrivate
    let hasMoved = directory.reached(peripheral, at: address)
    if peripheral.isPrivate != wasPrivate, directory.resolvesAny { refresh() }
    guard isResolved else { return hasMoved }
    slot.adapter.doesNotResolve(peripheral.identity, at: address)
    if !slot.adapter.resolves(peripheral.identity) { refresh() }
    return hasMoved || !slot.adapter.resolves(peripheral.identity)
  }

  private func record(_ report: AdvertisingReport, of peripheral: Peripheral, on slot: AdapterSlot) {
    peripheral.heard(report, on: slot, in: scan)
    if looksForDevices { observer?.heard(peripheral, on: slot) }
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
        named.heard(peripheral, isListed: isListed, on: event.slot)
        if named.isWatching, !isListed { isMissed = true }
        continue
      }
      let wantsAll = subscription.wantsAll(inBackground: isBackground)
      guard subscription.passes(peripheral, wantsAll: wantsAll) else { continue }
      let number = subscription.number
      let line = lines.line(with: subscription.decoding?.decoded(peripheral), scan: number) {
        encode(event, isRepeated: wantsAll, decoded: $0, scan: number)
      }
      session.send(line, as: Self.report(on: peripheral.number, scan: number))
    }
    if isMissed { watchAnew(peripheral, at: event.address) }
  }

  /// A device was heard under an address for which no controller watches, though one does so for its scan.
  private func watchAnew(_ peripheral: Peripheral, at address: DeviceAddress) {
    // Reached or not: it uses private addresses.
    if address != peripheral.identity { peripheral.isPrivate = true }
    refresh()
  }

  /// Tells a session that a device is lost.
  /// - Returns: whether there was room for that.
  private func tell(_ gone: ScanPresence<Peripheral>.Lost, to session: Session, scan: Int?) -> Bool {
    let age = gone.lastHeard.duration(to: scheduler.now).inSeconds
    let line = session.encoded {
      try RPCEncoding.notification(
        ScanLost.self, .init(peripheral: gone.device.id, lastHeard: scheduler.secondsSinceEpoch - age, scan: scan))
    }
    // The line takes the place of a waiting report on the device, as a later report does.
    return session.send(line, as: Self.report(on: gone.device.number, scan: scan)) != .dropped
  }

  /// Tells a session that a device is there, or not any more.
  /// - Returns: whether there was room for that.
  private func tell(
    _ change: NamedPresence<Peripheral>.Change, on slot: AdapterSlot, _ rssi: Int?, to session: Session, scan: Int?
  ) -> Bool {
    let (device, age) = (change.device, change.lastHeard.duration(to: scheduler.now).inSeconds)
    guard change.isThere else {
      return tell(.init(device: device, lastHeard: change.lastHeard), to: session, scan: scan)
    }
    var params = ScanFound.Params(
      peripheral: device.id, adapter: slot.id, address: "\(device.address)",
      addressType: Word(device.address.kind), time: scheduler.secondsSinceEpoch - age)
    (params.name, params.rssi, params.scan) = (device.name, rssi, scan)
    let line = session.encoded { try RPCEncoding.notification(ScanFound.self, params) }
    return session.send(line, as: Self.report(on: device.number, scan: scan)) != .dropped
  }

  /// A report takes the place of a waiting one on the same device for the same scan.
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
    if let form = peripheral.reportForm, form.adapter.hasSameOctets(as: adapter) {
      return try? form.line(decoded: decoded, scan: scan, rssi: peripheral.rssi, time: event.time)
    }
    guard let form = try? ScanReport.Form(ScanReport.Params(peripheral, adapter: adapter)) else { return nil }
    if isRepeated { peripheral.reportForm = form }
    return try? form.line(decoded: decoded, scan: scan, rssi: peripheral.rssi, time: event.time)
  }

  /// The adapter of this name; nil for all.
  private func choose(_ name: String?) throws -> AdapterSlot? {
    if name != nil { return try adapters.findUsable(name) }
    // Adapters that cannot be used at the moment join in when they can; at least one must be usable.
    guard adapters.slots.contains(where: \.isUsable) else { return try adapters.findUsable(nil) }
    return nil
  }

  /// Checks whether one of the adapters to scan on has the coded PHY, as far as that is known.
  private func checkCoded(_ chosen: AdapterSlot?) throws {
    var refusal: (any Error)?
    for slot in chosen.map({ [$0] }) ?? adapters.slots {
      do throws(BluetoothError) { return try slot.check(has: .leCoded) } catch { refusal = error }
    }
    if let refusal { throw refusal }
  }

  /// The same for a scan that waits for its adapters.
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
