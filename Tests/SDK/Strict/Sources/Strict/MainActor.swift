@preconcurrency import CoreBluetooth

/// A model of a user interface: on the main actor, with the main queue.
@MainActor
final class Model: NSObject {
  private var manager: CBCentralManager?
  private var role: CBPeripheralManager?
  private(set) var devices: [CBPeripheral] = []

  func start() {
    manager = CBCentralManager(delegate: self, queue: .main)
    role = CBPeripheralManager(delegate: self, queue: .main)
  }
}

extension Model: @preconcurrency CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: nil) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    devices.append(peripheral)
    peripheral.delegate = self
  }
}

extension Model: CBPeripheralManagerDelegate {
  nonisolated func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    MainActor.assumeIsolated { self.role = peripheral }
  }

  nonisolated func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    MainActor.assumeIsolated { self.role?.respond(to: request, withResult: .success) }
  }
}

extension Model: CBPeripheralDelegate {
  nonisolated func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    Task { @MainActor in self.devices.append(peripheral) }
  }
}
