import Beacons
import BledRPC
import Bluetooth

extension PeripheralEngine {
  /// Starts to advertise. Any thread.
  func startAdvertising(name: String?, services: [BluetoothUUID], beacon: IBeacon?) {
    run { [self] in
      // An iBeacon alone is for all receivers, and for no connection.
      let isBeaconAlone = beacon != nil && name == nil && services.isEmpty
      perform(
        advertising.start(
          .init(
            adapter: adapter, name: name, services: services.isEmpty ? nil : services,
            manufacturerData: (beacon?.manufacturerData.octets).map { HexBytes($0) },
            connectable: isBeaconAlone ? false : nil)))
    }
  }

  /// Ends the advertising. Any thread.
  func stopAdvertising() {
    run { [self] in perform(advertising.stop()) }
  }

  /// The advertisement kept by the daemon continues.
  func restoreAdvertising(_ number: Int, on adapter: String) {
    advertising.restore(number)
    OwnAdapters.add(adapter, of: self)
  }

  /// The state is no longer poweredOn.
  func endAdvertising() { perform(advertising.end()) }

  func advertisingChanged(_ change: AdvertisingChanged.Params) {
    guard let reason = change.reason, advertising.ended(change.advertising) else { return }
    Misuse.logFailure("the advertisement ended: \(reason.message)")
    deliver { $0.shared[\.isAdvertising] = false }
  }

  private func perform(_ actions: [AdvertisingMachine.Action]) {
    for action in actions {
      switch action {
      case .start(let params, let attempt):
        if let adapter = adapters.first?.adapter { OwnAdapters.add(adapter, of: self) }
        call(AdvertisingStart.self, params) { [weak self] result in
          guard let self else { return }
          perform(advertising.decided(attempt, result.map(\.advertising)))
        }
      case .stop(let number): call(AdvertisingStop.self, .init(advertising: number))
      case .started(let error): reportStarted(error?.coreBluetooth)
      case .refuse: reportStarted(.failed(.alreadyAdvertising, "this manager is already advertising"))
      }
    }
  }

  private func reportStarted(_ error: NSError?) {
    let isOn = error == nil
    deliver { manager in
      if isOn { manager.shared[\.isAdvertising] = true }
      manager.delegate?.peripheralManagerDidStartAdvertising(manager, error: error)
    }
  }
}

extension RestoredState.Advertisement {
  /// The advertisement's data, under the keys of `startAdvertising`.
  var data: [String: Any] {
    var data: [String: Any] = [:]
    if let name = parameters.name { data[CBAdvertisementDataLocalNameKey] = name }
    if let services = parameters.services { data[CBAdvertisementDataServiceUUIDsKey] = services.map { CBUUID($0) } }
    if let beacon = parameters.manufacturerData.flatMap({ IBeacon($0) }) {
      data[IBeacon.advertisementKey] = Data(beacon.content)
    }
    return data
  }
}
