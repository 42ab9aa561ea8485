import CoreBluetooth
import Foundation

/// The side that joins: it finds a chat, subscribes to what the host sends, and writes its own lines.
@MainActor
final class ChatGuest: NSObject, ChatPartner {
  private let name: String
  private var central: CBCentralManager?
  private var host: CBPeripheral?
  private var toHost: CBCharacteristic?
  /// Lines that were typed before the chat was joined.
  private var waiting: [String] = []

  init(name: String) {
    self.name = name
  }

  func start() {
    central = CBCentralManager(delegate: self, queue: nil)
  }

  func send(_ line: String) {
    guard let host, let toHost else { return waiting.append(line) }
    host.writeValue(Data("\(name): \(line)".utf8), for: toHost, type: .withResponse)
  }
}

extension ChatGuest: @preconcurrency CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return print("Bluetooth: \(central.state)") }
    central.scanForPeripherals(withServices: [ChatService.uuid])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    host = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([ChatService.uuid])
  }

  func centralManager(
    _ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: (any Error)?
  ) {
    print("The chat is over.")
    toHost = nil
    if central.state == .poweredOn { central.connect(peripheral) }
  }
}

extension ChatGuest: @preconcurrency CBPeripheralDelegate {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    guard let service = peripheral.services?.first else { return print("The device has no chat service.") }
    peripheral.discoverCharacteristics([ChatService.fromHost, ChatService.toHost], for: service)
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?) {
    for characteristic in service.characteristics ?? [] {
      switch characteristic.uuid {
      case ChatService.fromHost: peripheral.setNotifyValue(true, for: characteristic)
      case ChatService.toHost: toHost = characteristic
      default: break
      }
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateNotificationStateFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let error { return print("Cannot join: \(error.localizedDescription)") }
    print("Joined.")
    for line in waiting { send(line) }
    waiting = []
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    if let value = characteristic.value { print(String(decoding: value, as: UTF8.self)) }
  }

  func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?) {
    if let error { print("Not sent: \(error.localizedDescription)") }
  }
}
