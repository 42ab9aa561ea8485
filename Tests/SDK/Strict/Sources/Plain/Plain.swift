import CoreBluetooth

/// A program as it was written before Swift 6.
final class Model: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, CBPeripheralManagerDelegate {
  static let service = CBUUID(string: "180D")
  private lazy var manager = CBCentralManager(delegate: self, queue: nil)
  private lazy var role = CBPeripheralManager(delegate: self, queue: nil)
  private var devices: [CBPeripheral] = []

  func start() {
    _ = (manager, role)
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [Self.service]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    devices.append(peripheral)
    peripheral.delegate = self
    DispatchQueue.global().async { central.connect(peripheral) }
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    Task.detached { peripheral.discoverServices(nil) }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?
  ) {
    Task { await Store.shared.keep(characteristic, peripheral) }
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
}

actor Store {
  static let shared = Store()
  private var values: [CBUUID: Data] = [:]

  func keep(_ characteristic: CBCharacteristic, _ peripheral: CBPeripheral) {
    values[characteristic.uuid] = characteristic.value
  }

  func all() -> [CBUUID] { Array(values.keys) }
}

func stream(of peripheral: CBPeripheral) -> AsyncStream<CBPeripheral> {
  AsyncStream { continuation in
    continuation.yield(peripheral)
    continuation.finish()
  }
}
