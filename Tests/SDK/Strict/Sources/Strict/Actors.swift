@preconcurrency import CoreBluetooth

/// An actor that is the delegate's owner, as many libraries have one: objects of the framework cross its border.
actor Session {
  private let manager: CBCentralManager
  private let delegate: Delegate
  private var peripherals: [UUID: CBPeripheral] = [:]

  init() {
    let delegate = Delegate()
    self.delegate = delegate
    manager = CBCentralManager(delegate: delegate, queue: DispatchQueue(label: "session"), options: nil)
  }

  /// The discovered devices.
  var discoveries: AsyncStream<(CBPeripheral, [String: any Sendable])> { delegate.stream }

  func found(_ peripheral: CBPeripheral) -> CBPeripheral {
    peripherals[peripheral.identifier] = peripheral
    return peripheral
  }

  func read(_ characteristic: CBCharacteristic, of service: CBService) async throws -> CBCharacteristic {
    try await withCheckedThrowingContinuation { continuation in
      delegate.waiting.value = continuation
      service.peripheral?.readValue(for: characteristic)
    }
  }
}

/// Passes its calls on.
final class Delegate: NSObject, CBCentralManagerDelegate, CBPeripheralDelegate, Sendable {
  final class Box: @unchecked Sendable {
    var value: CheckedContinuation<CBCharacteristic, any Error>?
  }

  let waiting = Box()
  let stream: AsyncStream<(CBPeripheral, [String: any Sendable])>
  private let output: AsyncStream<(CBPeripheral, [String: any Sendable])>.Continuation

  override init() {
    (stream, output) = AsyncStream.makeStream()
  }

  func centralManagerDidUpdateState(_ central: CBCentralManager) {
    Task { await Handler.shared.changed(central.state, of: central) }
  }

  func centralManager(
    _ central: CBCentralManager, didDiscover peripheral: CBPeripheral, advertisementData: [String: Any],
    rssi: NSNumber
  ) {
    let name = advertisementData[CBAdvertisementDataLocalNameKey] as? String ?? ""
    output.yield((peripheral, ["name": name]))
  }

  func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
    DispatchQueue.main.async { peripheral.discoverServices(nil) }
    Task { @MainActor in peripheral.delegate = self }
  }

  func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {
    let services = peripheral.services ?? []
    Task.detached {
      for service in services { peripheral.discoverCharacteristics(nil, for: service) }
    }
  }

  func peripheral(
    _ peripheral: CBPeripheral, didUpdateValueFor characteristic: CBCharacteristic, error: (any Error)?
  ) {
    waiting.value?.resume(returning: characteristic)
  }
}

/// An actor that is given objects.
actor Handler {
  static let shared = Handler()

  func changed(_ state: CBManagerState, of manager: CBCentralManager) {
    if state == .poweredOn { manager.scanForPeripherals(withServices: [Handler.heartRate]) }
  }

  static let heartRate = CBUUID(string: "180D")
}

/// A discovery as a value.
struct Found: Sendable {
  let peripheral: CBPeripheral
  let services: [CBUUID]
  let request: CBATTRequest?
  let central: CBCentral?
}

/// Events as a value.
enum Happening: Sendable {
  case state(CBManagerState)
  case found(CBPeripheral)
  case read(CBPeripheralManager, CBATTRequest)
  case subscribed(CBCentral, CBCharacteristic)
  case failed(CBError)
}
