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
  /// Calls of `startAdvertising` during an attempt, which are answered after it.
  fileprivate var waiting: [AdvertisingStart.Params] = []
}

extension PeripheralEngine {
  /// Starts to advertise. Any thread.
  func startAdvertising(name: String?, services: [BluetoothUUID]) {
    run { [self] in
      start(.init(adapter: adapter, name: name, services: services.isEmpty ? nil : services))
    }
  }

  private func start(_ params: AdvertisingStart.Params) {
    switch advertising.state {
    case .off: break
    case .starting: return advertising.waiting.append(params)
    case .on: return tellAlreadyAdvertising()
    }
    advertising.attempts += 1
    let attempt = Advertising.State.starting(advertising.attempts)
    advertising.state = attempt
    if let address = adapters.first?.address { OwnAddresses.add(address, of: self) }
    call(AdvertisingStart.self, params) { [weak self] result in
      guard let self else { return }
      guard advertising.state == attempt else {
        if case .success(let started) = result { call(AdvertisingStop.self, .init(advertising: started.advertising)) }
        return
      }
      switch result {
      case .success(let started):
        advertising.state = .on(started.advertising)
        tellStarted(nil)
      case .failure(let error):
        advertising.state = .off
        tellStarted(error.coreBluetooth)
      }
      startWaiting()
    }
  }

  /// The attempt before is decided.
  private func startWaiting() {
    let waiting = advertising.waiting
    advertising.waiting = []
    for params in waiting { start(params) }
  }

  /// Ends the advertising. Any thread.
  func stopAdvertising() {
    run { [self] in
      if case .on(let number) = advertising.state { call(AdvertisingStop.self, .init(advertising: number)) }
      advertising.state = .off
      for _ in advertising.waiting { tellAlreadyAdvertising() }
      advertising.waiting = []
    }
  }

  /// The advertisement that the daemon kept goes on.
  func restoreAdvertising(_ number: Int, on adapter: String) {
    advertising.state = .on(number)
    if let address = adapters.first(where: { $0.adapter == adapter })?.address { OwnAddresses.add(address, of: self) }
  }

  /// The state is not poweredOn any more.
  func endAdvertising() {
    if advertising.state != .off { call(AdvertisingStop.self, .init()) }
    advertising.state = .off
    advertising.waiting = []
  }

  func advertisingChanged(_ change: AdvertisingChanged.Params) {
    guard case .on(change.advertising) = advertising.state, let reason = change.reason else { return }
    advertising.state = .off
    Misuse.note("the advertisement ended: \(reason.message)")
    deliver { $0.shared[\.isAdvertising] = false }
  }

  private func tellAlreadyAdvertising() {
    tellStarted(.failed(.alreadyAdvertising, "this manager is already advertising"))
  }

  private func tellStarted(_ error: NSError?) {
    let isOn = error == nil
    deliver { manager in
      if isOn { manager.shared[\.isAdvertising] = true }
      manager.delegate?.peripheralManagerDidStartAdvertising(manager, error: error)
    }
  }
}
