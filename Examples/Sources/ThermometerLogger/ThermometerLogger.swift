import CoreBluetooth
import Foundation

/// Logs a thermometer's measurements for as long as it runs, and reconnects whenever the connection drops or the
/// program is restarted: to the known thermometer, else to one that another program is connected to, and only then with
/// a scan.
final class ThermometerLogger: NSObject {
  private let healthThermometer = CBUUID(string: "1809")
  private let measurement = CBUUID(string: "2A1C")

  private var remaining: Int
  private let memory: ThermometerMemory
  private let finished: () -> Void
  private var central: CBCentralManager?
  private var thermometer: CBPeripheral?

  /// - Parameters:
  ///   - count: The number of measurements to log before it ends.
  ///   - memory: Where the thermometer's identifier is stored.
  ///   - finished: Called at the end.
  init(count: Int, memory: ThermometerMemory, finished: @escaping () -> Void) {
    remaining = count
    self.memory = memory
    self.finished = finished
  }

  func start() {
    central = CBCentralManager(delegate: self, queue: nil)
  }

  private func findThermometer(_ central: CBCentralManager) {
    if let identifier = memory.identifier,
      let known = central.retrievePeripherals(withIdentifiers: [identifier]).first
    {
      print("Waiting for the known thermometer.")
      return connect(known, central)
    }
    if let connected = central.retrieveConnectedPeripherals(withServices: [healthThermometer]).first {
      print("A thermometer is already connected.")
      return connect(connected, central)
    }
    print("Looking for a thermometer.")
    central.scanForPeripherals(withServices: [healthThermometer])
  }

  private func connect(_ peripheral: CBPeripheral, _ central: CBCentralManager) {
    thermometer = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }
}

extension ThermometerLogger: CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn {
      findThermometer(central)
    } else {
      print("Bluetooth: \(central.state)")
      thermometer = nil
    }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    connect(peripheral, central)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    print("Connected to \(peripheral.name ?? "a thermometer").")
    memory.identifier = peripheral.identifier
    peripheral.discoverServices([healthThermometer])
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    print("Could not connect: \(error?.localizedDescription ?? "the reason is not known")")
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [healthThermometer]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    guard let error else { return finished() }
    print("Connection lost: \(error.localizedDescription)")
    // A connect waits until the thermometer is back, however long that takes.
    if central.state == .poweredOn { central.connect(peripheral) }
  }
}

extension ThermometerLogger: CBPeripheralDelegate {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    for service in peripheral.services ?? [] where service.uuid == healthThermometer {
      peripheral.discoverCharacteristics([measurement], for: service)
    }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    for characteristic in service.characteristics ?? [] where characteristic.uuid == measurement {
      peripheral.setNotifyValue(true, for: characteristic)
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    guard remaining > 0, let value = characteristic.value, let temperature = Temperature(value) else { return }
    print("\(Date().ISO8601Format())  \(temperature)")
    remaining -= 1
    if remaining == 0 { central?.cancelPeripheralConnection(peripheral) }
  }
}
