import Adapter
import Bluetooth

/// The wanted scan of a simulated adapter, and the running one.
struct SimulatedScan {
  var wanted: ScanParameters?
  /// The start and parameters of the running scan; windows are counted from the start.
  private var running: (since: Instant, parameters: ScanParameters)?

  init() {}

  var isRunning: Bool { running != nil }

  /// Runs the wanted scan from now on, if any.
  /// - Returns: true if the scan has changed.
  mutating func settle(at now: Instant) -> Bool {
    guard running?.parameters != wanted else { return false }
    running = wanted.map { (now, $0) }
    return true
  }

  /// The controller is off; the request remains.
  /// - Returns: true if a scan ran.
  mutating func end() -> Bool {
    defer { running = nil }
    return isRunning
  }

  /// The parameters of the scan if one of its windows is open (Core 5.4, Vol 6, Part B, 4.4.3).
  func listening(at now: Instant) -> ScanParameters? {
    guard let running else { return nil }
    let interval = max(running.parameters.interval.wholeNanoseconds, 1)
    let phase = running.since.duration(to: now).wholeNanoseconds % interval
    return phase < running.parameters.window.wholeNanoseconds ? running.parameters : nil
  }
}

extension AdvertisingReport {
  /// The report of a received advertisement.
  init(_ advertiser: Advertiser, rssi: Int, time: Instant) {
    let advertised = advertiser.parameters
    self.init(
      address: advertised.isAnonymous ? nil : advertiser.address, isConnectable: advertised.isConnectable,
      isScannable: advertised.isScannable, isDirected: advertised.target != nil,
      primaryPHY: advertiser.phy == .leCoded ? .leCoded : nil,
      secondaryPHY: advertised.isExtended ? advertised.secondaryPHY : nil,
      txPower: advertised.includesTxPower ? advertised.txPower ?? 0 : nil, rssi: rssi, data: advertised.data,
      time: time)
    if advertised.isExtended {
      sid = advertiser.sid
      periodicInterval = advertised.periodic?.interval
    }
  }
}
