import Adapter
import Bluetooth

/// The scan that is wanted and the one that runs.
struct SimulatedScan {
  var wanted: ScanParameters?
  /// When it started and its parameters; windows are counted from there.
  var running: (since: Instant, parameters: ScanParameters)?
}

extension SimulatedAdapter {
  /// The scan that is wanted from now on; nil for none.
  public func setScan(_ parameters: ScanParameters?) {
    scan.wanted = parameters
    settleSoon()
  }

  func settleScan() {
    guard state == .on else { return }
    guard let wanted = scan.wanted else { return endScan() }
    guard scan.running?.parameters != wanted else { return }
    let isNew = scan.running == nil
    scan.running = (scheduler.now, wanted)
    tellWhetherListening()
    if isNew { onEvent?(.scanning(true)) }
  }

  func endScan() {
    guard scan.running != nil else { return }
    scan.running = nil
    tellWhetherListening()
    onEvent?(.scanning(false))
  }

  /// Whether a scan window is open (Core 5.4, Vol 6, Part B, 4.4.3).
  private func isWindowOpen(_ scan: (since: Instant, parameters: ScanParameters)) -> Bool {
    let interval = max(scan.parameters.interval.wholeNanoseconds, 1)
    let phase = scan.since.duration(to: scheduler.now).wholeNanoseconds % interval
    return phase < scan.parameters.window.wholeNanoseconds
  }
}

extension SimulatedAdapter: Listener {
  /// Tells the air when it starts or stops listening. With thousands of advertisers on the air each time counts.
  func tellWhetherListening() {
    let isListening = state == .on && (scan.running != nil || isInitiating)
    guard isListening != wasListening else { return }
    wasListening = isListening
    air.audienceChanged()
  }

  func listens(to advertiser: Advertiser) -> Bool {
    wasListening && advertiser.owner !== self && advertiser.concerns(end.address)
      && (!advertiser.parameters.isExtended || information.hasExtendedAdvertising)
  }

  /// Whether it has the PHY of an advertisement, and listens on it.
  func hears(_ advertiser: Advertiser, on phys: Set<PHY>) -> Bool {
    phys.contains(advertiser.phy) && information.phys.contains(advertiser.phy)
  }

  func heard(_ advertiser: Advertiser, rssi: Int) {
    if let running = scan.running, isWindowOpen(running), hears(advertiser, on: running.parameters.phys) {
      report(advertiser, rssi, running.parameters)
      synchronise(advertiser)
    }
    initiate(advertiser)
  }

  private func report(_ advertiser: Advertiser, _ rssi: Int, _ scan: ScanParameters) {
    let advertised = advertiser.parameters
    var report = AdvertisingReport(
      address: advertised.isAnonymous ? nil : advertiser.address, isConnectable: advertised.isConnectable,
      isScannable: advertised.isScannable, isDirected: advertised.target != nil,
      primaryPHY: advertiser.phy == .leCoded ? .leCoded : nil,
      secondaryPHY: advertised.isExtended ? advertised.secondaryPHY : nil,
      txPower: advertised.includesTxPower ? advertised.txPower ?? 0 : nil, rssi: rssi, data: advertised.data,
      time: scheduler.now)
    if advertised.isExtended {
      report.sid = advertiser.sid
      report.periodicInterval = advertised.periodic?.interval
    }
    tapped(report)
    onEvent?(.report(report))
    guard scan.isActive, advertised.isScannable else { return }
    report.isScanResponse = true
    report.data = advertised.scanResponse
    tapped(report)
    onEvent?(.report(report))
  }
}
