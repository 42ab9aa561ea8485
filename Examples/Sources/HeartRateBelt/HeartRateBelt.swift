import CoreBluetooth
import Foundation

/// A heart-rate belt: publishes the Heart Rate service, advertises it, answers reads, and sends a measurement per
/// second to subscribers.
@MainActor
final class HeartRateBelt: NSObject {
  private let heartRate = CBUUID(string: "180D")

  private let measurement = CBMutableCharacteristic(
    type: CBUUID(string: "2A37"), properties: .notify, value: nil, permissions: .readable)
  /// The program answers every read, because the location might change.
  private let location = CBMutableCharacteristic(
    type: CBUUID(string: "2A38"), properties: .read, value: nil, permissions: .readable)
  private var manager: CBPeripheralManager?
  private var timer: Timer?
  private var rate: UInt8 = 72
  /// The measurement that could not be sent because there was no room; a newer one replaces it.
  private var waiting: Data?

  func start() {
    manager = CBPeripheralManager(delegate: self, queue: nil)
  }

  private func measure() {
    rate = UInt8(clamping: Int(rate) + Int.random(in: -2...2))
    send(Data([0x06, rate]))
  }

  private func send(_ value: Data) {
    guard let manager else { return }
    waiting = manager.updateValue(value, for: measurement, onSubscribedCentrals: nil) ? nil : value
  }
}

extension HeartRateBelt: @preconcurrency CBPeripheralManagerDelegate {
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    print("Bluetooth: \(peripheral.state)")
    guard peripheral.state == .poweredOn else { return }
    let service = CBMutableService(type: heartRate, primary: true)
    service.characteristics = [measurement, location]
    peripheral.removeAllServices()
    peripheral.add(service)
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
    if let error { return print("The service could not be published: \(error.localizedDescription)") }
    peripheral.startAdvertising([
      CBAdvertisementDataLocalNameKey: "Belt", CBAdvertisementDataServiceUUIDsKey: [heartRate],
    ])
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    print(error.map { "Cannot advertise: \($0.localizedDescription)" } ?? "Advertising.")
  }

  func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
    guard request.characteristic.uuid == location.uuid else {
      return peripheral.respond(to: request, withResult: .readNotPermitted)
    }
    let chest = Data([0x01])
    guard request.offset <= chest.count else { return peripheral.respond(to: request, withResult: .invalidOffset) }
    print("Read: the sensor's location")
    request.value = chest.suffix(from: request.offset)
    peripheral.respond(to: request, withResult: .success)
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didSubscribeTo characteristic: CBCharacteristic
  ) {
    print("Subscribed: \(central.identifier)")
    guard timer == nil else { return }
    timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in
      MainActor.assumeIsolated { self?.measure() }
    }
  }

  func peripheralManager(
    _ peripheral: CBPeripheralManager, central: CBCentral, didUnsubscribeFrom characteristic: CBCharacteristic
  ) {
    print("Unsubscribed: \(central.identifier)")
    guard measurement.subscribedCentrals?.isEmpty ?? true else { return }
    timer?.invalidate()
    timer = nil
  }

  func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {
    if let waiting { send(waiting) }
  }
}
