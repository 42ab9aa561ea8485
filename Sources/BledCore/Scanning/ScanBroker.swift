import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials

/// Scans as subscriptions: each session has its filter and its duplicate rule, each adapter runs the union.
///
/// A scan in the background needs a service filter, gets no duplicates, and makes the adapter listen for a tenth of
/// the time only. A scan without a service filter is suspended while its program is disconnected.
final class ScanBroker {
  private final class Subscription {
    /// Where; nil: on all, also on those that are added later.
    let adapter: AdapterSlot?
    let filter: ScanFilter
    let params: ScanStart.Params
    /// The revision of each device's data that was reported last, by number of the device.
    var reported: [Int: Int] = [:]

    init(adapter: AdapterSlot?, filter: ScanFilter, params: ScanStart.Params) {
      self.adapter = adapter
      self.filter = filter
      self.params = params
    }

    func includes(_ slot: AdapterSlot) -> Bool { adapter == nil || adapter == slot }

    /// How to scan for it; nil: suspended.
    func parameters(inBackground: Bool) -> ScanParameters? {
      let isActive = params.active ?? true
      guard inBackground else { return ScanParameters(isActive: isActive) }
      guard filter.namesServices else { return nil }
      return ScanParameters(isActive: isActive, interval: .milliseconds(1280), window: .milliseconds(128))
    }
  }

  /// How long the first report on a device waits for its scan response, which comes within milliseconds if at all.
  static let patience = Duration.milliseconds(100)
  /// How many devices one session's rule on duplicates remembers; beyond that it begins anew, and repeats itself.
  private static let maximumReported = 8192

  private let adapters: AdapterRegistry
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler
  private var subscriptions: [(session: Session, subscription: Subscription)] = []
  private var arbiters: [AdapterSlot: ScanArbiter<Session>] = [:]
  private var waitingForResponse: [Peripheral: any ScheduledWork] = [:]

  init(adapters: AdapterRegistry, directory: PeripheralDirectory, scheduler: any Scheduler) {
    self.adapters = adapters
    self.directory = directory
    self.scheduler = scheduler
  }

  /// Starts or replaces the scan of a session.
  /// - Parameter isRevived: whether it was started before the daemon was.
  func start(_ params: ScanStart.Params, for session: Session, isRevived: Bool = false) throws {
    let filter = try ScanFilter(params)
    guard isRevived || !session.isBackground || filter.namesServices else {
      throw BledError.invalidParameter.error(
        "this session runs in the background, where a scan requires \"services\": list those to scan for")
    }
    let chosen = isRevived ? try chooseAny(params.adapter) : try choose(params.adapter)
    try session.rules.admit(
      .scans, ofUser: session.user,
      all: subscriptions.count { $0.session.user == session.user && $0.session != session })
    subscriptions.removeAll { $0.session == session }
    let subscription = Subscription(adapter: chosen, filter: filter, params: params)
    subscriptions.append((session, subscription))
    session.costs.scanBegan(at: scheduler.now)
    request(for: subscription, of: session)
  }

  /// An adapter was added.
  func added(_ slot: AdapterSlot) {
    for (session, subscription) in subscriptions where subscription.includes(slot) {
      request(subscription.parameters(inBackground: session.isBackground), of: session, on: slot)
    }
  }

  /// The scan of a session as requested.
  func request(of session: Session) -> ScanStart.Params? {
    subscriptions.first { $0.session == session }?.subscription.params
  }

  /// A session goes into the background or comes back from there.
  func backgroundChanged(_ session: Session) {
    guard let subscription = subscriptions.first(where: { $0.session == session })?.subscription else { return }
    // A program that was disconnected has seen nothing.
    subscription.reported = [:]
    request(for: subscription, of: session)
  }

  /// Ends the scan of a session, if there is one.
  func stop(_ session: Session) {
    guard subscriptions.contains(where: { $0.session == session }) else { return }
    subscriptions.removeAll { $0.session == session }
    session.costs.scanEnded(at: scheduler.now)
    for slot in adapters.slots { request(nil, of: session, on: slot) }
    guard subscriptions.isEmpty else { return }
    for alarm in waitingForResponse.values { alarm.cancel() }
    waitingForResponse = [:]
  }

