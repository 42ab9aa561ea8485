import Adapter
import Bluetooth

/// A train that is wanted. It is found with a scan, and then received at its own times.
struct SimulatedSync {
  let parameters: SyncParameters
  /// The sender of the train, while the adapter is synchronised.
  var advertiser: Advertiser?
  /// When a packet was received last.
  var lastReception = Instant.zero
  /// Rings when the next packet is due.
  var alarm: (any ScheduledWork)?
}

extension SimulatedAdapter {
  /// The train that is to be followed from now on, or (nil) no longer.
  public func setSync(_ train: PeriodicTrain, _ parameters: SyncParameters?) {
    syncs.removeValue(forKey: train)?.alarm?.cancel()
    guard let parameters else { return }
    guard state != .on || information.canSynchronise else {
      scheduler.schedule(after: .zero) { [weak self] in
        self?.onEvent?(
          .periodic(train, .failed(GAPError.notSupported.error("this adapter cannot follow periodic advertising"))))
      }
      return
    }
    syncs[train] = SimulatedSync(parameters: parameters)
  }

  /// An advertisement was received that may announce a train that is sought.
  func synchronise(_ advertiser: Advertiser) {
    guard let periodic = advertiser.parameters.periodic else { return }
    let train = PeriodicTrain(address: advertiser.address, sid: advertiser.sid)
    guard let sync = syncs[train], sync.advertiser == nil else { return }
    syncs[train]?.advertiser = advertiser
    syncs[train]?.lastReception = scheduler.now
    onEvent?(
      .periodic(train, .synchronised(interval: periodic.interval, phy: advertiser.parameters.secondaryPHY)))
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
      onEvent?(.periodic(train, .received(PeriodicPacket(data: periodic.data, rssi: rssi, txPower: txPower))))
    } else if sync.lastReception.duration(to: scheduler.now) >= sync.parameters.timeout {
      syncs[train]?.advertiser = nil
      onEvent?(.periodic(train, .lost))
      return
    }
    arm(train, interval)
  }

  /// Follows nothing any more; requests stay in force.
  func endSyncs() {
    for (train, sync) in syncs {
      sync.alarm?.cancel()
      syncs[train] = SimulatedSync(parameters: sync.parameters)
    }
  }
}
