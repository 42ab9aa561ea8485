import Adapter
import BledRPC
import Bluetooth

/// A session's scan, and its reports so far.
final class ScanSubscription {
  /// Maximum devices remembered against duplicates; beyond that it begins anew, and repeats itself.
  private static let maximumReported = 8192
  /// Like `maximumReported`, for anonymous advertisements.
  private static let maximumReportedAnonymous = 256
  /// The bounds for the timeout of a lost device, in seconds.
  private static let timeout = 0.5...3600

  /// Where; nil: on all, later ones included.
  let adapter: AdapterSlot?
  let params: ScanStart.Params
  /// Its number in its session; nil for the one without.
  var number: Int? { params.scan }
  /// The decoding beside the data; nil for none.
  let decoding: ScanDecoding?
  let filter: ScanFilter
  /// Presence tracking; nil if the scan delivers reports.
  let named: NamedScan?
  private let gate: SignalGate
  /// The devices in range; nil without a threshold or timeout.
  private var presence: ScanPresence<Peripheral>?
  /// Called with a lost device; returns true if the report had room.
  var onLost: (ScanPresence<Peripheral>.Lost) -> Bool = { _ in true }
  private let scheduler: any Scheduler
  /// Rings when a device may be lost.
  private var alarm: (any ScheduledWork)?
  /// Each device's last reported revision of its data, by device number.
  private var reported: [Int: Int] = [:]
  /// The reported anonymous advertisements: set identifier and data.
  private var reportedAnonymous: Set<[UInt8]> = []

  /// - Parameter place: greater than in any earlier scan.
  init(
    adapter: AdapterSlot?, filter: ScanFilter, params: ScanStart.Params, place: Int, directory: PeripheralDirectory,
    scheduler: any Scheduler
  ) throws {
    guard params.scan.map({ (1...65_535).contains($0) }) ?? true else {
      throw BledError.invalidParameter.error("\"scan\" must be 1 to 65535")
    }
    self.adapter = adapter
    self.filter = filter
    self.params = params
    decoding = try ScanDecoding(params)
    self.scheduler = scheduler
    gate = try SignalGate(entry: params.rssi, exit: params.rssiOut)
    if let timeout = params.lost, !Self.timeout.contains(timeout) {
      throw BledError.invalidParameter.error(
        """
        "lost" must be \(Self.timeout.lowerBound) to \(Int(Self.timeout.upperBound)) seconds: several times the \
        interval at which the devices advertise
        """)
    }
    named =
      params.presence == true
      ? try NamedScan(
        params, filter: filter, gate: gate, number: place, directory: directory, scheduler: scheduler) : nil
    guard named == nil, gate.hasHysteresis || params.lost != nil else { return }
    presence = ScanPresence(gate: gate, timeout: params.lost.map { .seconds($0) })
  }

  deinit { alarm?.cancel() }

  func includes(_ slot: AdapterSlot) -> Bool { adapter == nil || adapter == slot }

  /// True if it gets reports: in the background only with services.
  func isRunning(inBackground: Bool) -> Bool { !inBackground || filter.namesServices }

  /// True if it gets a report for every advertising event.
  func wantsAll(inBackground: Bool) -> Bool { !inBackground && params.duplicates ?? false }

  /// How to scan for it; nil: suspended.
  func parameters(inBackground: Bool) -> ScanParameters? {
    guard isRunning(inBackground: inBackground) else { return nil }
    let isActive = params.active ?? (named == nil)
    guard inBackground else { return ScanParameters(isActive: isActive, phys: filter.phys) }
    var parameters = ScanParameters.background
    parameters.isActive = isActive
    parameters.phys = filter.phys
    return parameters
  }

  // MARK: Reports

  /// True if it gets a report on the device's latest advertisement, which is recorded.
  func passes(_ peripheral: Peripheral, wantsAll: Bool) -> Bool {
    if presence != nil {
      // Every advertisement counts, also without a report.
      guard filter.admits(peripheral), isIn(peripheral), wantsAll || isNews(peripheral) else { return false }
    } else {
      guard wantsAll || isNews(peripheral), gate.admits(peripheral.rssi, isIn: false), filter.admits(peripheral)
      else { return false }
    }
    if !wantsAll { record(peripheral) }
    return true
  }

  /// True if it gets a report on an anonymous advertisement, which is recorded.
  func passes(anonymous report: AdvertisingReport, _ content: AdvertisedContent, wantsAll: Bool) -> Bool {
    gate.admits(report.rssi, isIn: false) && filter.admits(anonymous: content) && (wantsAll || record(report))
  }

  private func isIn(_ peripheral: Peripheral) -> Bool {
    guard let verdict = presence?.received(peripheral, rssi: peripheral.rssi, at: scheduler.now) else { return true }
    // A device that returns is news.
    if verdict.leaves { reported[peripheral.number] = nil }
    if let gone = verdict.lost { lose(gone) }
    watch()
    return verdict.isIn
  }

  // MARK: Losses

  private func watch() {
    // A deadline does not become earlier.
    guard alarm == nil, let deadline = presence?.deadline else { return }
    alarm = scheduler.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      alarm = nil
      for gone in presence?.tick(at: scheduler.now) ?? [] { lose(gone) }
      watch()
    }
  }

  private func lose(_ gone: ScanPresence<Peripheral>.Lost) {
    reported[gone.device.number] = nil
    if !onLost(gone) { presence?.postpone(gone, at: scheduler.now) }
  }

  // MARK: Duplicates

  /// True if the device was not reported yet, or with other data.
  private func isNews(_ peripheral: Peripheral) -> Bool { reported[peripheral.number] != peripheral.revision }

  /// Records a reported device.
  private func record(_ peripheral: Peripheral) {
    if reported.count >= Self.maximumReported { reported = [:] }
    reported[peripheral.number] = peripheral.revision
  }

  /// Records a reported anonymous advertisement.
  /// - Returns: false if it was before.
  private func record(_ report: AdvertisingReport) -> Bool {
    if reportedAnonymous.count >= Self.maximumReportedAnonymous { reportedAnonymous = [] }
    return reportedAnonymous.insert([report.sid ?? 0xFF] + report.data).inserted
  }

  /// The program moves into the background, or returns from it: a disconnected program has seen nothing.
  func backgroundChanged(to isBackground: Bool) {
    reported = [:]
    reportedAnonymous = []
    // A suspended scan receives nothing, so nothing is lost either.
    if !isRunning(inBackground: isBackground) {
      presence?.removeAll()
      named?.suspend()
    }
  }
}