  /// Records what an adapter received and passes it on to the sessions that scan for it.
  func received(_ report: AdvertisingReport, on slot: AdapterSlot) {
    let peripheral = directory.heard(report, on: slot)
    guard !subscriptions.isEmpty else { return }
    if let alarm = waitingForResponse.removeValue(forKey: peripheral) {
      alarm.cancel()
    } else if !report.isScanResponse, report.isScannable, peripheral.scanResponse == nil, isScanActive(on: slot),
      peripheral.revision == 1
    {
      waitingForResponse[peripheral] = scheduler.schedule(after: Self.patience) { [unowned self] in
        waitingForResponse[peripheral] = nil
        deliver(peripheral, on: slot)
      }
      return
    }
    deliver(peripheral, on: slot)
  }

  private func deliver(_ peripheral: Peripheral, on slot: AdapterSlot) {
    var line: Data?
    for (session, subscription) in subscriptions {
      guard subscription.includes(slot) else { continue }
      let inBackground = session.isBackground
      if inBackground, !subscription.filter.namesServices { continue }
      let wantsAll = !inBackground && subscription.params.duplicates ?? false
      if !wantsAll, subscription.reported[peripheral.number] == peripheral.revision { continue }
      guard subscription.filter.admits(peripheral) else { continue }
      if subscription.reported.count >= Self.maximumReported { subscription.reported = [:] }
      subscription.reported[peripheral.number] = peripheral.revision
      line = line ?? encode(peripheral, on: slot)
      session.send(line, as: .report(device: peripheral.number))
    }
  }

  private func encode(_ peripheral: Peripheral, on slot: AdapterSlot) -> Data? {
    let report = ScanReport.Params(peripheral, adapter: slot.id, time: scheduler.secondsSinceEpoch)
    return try? RPCEncoding.notification(ScanReport.self, report)
  }

  /// The adapter of this name; nil for all.
  private func choose(_ name: String?) throws -> AdapterSlot? {
    if name != nil { return try adapters.findUsable(name) }
    // Those that cannot be used now join in when they can; at least one must be usable.
    guard adapters.slots.contains(where: \.isUsable) else { return try adapters.findUsable(nil) }
    return nil
  }

  /// The same for a scan that waits for its adapters.
  private func chooseAny(_ name: String?) throws -> AdapterSlot? { try name.map { try adapters.find($0) } }

  private func isScanActive(on slot: AdapterSlot) -> Bool { arbiters[slot]?.isActive ?? false }

  private func request(for subscription: Subscription, of session: Session) {
    let parameters = subscription.parameters(inBackground: session.isBackground)
    for slot in adapters.slots {
      request(subscription.includes(slot) ? parameters : nil, of: session, on: slot)
    }
  }

  private func request(_ parameters: ScanParameters?, of session: Session, on slot: AdapterSlot) {
    switch arbiters[slot, default: ScanArbiter()].request(parameters, of: session) {
    case .none: break
    case .set(let union): slot.adapter.setScan(union)
    }
  }
}

extension ScanReport.Params {
  /// Describes a device as it was last received.
  init(_ peripheral: Peripheral, adapter: String, time: Double) {
    self.init(
      peripheral: peripheral.id, adapter: adapter, address: "\(peripheral.address)",
      addressType: "\(peripheral.address.kind)", connectable: peripheral.isConnectable,
      data: HexBytes(peripheral.data ?? []), time: time)
    let advertised = peripheral.advertised
    rssi = peripheral.rssi
    name = advertised.localName
    services = peripheral.services.nonEmpty
    solicitedServices = advertised.solicitedServiceUUIDs.nonEmpty
    if !advertised.serviceData.isEmpty {
      serviceData = Dictionary(
        advertised.serviceData.map { ("\($0.uuid)", HexBytes($0.data)) }, uniquingKeysWith: { first, _ in first })
    }
    manufacturerData = advertised.manufacturerData.first.map { HexBytes($0.octets) }
    txPower = advertised.txPowerLevel
    appearance = advertised.appearance.map(Int.init)
    scanResponse = peripheral.scanResponse?.nonEmpty.map { HexBytes($0) }
    truncated = peripheral.isTruncated ? true : nil
  }
}

extension Array {
  var nonEmpty: Self? { isEmpty ? nil : self }
}
