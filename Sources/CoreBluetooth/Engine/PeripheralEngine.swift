import BledClient
import BledRPC
import Bluetooth

/// What stands behind a `CBPeripheralManager`. What the program sees is changed on the program's queue, just before the
/// delegate is told.
final class PeripheralEngine: ManagerEngine, @unchecked Sendable {
  weak var manager: CBPeripheralManager?
  /// The published services by their handles, and their characteristics by the handles of their values.
  var services: [UInt16: CBMutableService] = [:]
  var characteristics: [UInt16: CBMutableCharacteristic] = [:]
  /// Changes of what is published; one after the other, as later ones need the handles of earlier ones.
  var changes: [() -> Void] = []
  var isChanging = false
  /// Values that wait to be sent.
  var updates: [Update] = []
  var isUpdating = false
  /// The advertisement: asked for, or on the air.
  var advertising = Advertising.off
  private var centrals: [String: CBCentral] = [:]

  override var permissions: [Permission] { [.serve, .advertise] }

  enum Advertising: Equatable {
    case off
    case starting(Int)
    case on(Int)
  }

  var lastAdvertising = 0

  /// Has `body` called on the program's queue, if the manager is still there.
  func deliver(_ body: @escaping (CBPeripheralManager) -> Void) {
    delivery { [weak self] in
      if let manager = self?.manager { body(manager) }
    }
  }

  /// The object for a central: one for each while it subscribes or asks.
  func central(_ id: String) -> CBCentral? {
    if let known = centrals[id] { return known }
    guard let identifier = UUID(uuidString: id) else { return nil }
    // Those that neither subscribe nor are held by the program would only fill the table.
    if centrals.count >= 64 {
      centrals = centrals.filter { _, central in
        characteristics.values.contains { $0.subscribedCentrals?.contains { $0 === central } ?? false }
      }
    }
    let new = CBCentral(identifier: identifier)
    centrals[id] = new
    return new
  }

  override func observe(_ client: BledClient) {
    observe(ServerSubscribed.self, of: client) { [weak self] in self?.subscribed($0) }
    observe(ServerUnsubscribed.self, of: client) { [weak self] in self?.unsubscribed($0) }
    observe(ServerReady.self, of: client) { [weak self] _ in self?.sendUpdates() }
    observe(AdvertisingChanged.self, of: client) { [weak self] in self?.advertisingChanged($0) }
    client.answerCalls { [weak self] request in
      guard let self else { return }
      run { self.read(request) }
    } write: { [weak self] request in
      guard let self else { return }
      run { self.wrote(request) }
    }
  }

  override func restore(_ state: RestoredState) { takeOver(state) }

  override func giveBack(_ state: RestoredState) { giveUp(state) }

  override func closed() {
    changes = []
    updates = []
  }

  override func stateChanged(from old: CBManagerState) {
    let new = state
    if new != .poweredOn {
      if advertising != .off { call(AdvertisingStop.self, .init()) }
      advertising = .off
    }
    // Below poweredOff nothing stays published.
    if new != .poweredOn, new != .poweredOff { clear() }
    deliver { manager in
      if new != .poweredOn { manager.shared[\.isAdvertising] = false }
      manager.setState(new)
      manager.delegate?.peripheralManagerDidUpdateState(manager)
    }
  }

  private func clear() {
    call(ServiceRemove.self, .init())
    forgetAll()
    changes = []
    isChanging = false
    dropUpdates()
    centrals = [:]
  }

  /// Nothing is published any more: nobody is subscribed.
  func forgetAll() {
    let characteristics = characteristics.values
    for characteristic in characteristics { tellUnsubscribed(characteristic) }
    (services, self.characteristics) = ([:], [:])
  }

  /// All subscriptions to a characteristic that is taken back end; Apple's framework does not tell of them.
  func tellUnsubscribed(_ characteristic: CBMutableCharacteristic) {
    for central in characteristic.subscribedCentrals ?? [] { _ = characteristic.unsubscribe(central) }
  }
}
