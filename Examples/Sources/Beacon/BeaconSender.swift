import CoreBluetooth
import CoreLocation

/// Makes this machine a beacon.
@MainActor
final class BeaconSender: NSObject {
  private let region: CLBeaconRegion
  private var manager: CBPeripheralManager?

  init(region: CLBeaconRegion) { self.region = region }

  func start() {
    manager = CBPeripheralManager(delegate: self, queue: nil)
  }
}

extension BeaconSender: @preconcurrency CBPeripheralManagerDelegate {
  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    print("Bluetooth: \(peripheral.state)")
    guard peripheral.state == .poweredOn else { return }
    peripheral.startAdvertising(region.peripheralData(withMeasuredPower: nil) as? [String: Any])
  }

  func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
    print(error.map { "Cannot advertise: \($0.localizedDescription)" } ?? "This is a beacon.")
  }
}
