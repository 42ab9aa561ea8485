import Adapter
import Bluetooth

/// One wanted advertisement and its state.
struct SimulatedAdvertisement {
  var wanted: AdvertisingParameters?
  /// There is one from the first turn on; it is on the air in its turn.
  var advertiser: Advertiser?
  var isOnAir = false
  var told: AdvertisingStatus?
  /// Whether it has done its task.
  var hasEnded = false
}

extension SimulatedAdapter {
  /// The advertisement that is wanted under this number from now on; nil for none.
  public func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    let former = advertisements[set]?.wanted
    advertisements[set, default: SimulatedAdvertisement()].wanted = parameters
    if former != parameters, case .failed = advertisements[set]?.told { advertisements[set]?.told = nil }
    settleSoon()
  }

  func settleAdvertising() {
    let sets = advertisements.keys.sorted { $0.value < $1.value }
    rotation.sets = description.advertisingSets
    for set in sets where advertisements[set]?.wanted == nil {
      rotation.remove(set)
      rest(set)
      advertisements[set]?.advertiser?.onEnd = nil
      let told = advertisements.removeValue(forKey: set)?.told
      if case .on = told { onEvent?(.advertising(set, .off)) }
    }
    guard state == .on else { return }
    for set in sets where advertisements[set]?.hasEnded == false {
      guard let wanted = advertisements[set]?.wanted else { continue }
      guard let error = refusal(of: wanted, set) else { continue }
      rotation.remove(set)
      rest(set)
      tell(set, .failed(error))
    }
    let due = rotation.onAir(at: scheduler.now) { _ in true }
    for set in sets where !due.contains(set) && advertisements[set]?.wanted?.endsByItself != true { rest(set) }
    for set in due { send(set) }
    for set in sets { tellInterval(set) }
    turnAlarm?.cancel()
    turnAlarm = rotation.deadline(after: scheduler.now).map { end in
      scheduler.schedule(at: end) { [weak self] in self?.settleSoon() }
    }
  }

  /// Puts it on the air with its current parameters.
  private func send(_ set: AdvertisingSetID) {
    guard var parameters = advertisements[set]?.wanted else { return }
    parameters.interval = interval(of: set, parameters)
    let isOnAir = advertisements[set]?.isOnAir == true
    if let advertiser = advertisements[set]?.advertiser {
      guard !isOnAir || advertiser.parameters != parameters else { return }
      // An alarm of the old interval must not delay the new one.
      air.remove(advertiser)
      advertiser.parameters = parameters
      air.add(advertiser)
    } else {
      let stream = Stream.advertising.of(end.address, Int(set.value))
      let advertiser = Advertiser(
        .adapter, owner: self, parameters: parameters, phy: parameters.primaryPHY, sid: UInt8(set.value & 0x0F),
        stream: stream, air: air)
      advertiser.onEnd = { [weak self] end in self?.ended(set, end) }
      advertisements[set]?.advertiser = advertiser
      air.add(advertiser)
    }
    advertisements[set]?.isOnAir = true
    if case .on = advertisements[set]?.told { return }
    tell(set, onAir(set, parameters))
  }

  private func ended(_ set: AdvertisingSetID, _ end: AdvertisingEnd) {
    rest(set)
    rotation.remove(set)
    advertisements[set]?.hasEnded = true
    tell(set, .ended(end))
    settleSoon()
  }

  /// Takes it off the air; it may have its turn again.
  private func rest(_ set: AdvertisingSetID) {
    guard advertisements[set]?.isOnAir == true, let advertiser = advertisements[set]?.advertiser else { return }
    advertisements[set]?.isOnAir = false
    air.remove(advertiser)
  }

  /// Reports the actual interval of advertisements on the air, if it has changed.
  private func tellInterval(_ set: AdvertisingSetID) {
    guard case .on = advertisements[set]?.told, let wanted = advertisements[set]?.wanted else { return }
    tell(set, onAir(set, wanted))
  }

  /// The interval during its turn.
  private func interval(of set: AdvertisingSetID, _ parameters: AdvertisingParameters) -> Duration {
    Self.granted(
      parameters.endsByItself
        ? parameters.interval : rotation.intervalOnAir(of: set, wanted: parameters.interval))
  }

  private func onAir(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters) -> AdvertisingStatus {
    let interval = interval(of: set, parameters)
    return .on(
      interval: parameters.endsByItself ? interval : rotation.realInterval(of: set, onAir: interval),
      txPower: parameters.txPower)
  }

  private func tell(_ set: AdvertisingSetID, _ status: AdvertisingStatus) {
    guard advertisements[set]?.told != status else { return }
    advertisements[set]?.told = status
    onEvent?(.advertising(set, status))
  }

  private func refusal(of parameters: AdvertisingParameters, _ set: AdvertisingSetID) -> BluetoothError? {
    let capabilities = AdvertisingCapabilities(
      isExtended: information.hasExtendedAdvertising, dataLength: description.advertisingDataLength,
      phys: information.phys, address: information.address, hasPeriodic: information.hasPeriodicAdvertising,
      selectsCoding: information.hasExtendedAdvertising)
    if let problem = capabilities.problem(with: parameters) { return problem }
    return rotation.admit(set, isPinned: parameters.isPinned) ? nil : rotation.refusal(isPinned: parameters.isPinned)
  }

  /// The interval in the controller's units of 625 µs, 20 ms to 10.24 s.
  private static func granted(_ wanted: Duration) -> Duration {
    .microseconds(min(max(wanted.wholeNanoseconds / 625_000, 32), 16384) * 625)
  }

  /// Ends the advertisements on the air; it stays wanted.
  func endAdvertising() {
    turnAlarm?.cancel()
    turnAlarm = nil
    for set in advertisements.keys.sorted(by: { $0.value < $1.value }) {
      rest(set)
      if case .on = advertisements[set]?.told { tell(set, .off) } else { advertisements[set]?.told = nil }
    }
  }
}

extension SimulatedAdapter: Connectable {
  var linkEnd: SimulatedLink.End { end }

  func connectDelay() -> Duration { .milliseconds(30) }

  func answersConnect() -> Bool { state == .on && links.count < description.links }

  func accept(_ link: SimulatedLink) {
    for set in advertisements.keys.sorted(by: { $0.value < $1.value })
    where advertisements[set]?.isOnAir == true && advertisements[set]?.wanted?.target == link.peer {
      ended(set, .connected)
    }
    hold(link)
    onEvent?(.connected(link))
  }
}
