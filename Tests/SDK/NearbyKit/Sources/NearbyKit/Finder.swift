import CoreBluetooth

/// Finds a device by its services.
public final class Finder {
  /// A device that was found.
  public struct Device {
    /// Its name, if it says one.
    public let name: String?
    /// The UUIDs of its services.
    public let services: [String]
  }

  private let delegate: Delegate
  private let manager: CBCentralManager

  /// Finds the first device that advertises the service, and reads its other services.
  /// - Parameter found: Called on the main queue.
  public init(_ service: Service, found: @escaping (Result<Device, any Error>) -> Void) {
    delegate = Delegate(service, found)
    manager = CBCentralManager(delegate: delegate, queue: nil)
  }
}

private final class Delegate: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate {
  private let service: Service
  private let found: (Result<Finder.Device, any Error>) -> Void
  private var peripheral: CBPeripheral?

  init(_ service: Service, _ found: @escaping (Result<Finder.Device, any Error>) -> Void) {
    self.service = service
    self.found = found
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    if central.state == .poweredOn { central.scanForPeripherals(withServices: [service.uuid]) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    central.stopScan()
    self.peripheral = peripheral
    central.connect(peripheral)
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    peripheral.delegate = self
    peripheral.discoverServices(nil)
  }

  func centralManager(_ central: CBCentralManager, didFailToConnect peripheral: CBPeripheral, error: (any Error)?) {
    found(.failure(error ?? CBError(.unknown)))
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    if let error { return found(.failure(error)) }
    found(.success(.init(name: peripheral.name, services: (peripheral.services ?? []).map(\.uuid.uuidString))))
  }
}
