import CoreBluetooth
import Foundation

/// Finds an echo server, sends it a text over a channel, and prints what comes back.
final class EchoClient: NSObject {
  private let text: Data
  private let finished: () -> Void
  private var central: CBCentralManager?
  private var server: CBPeripheral?
  private var pipe: ChannelPipe?
  private var received = Data()

  /// - Parameter finished: Called at the end.
  init(text: String, finished: @escaping () -> Void) {
    self.text = Data(text.utf8)
    self.finished = finished
  }

  func start() {
    central = CBCentralManager(delegate: self, queue: nil)
  }

  private func receive(_ data: Data) {
    received += data
    guard received.count >= text.count else { return }
    print("Received back: \(String(decoding: received, as: UTF8.self))")
    pipe?.close()
    if let server { central?.cancelPeripheralConnection(server) }
  }
}

extension EchoClient: CBCentralManagerDelegate {
  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    guard central.state == .poweredOn else { return print("Bluetooth: \(central.state)") }
    central.scanForPeripherals(withServices: [EchoServer.service])
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    guard server == nil else { return }
    central.stopScan()
    server = peripheral
    peripheral.delegate = self
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.discoverServices([EchoServer.service])
  }

  func centralManager(_ central: CBCentralManager, didDisconnectPeripheral peripheral: CBPeripheral, error: Error?) {
    print(error.map { "The connection is lost: \($0.localizedDescription)" } ?? "Disconnected.")
    finished()
  }
}

extension EchoClient: CBPeripheralDelegate {
  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: Error?) {
    for service in peripheral.services ?? [] {
      peripheral.discoverCharacteristics([CBUUID(string: CBUUIDL2CAPPSMCharacteristicString)], for: service)
    }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: Error?) {
    if let number = service.characteristics?.first { peripheral.readValue(for: number) }
  }

  func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: Error?) {
    guard let value = characteristic.value.map(Array.init), value.count == 2 else { return print("No number.") }
    peripheral.openL2CAPChannel(CBL2CAPPSM(value[0]) | CBL2CAPPSM(value[1]) << 8)
  }

  func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: Error?) {
    guard let channel else { return print("No channel: \(error?.localizedDescription ?? "")") }
    print("A channel to \(channel.psm) is open.")
    let pipe = ChannelPipe(channel)
    pipe.onReceive = { [unowned self] in receive($0) }
    pipe.write(text)
    self.pipe = pipe
  }
}
