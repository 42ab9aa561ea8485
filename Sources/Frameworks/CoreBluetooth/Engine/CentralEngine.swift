import BledClient
import BledRPC
import Bluetooth
import FrameworkSupport

/// The work behind a `CBCentralManager`. Each peripheral has a record here; the program's view of it changes on the
/// program's queue, just before the delegate is called.
final class CentralEngine: ManagerEngine, @unchecked Sendable {
  weak var manager: CBCentralManager?
  private(set) lazy var links = CentralLinks(of: self)
  let peripherals = PeripheralTable()
  var scanning = Scanning()
  var connectionEvents = ConnectionEvents()

  init(delivery: Delivery, restoration identifier: String?) {
    super.init(delivery: delivery, restoration: identifier)
    // Made before any other thread asks for it.
    _ = links
  }

  override var permissions: [Permission] { [.scan, .connect] }

  /// The existing or a new object for a device. Any thread.
  func peripheral(_ identifier: UUID) -> CBPeripheral {
    peripherals.find(identifier) { CBPeripheral(identifier: identifier, number: $0, engine: self) }
  }

  /// Takes over another manager's object, unless that manager uses the device, or this one has its own object for it.
  /// Any thread.
  /// - Returns: True if taken over.
  func adopt(_ other: CBPeripheral) -> Bool {
    guard other.state == .disconnected, let number = peripherals.adopt(other) else { return false }
    let (former, formerNumber) = (other.engine, other.number)
    other.move(to: self, as: number)
    former.peripherals.remove(other)
    let identifier = other.identifier
    former.run { former.links.drop(identifier, formerNumber) }
    return true
  }

  /// This manager's object for the device of another manager's. Any thread.
  func counterpart(of other: CBPeripheral) -> CBPeripheral {
    let own = peripheral(other.identifier)
    if let name = other.name { _ = own.adoptName(name, isRead: false) }
    own.shared.with { if $0.address == nil { $0.address = other.shared[\.address] } }
    return own
  }

  /// The program has released a peripheral: its record is released, too. Any thread.
  func forget(_ identifier: UUID, _ number: Int) {
    peripherals.forget(identifier)
    run { [weak self] in
      guard let self else { return }
      withExtendedLifetime(self) { self.links.drop(identifier, number) }
    }
  }

  /// Calls `body` on the program's queue, if the manager is still there.
  func deliver(_ body: @escaping (CBCentralManager) -> Void) {
    delivery { [weak self] in
      if let manager = self?.manager { body(manager) }
    }
  }

  /// Calls `body` with the peripheral. Any thread.
  func deliver(to peripheral: CBPeripheral, _ body: @escaping (CBPeripheral) -> Void) {
    deliver { _ in body(peripheral) }
  }

  override func observe(_ client: BledClient) {
    observe(ScanReport.self, of: client) { [weak self] in self?.received($0) }
    observe(PeripheralConnected.self, of: client) { [weak self] in self?.links.connected($0) }
    observe(PeripheralConnectFailed.self, of: client) { [weak self] in self?.links.connectFailed($0) }
    observe(PeripheralDisconnected.self, of: client) { [weak self] in self?.links.disconnected($0) }
    observe(PeripheralLinkChanged.self, of: client) { [weak self] in self?.linkChanged($0) }
    observe(GATTValue.self, of: client) { [weak self] value in
      self?.notify(value.peripheral) { peripheral in
        guard let characteristic = peripheral.shared.with({ $0.attributes.characteristics[value.handle] }) else {
          return
        }
        characteristic.contents[\.value] = Data(value.value.octets)
        peripheral.delegate?.peripheral(peripheral, didUpdateValueFor: characteristic, error: nil)
      }
    }
    observe(GATTServicesChanged.self, of: client) { [weak self] change in
      guard change.start <= change.end else { return }
      self?.notify(change.peripheral) { $0.servicesChanged(change.start...change.end) }
    }
    observe(GATTSubscriptionLost.self, of: client) { [weak self] loss in
      self?.notify(loss.peripheral) { peripheral in
        guard let characteristic = peripheral.shared.with({ $0.attributes.characteristics[loss.handle] }) else {
          return
        }
        characteristic.contents[\.isNotifying] = false
        peripheral.delegate?.peripheral(
          peripheral, didUpdateNotificationStateFor: characteristic, error: loss.reason.bluetoothError.coreBluetooth)
      }
    }
  }

  override func restore(_ state: RestoredState) { adopt(state) }

  override func giveBack(_ state: RestoredState) { giveUp(state) }

  override func closed() { links.dropAll() }

  override func sessionEnded() { links.users.reset() }

  override func adapterChanged(_ adapter: String) { links.adapterChanged(adapter) }

  override func stateChanged(from old: CBManagerState) {
    let new = state
    deliver { manager in
      if new != .poweredOn {
        manager.shared.with {
          $0.isScanning = false
          $0.scan += 1
        }
      }
      manager.setState(new)
      guard let delegate = manager.delegate else { return }
      _ = manager.reportState()
      delegate.centralManagerDidUpdateState(manager)
    }
    guard new != .poweredOn else { return renewConnectionEvents() }
    endScan()
    links.endAll(below: new)
  }

  /// Passes on a connected peripheral's event.
  private func notify(_ id: String, _ body: @escaping (CBPeripheral) -> Void) {
    if let peripheral = links.connectedPeripheral(id) { deliver(to: peripheral, body) }
  }
}
