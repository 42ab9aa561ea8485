import BledClient
import BledRPC
import Bluetooth

/// The work behind a `CBPeripheralManager`. The program's view changes on the program's queue, just before the delegate
/// is called.
final class PeripheralEngine: ManagerEngine, @unchecked Sendable {
  weak var manager: CBPeripheralManager?
  var publication = Publication()
  var updates = UpdateQueue()
  var advertising = AdvertisingMachine()
  /// The adapter of each published channel number.
  var channelAdapters: [CBL2CAPPSM: String] = [:]
  private var centrals = CentralTable()

  override var permissions: [Permission] { [.serve, .advertise] }

  /// Calls `body` on the program's queue, if the manager is still there.
  func deliver(_ body: @escaping (CBPeripheralManager) -> Void) {
    delivery { [weak self] in
      if let manager = self?.manager { body(manager) }
    }
  }

  /// The object for a central: one per central while it subscribes or requests.
  func central(_ id: String) -> CBCentral? { centrals.find(id) }

  override func observe(_ client: BledClient) {
    observe(ServerSubscribed.self, of: client) { [weak self] in self?.subscribed($0) }
    observe(ServerUnsubscribed.self, of: client) { [weak self] in self?.unsubscribed($0) }
    observe(ServerReady.self, of: client) { [weak self] _ in self?.roomAgain() }
    observe(AdvertisingChanged.self, of: client) { [weak self] in self?.advertisingChanged($0) }
    observe(L2CAPIncoming.self, of: client) { [weak self] in self?.channelOpened($0) }
    client.answerCalls { [weak self] request in
      guard let self else { return }
      run { self.read(request) }
    } write: { [weak self] request in
      guard let self else { return }
      run { self.wrote(request) }
    }
  }

  override func restore(_ state: RestoredState) { adopt(state) }

  override func giveBack(_ state: RestoredState) { giveUp(state) }

  override func closed() {
    publication.dropChanges()
    dropUpdates(telling: false)
  }

  override func stateChanged(from old: CBManagerState) {
    let new = state
    if new != .poweredOn { endAdvertising() }
    // Below poweredOff nothing stays published.
    if new != .poweredOn, new != .poweredOff { clear() }
    deliver { manager in
      if new != .poweredOn { manager.shared[\.isAdvertising] = false }
      manager.setState(new)
      guard let delegate = manager.delegate else { return }
      _ = manager.reportState()
      delegate.peripheralManagerDidUpdateState(manager)
    }
  }

  private func clear() {
    call(ServiceRemove.self, .init())
    unpublishChannels()
    publication.removeAll()
    publication.dropChanges()
    dropUpdates(telling: true)
    centrals = CentralTable()
  }
}

extension PeripheralEngine {
  private func read(_ request: ReadRequest) {
    let params = request.params
    guard let central = central(params.central), let characteristic = publication.characteristic(params.handle),
      0...512 ~= params.offset
    else {
      return PendingAnswer.read(request).finish(.unlikelyError, value: nil)
    }
    let asked = CBATTRequest(
      central: central, characteristic: characteristic, offset: params.offset, value: nil, answer: .read(request))
    deliver { $0.delegate?.peripheralManager($0, didReceiveRead: asked) }
  }

  private func wrote(_ request: WriteRequest) {
    let params = request.params
    guard let central = central(params.central) else {
      return PendingAnswer.write(request).finish(.unlikelyError, value: nil)
    }
    let asked = params.writes.compactMap { write in
      publication.characteristic(write.handle).map { characteristic in
        CBATTRequest(
          central: central, characteristic: characteristic, offset: write.offset, value: Data(write.value.octets),
          answer: .write(request))
      }
    }
    guard !asked.isEmpty, asked.count == params.writes.count, params.writes.allSatisfy({ 0...512 ~= $0.offset }) else {
      return PendingAnswer.write(request).finish(.unlikelyError, value: nil)
    }
    deliver { $0.delegate?.peripheralManager($0, didReceiveWrite: asked) }
  }

  private func subscribed(_ subscriber: Subscriber) {
    guard let central = central(subscriber.central), let characteristic = publication.characteristic(subscriber.handle)
    else {
      return
    }
    deliver { manager in
      central.setMaximumUpdateValueLength(subscriber.maximumLength)
      guard characteristic.subscribe(central) else { return }
      manager.delegate?.peripheralManager(manager, central: central, didSubscribeTo: characteristic)
    }
  }

  private func unsubscribed(_ subscriber: Subscriber) {
    guard let central = central(subscriber.central), let characteristic = publication.characteristic(subscriber.handle)
    else {
      return
    }
    deliver { manager in
      guard characteristic.unsubscribe(central) else { return }
      manager.delegate?.peripheralManager(manager, central: central, didUnsubscribeFrom: characteristic)
    }
  }

  /// Asks a central for other connection parameters. Any thread.
  func setLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: UUID) {
    run { [self] in
      call(ServerSetLatency.self, .init(central: central.uuidString, latency: .init(latency))) { result in
        if case .failure(let error) = result { Misuse.log("setDesiredConnectionLatency: \(error)") }
      }
    }
  }
}

extension ConnectionLatency {
  fileprivate init(_ latency: CBPeripheralManagerConnectionLatency) {
    self =
      switch latency {
      case .low: .low
      case .medium: .medium
      case .high: .high
      }
  }
}
