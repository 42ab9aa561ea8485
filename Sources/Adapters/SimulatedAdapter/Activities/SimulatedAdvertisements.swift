import Adapter
import Bluetooth
import Scenarios

/// The wanted advertisements of a simulated adapter, and the ones on the air.
final class SimulatedAdvertisements {
  /// A wanted advertisement and its state.
  private struct Entry {
    var wanted: AdvertisingParameters?
    /// Exists from the first turn on; it is on the air during its turns.
    var advertiser: Advertiser?
    var isOnAir = false
    var told: AdvertisingStatus?
    /// True once it has completed.
    var hasEnded = false
  }

  /// Called with the state of an advertisement when it has changed.
  var onEvent: ((AdvertisingSetID, AdvertisingStatus) -> Void)?
  /// Called with the responses of devices to a subevent of a train.
  var onResponses: ((AdvertisingSetID, SubeventResponses) -> Void)?
  /// Called when a turn is over or an advertisement has ended: the others are to be settled, not from inside this call.
  var onTurn: (() -> Void)?
  private var entries: [AdvertisingSetID: Entry] = [:]
  private var rotation: AdvertisingRotation
  /// Rings when a turn on a shared set is over.
  private var turnAlarm: (any ScheduledWork)?
  private let air: Air
  private let scheduler: any Scheduler

  /// - Parameter sets: the controller's number of sets.
  init(sets: Int, on air: Air, scheduler: any Scheduler) {
    rotation = AdvertisingRotation(sets: sets)
    self.air = air
    self.scheduler = scheduler
  }

  /// The wanted advertisements.
  var wanted: Set<AdvertisingSetID> { Set(entries.filter { $0.value.wanted != nil }.keys) }

  /// The wanted advertisements, in the order of their numbers.
  private var sets: [AdvertisingSetID] { entries.keys.sorted { $0.value < $1.value } }

  /// Sets the wanted advertisement of this number; nil for none.
  func want(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    let former = entries[set]?.wanted
    entries[set, default: Entry()].wanted = parameters
    if former != parameters, case .failed = entries[set]?.told { entries[set]?.told = nil }
  }

  /// Removes the advertisements that are no longer wanted.
  func removeUnwanted() {
    for set in sets where entries[set]?.wanted == nil {
      rotation.remove(set)
      rest(set)
      entries[set]?.advertiser?.onEnd = nil
      let told = entries.removeValue(forKey: set)?.told
      if case .on = told { onEvent?(set, .off) }
    }
  }

  /// Puts the wanted advertisements on the air whose turn it is.
  /// - Parameters:
  ///   - capabilities: the controller's features.
  ///   - owner: the adapter, which devices connect to.
  func settle(_ capabilities: AdvertisingCapabilities, of owner: any Connectable) {
    let sets = sets
    for set in sets where entries[set]?.hasEnded == false {
      guard let wanted = entries[set]?.wanted, let error = refusal(of: wanted, set, capabilities) else { continue }
      rotation.remove(set)
      rest(set)
      tell(set, .failed(error))
    }
    let due = rotation.onAir(at: scheduler.now) { _ in true }
    for set in sets where !due.contains(set) && entries[set]?.wanted?.endsByItself != true { rest(set) }
    for set in due { send(set, of: owner) }
    for set in sets { tellInterval(set) }
    turnAlarm?.cancel()
    turnAlarm = rotation.deadline(after: scheduler.now).map { end in
      scheduler.schedule(at: end) { [weak self] in self?.onTurn?() }
    }
  }

  /// The only device that may connect has done so: its advertisements end.
  func connected(_ peer: DeviceAddress) {
    for set in sets where entries[set]?.isOnAir == true && entries[set]?.wanted?.target == peer {
      ended(set, .connected)
    }
  }

  /// Takes all off the air; they remain wanted.
  func endAll() {
    turnAlarm?.cancel()
    turnAlarm = nil
    for set in sets {
      rest(set)
      if case .on = entries[set]?.told { tell(set, .off) } else { entries[set]?.told = nil }
    }
  }

  /// Puts it on the air with its current parameters.
  private func send(_ set: AdvertisingSetID, of owner: any Connectable) {
    guard var parameters = entries[set]?.wanted else { return }
    parameters.interval = interval(of: set, parameters)
    let isOnAir = entries[set]?.isOnAir == true
    if let advertiser = entries[set]?.advertiser {
      guard !isOnAir || advertiser.parameters != parameters else { return }
      // An alarm of the old interval must not delay the new one.
      air.remove(advertiser)
      advertiser.parameters = parameters
      air.add(advertiser)
      beginSubevents(set, advertiser)
    } else {
      let stream = Stream.advertising.of(owner.linkEnd.address, Int(set.value))
      let advertiser = Advertiser(
        .adapter, owner: owner, parameters: parameters, phy: parameters.primaryPHY, sid: UInt8(set.value & 0x0F),
        stream: stream, air: air)
      advertiser.onEnd = { [weak self] end in self?.ended(set, end) }
      entries[set]?.advertiser = advertiser
      air.add(advertiser)
      beginSubevents(set, advertiser)
    }
    entries[set]?.isOnAir = true
    if case .on = entries[set]?.told { return }
    tell(set, onAir(set, parameters))
  }

  private func ended(_ set: AdvertisingSetID, _ end: AdvertisingEnd) {
    rest(set)
    rotation.remove(set)
    entries[set]?.hasEnded = true
    tell(set, .ended(end))
    onTurn?()
  }

  /// Takes it off the air; it may have further turns.
  private func rest(_ set: AdvertisingSetID) {
    guard entries[set]?.isOnAir == true, let advertiser = entries[set]?.advertiser else { return }
    entries[set]?.isOnAir = false
    air.remove(advertiser)
    advertiser.subevents?.end()
    advertiser.subevents = nil
  }

  private func beginSubevents(_ set: AdvertisingSetID, _ advertiser: Advertiser) {
    advertiser.subevents?.end()
    advertiser.subevents = advertiser.parameters.periodic.flatMap { periodic in
      periodic.responses.map { SimulatedSubevents($0, interval: periodic.interval, scheduler: scheduler) }
    }
    advertiser.subevents?.onResponses = { [weak self] in self?.onResponses?(set, $0) }
  }

  /// The sender of an advertisement on the air.
  func advertiser(of set: AdvertisingSetID) -> Advertiser? {
    entries[set].flatMap { $0.isOnAir ? $0.advertiser : nil }
  }

  /// Reports the actual interval of advertisements on the air, if it has changed.
  private func tellInterval(_ set: AdvertisingSetID) {
    guard case .on = entries[set]?.told, let wanted = entries[set]?.wanted else { return }
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
    guard entries[set]?.told != status else { return }
    entries[set]?.told = status
    onEvent?(set, status)
  }

  private func refusal(
    of parameters: AdvertisingParameters, _ set: AdvertisingSetID, _ capabilities: AdvertisingCapabilities
  ) -> BluetoothError? {
    if let problem = capabilities.problem(with: parameters) { return problem }
    return rotation.admit(set, isPinned: parameters.isPinned) ? nil : rotation.refusal(isPinned: parameters.isPinned)
  }

  /// The interval in the controller's units of 625 µs, 20 ms to 10.24 s.
  private static func granted(_ wanted: Duration) -> Duration {
    .microseconds(min(max(wanted.wholeNanoseconds / 625_000, 32), 16384) * 625)
  }
}
