import BledRPC
import Bluetooth

/// The advertisement of a peripheral manager.
struct Advertising {
  fileprivate enum State: Equatable {
    case off
    /// Asked for; the number tells attempts apart.
    case starting(Int)
    /// On the air under the daemon's number.
    case on(Int)
  }

  fileprivate var state = State.off
  fileprivate var attempts = 0
}

extension PeripheralEngine {
  /// Starts to advertise. Any thread.
  func startAdvertising(name: String?, services: [BluetoothUUID]) {
    run { [self] in
      guard advertising.state == .off else {
        return tellStarted(.failed(.alreadyAdvertising, "this manager is already advertising"))
      }
      advertising.attempts += 1
      let attempt = Advertising.State.starting(advertising.attempts)
      advertising.state = attempt
      call(AdvertisingStart.self, .init(name: name, services: services.isEmpty ? nil : services)) {
        [weak self] result in
        guard let self else { return }
        switch result {
        case .success(let started):
          guard advertising.state == attempt else {
            return call(AdvertisingStop.self, .init(advertising: started.advertising))
          }
          advertising.state = .on(started.advertising)
          tellStarted(nil)
        case .failure(let error):
          guard advertising.state == attempt else { return }
          advertising.state = .off
          tellStarted(error.coreBluetooth)
        }
      }
    }
  }

  /// Ends the advertising. Any thread.
  func stopAdvertising() {
    run { [self] in
      if case .on(let number) = advertising.state { call(AdvertisingStop.self, .init(advertising: number)) }
      advertising.state = .off
    }
  }

  /// The advertisement that the daemon kept goes on.
  func restoreAdvertising(_ number: Int) { advertising.state = .on(number) }

  /// The state is not poweredOn any more.
  func endAdvertising() {
    if advertising.state != .off { call(AdvertisingStop.self, .init()) }
    advertising.state = .off
  }

  func advertisingChanged(_ change: AdvertisingChanged.Params) {
    guard case .on(change.advertising) = advertising.state, let reason = change.reason else { return }
    advertising.state = .off
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
