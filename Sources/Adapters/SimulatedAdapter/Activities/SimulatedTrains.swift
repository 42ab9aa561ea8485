import Adapter
import Bluetooth

/// The trains that a simulated adapter follows. A wanted train is found with a scan, or transferred by a device, and
/// then received at its own times.
final class SimulatedTrains {
  private struct Sync {
    let parameters: SyncParameters
    /// The sender of the train, while the adapter is synchronised.
    var advertiser: Advertiser?
    /// Its subevents, if it has any, and the received ones.
    var subevents: SimulatedSubevents?
    var chosen: Set<UInt8> = []
    /// The time of the last received packet.
    var lastReception = Instant.zero
    /// Rings when the next packet is due.
    var alarm: (any ScheduledWork)?
  }

  /// Called with each event of a train.
  var onEvent: ((PeriodicTrain, PeriodicEvent) -> Void)?
  private var syncs: [PeriodicTrain: Sync] = [:]
  private let air: Air
  private let scheduler: any Scheduler

  init(on air: Air, scheduler: any Scheduler) {
    self.air = air
    self.scheduler = scheduler
  }

  /// Sets a train to follow; nil parameters stop it.
  func follow(_ train: PeriodicTrain, _ parameters: SyncParameters?) {
    end(train)
    if let parameters { syncs[train] = Sync(parameters: parameters) }
  }

  /// The train cannot be followed.
  func refuse(_ train: PeriodicTrain, _ error: BluetoothError) {
    follow(train, nil)
    scheduler.schedule(after: .zero) { [weak self] in self?.onEvent?(train, .failed(error)) }
  }

  /// An advertisement was received that may announce a wanted train.
  func heard(_ advertiser: Advertiser) {
    guard let train = advertiser.train, let sync = syncs[train], sync.advertiser == nil,
      let received = begin(train, advertiser)
    else { return }
    onEvent?(
      train, .synchronised(interval: received.interval, phy: received.phy, subevents: received.subevents))
  }

  /// A device transferred a train; follows it from now on.
  /// - Returns: the train; nil if it is not on the air.
  func adopt(_ advertiser: Advertiser, _ parameters: SyncParameters) -> ReceivedTrain? {
    guard let train = advertiser.train, air.contains(advertiser) else { return nil }
    let parameters = syncs[train]?.parameters ?? parameters
    follow(train, parameters)
    return begin(train, advertiser)
  }

  private func begin(_ train: PeriodicTrain, _ advertiser: Advertiser) -> ReceivedTrain? {
    guard let periodic = advertiser.parameters.periodic else { return nil }
    syncs[train]?.advertiser = advertiser
    syncs[train]?.subevents = advertiser.subevents
    syncs[train]?.chosen = []
    syncs[train]?.lastReception = scheduler.now
    advertiser.subevents?.setListener(self) { [weak self] place, data in self?.received(train, place, data) }
    arm(train, periodic.interval)
    var received = ReceivedTrain(
      train: train, interval: periodic.interval, phy: advertiser.parameters.secondaryPHY, serviceData: 0)
    received.subevents = advertiser.subevents?.description
    return received
  }

  /// The sender of a train that is followed at present.
  func advertiser(of train: PeriodicTrain) -> Advertiser? { syncs[train]?.advertiser }

  // MARK: - Subevents

  /// Chooses the subevents to receive.
  /// - Returns: the reason for a refusal; nil without one.
  func choose(_ chosen: [UInt8], of train: PeriodicTrain) -> BluetoothError? {
    guard syncs[train]?.advertiser != nil else { return Self.unknown }
    guard let subevents = syncs[train]?.subevents, chosen.allSatisfy({ $0 < subevents.slots.subevents }) else {
      return HCIReason.invalidHCICommandParameters.error
    }
    syncs[train]?.chosen = Set(chosen)
    return nil
  }

  /// Responds to a packet.
  /// - Returns: why not.
  func respond(_ response: TrainResponse, to train: PeriodicTrain, rssi: Int?) -> BluetoothError? {
    guard let subevents = syncs[train]?.subevents else { return Self.unknown }
    return subevents.respond(response, rssi: rssi)
  }

  private func received(_ train: PeriodicTrain, _ place: SubeventPlace, _ data: [UInt8]) {
    guard let sync = syncs[train], sync.chosen.contains(place.subevent), let rssi = sync.advertiser?.reception() else {
      return
    }
    onEvent?(train, .received(PeriodicPacket(data: data, rssi: rssi, place: place)))
  }

  private static var unknown: BluetoothError {
    BledError.unknownHandle.error("the adapter is not synchronised with the train at present")
  }

  // MARK: - Packets

  private func arm(_ train: PeriodicTrain, _ interval: Duration) {
    guard syncs[train]?.advertiser != nil else { return }
    syncs[train]?.alarm = scheduler.schedule(after: interval) { [weak self] in self?.receive(train, interval) }
  }

  /// The time of a packet: it is received if the train is still on the air and undisturbed.
  private func receive(_ train: PeriodicTrain, _ interval: Duration) {
    guard let sync = syncs[train], let advertiser = sync.advertiser else { return }
    if air.contains(advertiser), let periodic = advertiser.parameters.periodic, periodic.interval == interval,
      advertiser.subevents === sync.subevents, let rssi = advertiser.reception()
    {
      syncs[train]?.lastReception = scheduler.now
      let txPower = periodic.includesTxPower ? advertiser.parameters.txPower ?? 0 : nil
      if sync.subevents == nil {
        onEvent?(train, .received(PeriodicPacket(data: periodic.data, rssi: rssi, txPower: txPower)))
      }
    } else if sync.lastReception.duration(to: scheduler.now) >= sync.parameters.timeout {
      end(train)
      syncs[train] = Sync(parameters: sync.parameters)
      onEvent?(train, .lost)
      return
    }
    arm(train, interval)
  }

  /// Stops following all trains; requests remain.
  func endAll() {
    for (train, sync) in syncs {
      end(train)
      syncs[train] = Sync(parameters: sync.parameters)
    }
  }

  private func end(_ train: PeriodicTrain) {
    guard let sync = syncs.removeValue(forKey: train) else { return }
    sync.alarm?.cancel()
    sync.subevents?.setListener(self, nil)
  }
}
