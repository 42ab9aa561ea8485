import Adapter
import Bluetooth

/// The requests of the owner, which are settled soon, and the events of the activities.
extension SimulatedAdapter {
  /// Sets the wanted scan; nil for none.
  public func setScan(_ parameters: ScanParameters?) {
    scan.wanted = parameters
    settleSoon()
  }

  /// Sets the wanted advertisement of this number; nil for none.
  public func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    advertisements.want(set, parameters)
    settleSoon()
  }

  /// Sets a train to follow; nil parameters stop it.
  public func setSync(_ train: PeriodicTrain, _ parameters: SyncParameters?) {
    guard parameters == nil || state != .on || information.canSynchronise else {
      return trains.refuse(train, GAPError.notSupported.error("this adapter cannot follow periodic advertising"))
    }
    trains.follow(train, parameters)
  }

  /// Adds a pending connection to this device.
  public func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    initiator.connect(to: address, parameters)
    settleSoon()
  }

  /// Cancels the pending connection.
  public func cancelConnect(to address: DeviceAddress) {
    initiator.cancel(address)
    settleSoon()
  }

  func settleActivities() {
    settleScan()
    advertisements.removeUnwanted()
    if state == .on { advertisements.settle(description.advertisingCapabilities(address: end.address), of: self) }
    updateListening()
  }

  /// Scan, advertisements, trains and attempts end; the requests for them remain.
  func endActivities() {
    if scan.end() { scanChanged() }
    advertisements.endAll()
    trains.endAll()
    initiator.endAttempts()
  }

  private func settleScan() {
    guard state == .on else { return }
    let wasRunning = scan.isRunning
    guard scan.settle(at: scheduler.now) else { return }
    if scan.isRunning != wasRunning { scanChanged() } else { updateListening() }
  }

  private func scanChanged() {
    updateListening()
    onEvent?(.scanning(scan.isRunning))
  }
}

extension SimulatedAdapter: Listener {
  func listens(to advertiser: Advertiser) -> Bool {
    isListening && advertiser.owner !== self && advertiser.concerns(end.address)
      && (!advertiser.parameters.isExtended || information.hasExtendedAdvertising)
  }

  /// True if it has the PHY of an advertisement, and listens on it.
  private func hears(_ advertiser: Advertiser, on phys: Set<PHY>) -> Bool {
    phys.contains(advertiser.phy) && information.phys.contains(advertiser.phy)
  }

  func heard(_ advertiser: Advertiser, rssi: Int) {
    if let parameters = scan.listening(at: scheduler.now), hears(advertiser, on: parameters.phys) {
      report(advertiser, rssi, parameters)
      trains.heard(advertiser)
    }
    initiator.heard(advertiser) { hears(advertiser, on: $0) }
  }

  private func report(_ advertiser: Advertiser, _ rssi: Int, _ scan: ScanParameters) {
    var report = AdvertisingReport(advertiser, rssi: rssi, time: scheduler.now)
    tell(report)
    guard scan.isActive, advertiser.parameters.isScannable else { return }
    report.isScanResponse = true
    report.data = advertiser.parameters.scanResponse
    tell(report)
  }

  private func tell(_ report: AdvertisingReport) {
    taps.heard(report)
    onEvent?(.report(report))
  }
}

extension SimulatedAdapter: InitiatorHost {
  func tryToConnect(
    to advertiser: Advertiser, at address: DeviceAddress, _ pending: PendingConnection
  ) -> Air.Outcome {
    guard links.count < description.links else { return .failed(HCIReason.connectionLimitExceeded.error) }
    return air.connect(
      end, to: advertiser, at: address, attempts: pending.attempts, pending.parameters,
      packetsPerEvent: description.packetsPerEvent)
  }

  func attemptFailed(_ address: DeviceAddress, _ error: BluetoothError) {
    onEvent?(.connectAttemptFailed(address, error))
  }

  func initiatorChanged() { updateListening() }
}

extension SimulatedAdapter: Connectable {
  var linkEnd: SimulatedLink.End { end }

  func connectDelay() -> Duration { .milliseconds(30) }

  func answersConnect() -> Bool { state == .on && links.count < description.links }

  func accept(_ link: SimulatedLink) {
    advertisements.connected(link.peer)
    connected(link)
  }
}
