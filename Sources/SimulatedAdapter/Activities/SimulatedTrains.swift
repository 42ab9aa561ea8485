import Adapter
import Bluetooth

/// The trains that a simulated adapter follows. One that is wanted is found with a scan, and then received at its own
/// times.
final class SimulatedTrains {
  private struct Sync {
    let parameters: SyncParameters
    /// The sender of the train, while the adapter is synchronised.
    var advertiser: Advertiser?
    /// When a packet was received last.
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

  /// The train is to be followed from now on, or (nil) no longer.
  func follow(_ train: PeriodicTrain, _ parameters: SyncParameters?) {
    syncs.removeValue(forKey: train)?.alarm?.cancel()
    if let parameters { syncs[train] = Sync(parameters: parameters) }
  }

  /// The train cannot be followed.
  func refuse(_ train: PeriodicTrain, _ error: BluetoothError) {
    follow(train, nil)
    scheduler.schedule(after: .zero) { [weak self] in self?.onEvent?(train, .failed(error)) }
  }

  /// An advertisement was received that may announce a train that is sought.
  func heard(_ advertiser: Advertiser) {
    guard let periodic = advertiser.parameters.periodic else { return }
    let train = PeriodicTrain(address: advertiser.address, sid: advertiser.sid)
    guard let sync = syncs[train], sync.advertiser == nil else { return }
    syncs[train]?.advertiser = advertiser
    syncs[train]?.lastReception = scheduler.now
    onEvent?(train, .synchronised(interval: periodic.interval, phy: advertiser.parameters.secondaryPHY))
    arm(train, periodic.interval)
  }

  private func arm(_ train: PeriodicTrain, _ interval: Duration) {
    guard syncs[train]?.advertiser != nil else { return }
    syncs[train]?.alarm = scheduler.schedule(after: interval) { [weak self] in self?.receive(train, interval) }
  }

  /// The time of a packet: it comes if the train is still there and nothing disturbs it.
  private func receive(_ train: PeriodicTrain, _ interval: Duration) {
    guard let sync = syncs[train], let advertiser = sync.advertiser else { return }
    if air.contains(advertiser), let periodic = advertiser.parameters.periodic, periodic.interval == interval,
      let rssi = advertiser.reception()
    {
      syncs[train]?.lastReception = scheduler.now
      let txPower = periodic.includesTxPower ? advertiser.parameters.txPower ?? 0 : nil
      onEvent?(train, .received(PeriodicPacket(data: periodic.data, rssi: rssi, txPower: txPower)))
    } else if sync.lastReception.duration(to: scheduler.now) >= sync.parameters.timeout {
      syncs[train]?.advertiser = nil
      onEvent?(train, .lost)
      return
    }
    arm(train, interval)
  }

  /// Follows nothing any more; requests stay in force.
  func endAll() {
    for (train, sync) in syncs {
      sync.alarm?.cancel()
      syncs[train] = Sync(parameters: sync.parameters)
    }
  }
}
