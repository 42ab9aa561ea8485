import BledRPC
import Bluetooth

extension PeripheralEngine {
  /// Starts to advertise. Any thread.
  func startAdvertising(name: String?, services: [BluetoothUUID]) {
    run { [self] in
      guard advertising == .off else {
        return tellStarted(.failed(.alreadyAdvertising, "this manager advertises already"))
      }
      lastAdvertising += 1
      let wish = Advertising.starting(lastAdvertising)
      advertising = wish
      call(AdvertisingStart.self, .init(name: name, services: services.isEmpty ? nil : services)) {
        [weak self] result in
        guard let self else { return }
        switch result {
        case .success(let started):
          guard advertising == wish else { return call(AdvertisingStop.self, .init(advertising: started.advertising)) }
          advertising = .on(started.advertising)
          tellStarted(nil)
        case .failure(let error):
          guard advertising == wish else { return }
          advertising = .off
          tellStarted(error.coreBluetooth)
        }
      }
    }
  }

  /// Ends the advertising. Any thread.
  func stopAdvertising() {
    run { [self] in
      if case .on(let number) = advertising { call(AdvertisingStop.self, .init(advertising: number)) }
      advertising = .off
    }
  }

  func advertisingChanged(_ change: AdvertisingChanged.Params) {
    guard case .on(change.advertising) = advertising, let reason = change.reason else { return }
    advertising = .off
    Misuse.note("the advertisement ended: \(reason.message)")
    deliver { $0.shared[\.isAdvertising] = false }
  }

  private func tellStarted(_ error: NSError?) {
    let isOn = error == nil
    deliver { manager in
      if isOn { manager.shared[\.isAdvertising] = true }
      manager.delegate?.peripheralManagerDidStartAdvertising(manager, error: error)
    }
  }
}
