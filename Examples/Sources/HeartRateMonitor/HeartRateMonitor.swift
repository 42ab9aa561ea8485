import CoreBluetooth
import Foundation

/// Finds a heart-rate belt, prints some of its measurements, and disconnects.
final class HeartRateMonitor: NSObject {
  private let heartRate = CBUUID(string: "180D")
  private let measurement = CBUUID(string: "2A37")

  private var remaining: Int
  private let finished: () -> Void
  private var central: CBCentralManager?
  /// The belt must be retained: when the last reference is released, it is disconnected.
  private var belt: CBPeripheral?

  /// - Parameters:
  ///   - count: The number of measurements to print.
  ///   - finished: Called at the end.
  init(count: Int, finished: @escaping () -> Void) {
    remaining = count
    self.finished = finished
  }

  func start() {
    central = CBCentralManager(delegate: self, queue: nil)
  }
}

extension HeartRateMonitor: CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    switch central.state {
    case .poweredOn:
      print("Looking for a heart-rate belt.")
      central.scanForPeripherals(withServices: [heartRate])
    case .poweredOff: print("Bluetooth is off.")
    case .unauthorized: print("This program may not use Bluetooth.")
    case .unsupported: print("There is no Bluetooth here.")
    case .unknown, .resetting: break
    @unknown default: break
    }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard belt == nil else { return }
    print("Found \(peripheral.name ?? "a belt without a name") at \(rssi) dBm.")
    central.stopScan()
    belt = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    print("Connected.")
    peripheral.discoverServices([heartRate])
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    print("Could not connect: \(error?.localizedDescription ?? "the reason is not known")")
    finished()
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    print(error.map { "The belt disconnected: \($0.localizedDescription)" } ?? "Disconnected.")
    finished()
  }
}

extension HeartRateMonitor: CBPeripheralDelegate {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first(where: { $0.uuid == heartRate }) else {
      return giveUp("The belt has no Heart Rate service.")
    }
    peripheral.discoverCharacteristics([measurement], for: service)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    guard let characteristic = service.characteristics?.first(where: { $0.uuid == measurement }) else {
      return giveUp("The belt has no Heart Rate Measurement.")
    }
    peripheral.setNotifyValue(true, for: characteristic)
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { giveUp("Cannot subscribe: \(error.localizedDescription)") }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    guard remaining > 0, let value = characteristic.value, let rate = HeartRate(value) else { return }
    print(rate)
    remaining -= 1
    if remaining == 0 { central?.cancelPeripheralConnection(peripheral) }
  }

  private func giveUp(_ reason: String) {
    print(reason)
    if let belt { central?.cancelPeripheralConnection(belt) }
  }
}
