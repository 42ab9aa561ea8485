import BledRPC
import Bluetooth
import FrameworkSupport

/// A device found or known by a central manager. There is one object per device and manager; the program must retain
/// it: when the last reference is released, its connection or pending connection ends.
open class CBPeripheral: CBPeer {
  struct Shared {
    weak var delegate: (any CBPeripheralDelegate)?
    var name: String?
    /// True if `name` was read from the device: then its advertised name does not replace it.
    var isNameRead = false
    var rssi: NSNumber?
    var state = CBPeripheralState.disconnected
    var services: [CBService]?
    var attributes = AttributeTable()
    var mtu = 23
    var writes = UnansweredWrites()
    /// The program's mistakes logged on this connection.
    var toldMistakes: Set<String> = []
    /// Its last received address.
    var address: String?
  }

  let shared = Guarded(Shared())
  let observers = KeyValueObservers()
  /// The manager's engine, and the object's number there, which distinguishes it from released objects for the same
  /// device.
  private let owner: Guarded<(engine: CentralEngine, number: Int)>

  init(identifier: UUID, number: Int, engine: CentralEngine) {
    owner = Guarded((engine, number))
    super.init(identifier: identifier)
  }

  deinit { engine.forget(identifier, number) }

  var engine: CentralEngine { owner[\.engine] }
  var number: Int { owner[\.number] }

  /// The object is another manager's from now on.
  func move(to engine: CentralEngine, as number: Int) { owner[\.self] = (engine, number) }

  /// The delegate, held weakly.
  open weak var delegate: (any CBPeripheralDelegate)? {
    get { shared[\.delegate] }
    set { shared[\.delegate] = newValue }
  }

  /// Its name: from its GAP service once the program has read it, before that the advertised one.
  open var name: String? { shared[\.name] }

  /// The result of `readRSSI`, for programs without `didReadRSSI`.
  @available(*, deprecated)
  open var rssi: NSNumber? { shared[\.rssi] }

  /// How this manager is connected to it.
  open var state: CBPeripheralState { shared[\.state] }

  /// The discovered services, in handle order; nil before. After a disconnect they are stale.
  open var services: [CBService]? { shared[\.services] }

  /// True if there is room for a write without response.
  open var canSendWriteWithoutResponse: Bool {
    shared.with { $0.state == .connected && !$0.writes.isBlocked }
  }

  /// Apple's notification service: always false.
  open var ancsAuthorized: Bool { false }

  /// Returns the maximum octets of a write: 512 with response; without, MTU − 3 and at most 512.
  open func maximumWriteValueLength(for type: CBCharacteristicWriteType) -> Int {
    switch type {
    case .withResponse: 512
    case .withoutResponse: min(max(shared[\.mtu], 23), 515) - 3
    }
  }

  /// Discovers primary services (Core 5.4, Vol 3, Part G, 4.4); the delegate receives `didDiscoverServices`, after
  /// which `services` has them.
  /// - Parameter serviceUUIDs: Only these are requested from the device; all if nil or empty.
  open func discoverServices(_ serviceUUIDs: [CBUUID]?) {
    let wanted = (serviceUUIDs ?? []).map(\.value)
    request("discoverServices", GATTDiscoverServices.self, .init(peripheral: id, services: wanted)) {
      peripheral, result in
      let error = peripheral.adopt(result) { shared, found in
        if wanted.isEmpty { shared.attributes.primaries = Set(found.services.map(\.handle)) }
        let objects = shared.attributes.objects(for: found.services, of: peripheral)
        shared.services = merged(shared.services, objects, isAll: wanted.isEmpty) { $0.handle }
      }
      peripheral.delegate?.peripheral(peripheral, didDiscoverServices: error)
    }
  }

  /// Discovers a service's included services; the delegate receives `didDiscoverIncludedServicesFor`.
  /// - Parameters:
  ///   - includedServiceUUIDs: Only these are requested from the device; all if nil or empty.
  ///   - service: A discovered service of this peripheral.
  open func discoverIncludedServices(_ includedServiceUUIDs: [CBUUID]?, for service: CBService) {
    let wanted = (includedServiceUUIDs ?? []).map(\.value)
    request(
      "discoverIncludedServices", GATTDiscoverIncludedServices.self,
      .init(peripheral: id, handle: service.handle, uuids: wanted)
    ) { peripheral, result in
      let error = peripheral.adopt(result) { shared, found in
        let objects = shared.attributes.objects(for: found.services, of: peripheral)
        service.contents.with {
          $0.includedServices = merged($0.includedServices, objects, isAll: wanted.isEmpty) { $0.handle }
        }
      }
      peripheral.delegate?.peripheral(peripheral, didDiscoverIncludedServicesFor: service, error: error)
    }
  }

  /// Discovers a service's characteristics; the delegate receives `didDiscoverCharacteristicsFor`.
  /// - Parameters:
  ///   - characteristicUUIDs: Only these; all if nil or empty.
  ///   - service: A discovered service of this peripheral.
  open func discoverCharacteristics(_ characteristicUUIDs: [CBUUID]?, for service: CBService) {
    let wanted = (characteristicUUIDs ?? []).map(\.value)
    request(
      "discoverCharacteristics", GATTDiscoverCharacteristics.self,
      .init(peripheral: id, handle: service.handle, uuids: wanted)
    ) { peripheral, result in
      let error = peripheral.adopt(result) { shared, found in
        let objects = shared.attributes.objects(for: found.characteristics, of: service)
        service.contents.with {
          $0.characteristics = merged($0.characteristics, objects, isAll: wanted.isEmpty) { $0.handle }
        }
      }
      peripheral.delegate?.peripheral(peripheral, didDiscoverCharacteristicsFor: service, error: error)
    }
  }

  /// Discovers a characteristic's descriptors; the delegate receives `didDiscoverDescriptorsFor`.
  /// - Parameter characteristic: A discovered characteristic of this peripheral.
  open func discoverDescriptors(for characteristic: CBCharacteristic) {
    request(
      "discoverDescriptors", GATTDiscoverDescriptors.self, .init(peripheral: id, handle: characteristic.handle)
    ) { peripheral, result in
      let error = peripheral.adopt(result) { _, found in
        characteristic.contents.with { contents in
          let known = contents.descriptors ?? []
          contents.descriptors = found.descriptors.sorted { $0.handle < $1.handle }.map { description in
            known.first { $0.handle == description.handle && $0.uuid.value == description.uuid }
              ?? CBDescriptor(
                type: CBUUID(description.uuid), handle: description.handle, characteristic: characteristic)
          }
        }
      }
      peripheral.delegate?.peripheral(peripheral, didDiscoverDescriptorsFor: characteristic, error: error)
    }
  }

  /// Measures the connection's signal strength; the delegate receives `didReadRSSI`, in dBm, -127 to 20.
  open func readRSSI() {
    request("readRSSI", PeripheralRSSI.self, .init(peripheral: id)) { peripheral, result in
      switch result {
      case .success(let measured):
        let rssi = NSNumber(value: measured.rssi)
        peripheral.shared[\.rssi] = rssi
        peripheral.delegate?.peripheral(peripheral, didReadRSSI: rssi, error: nil)
      case .failure(let error):
        peripheral.delegate?.peripheral(peripheral, didReadRSSI: 127, error: error.coreBluetooth)
      }
    }
  }

  /// Reads a characteristic with a value of any length; the delegate receives `didUpdateValueFor`, after which `value`
  /// has it, 0 to 512 octets.
  open func readValue(for characteristic: CBCharacteristic) {
    request("readValue", GATTRead.self, .init(peripheral: id, handle: characteristic.handle)) { peripheral, result in
      switch result {
      case .success(let read):
        let value = Data(read.value.octets)
        characteristic.contents[\.value] = value
        peripheral.delegate?.peripheral(peripheral, didUpdateValueFor: characteristic, error: nil)
        if characteristic.uuid.value == 0x2A00, let name = String(data: value, encoding: .utf8),
          peripheral.adoptName(name, isRead: true)
        {
          peripheral.delegate?.peripheralDidUpdateName(peripheral)
        }
      case .failure(let error):
        peripheral.delegate?.peripheral(
          peripheral, didUpdateValueFor: characteristic, error: error.coreBluetooth(refusedAs: .readNotPermitted))
      }
    }
  }

  /// Reads a descriptor; the delegate receives `didUpdateValueFor`, after which `value` has it.
  open func readValue(for descriptor: CBDescriptor) {
    request("readValue", GATTRead.self, .init(peripheral: id, handle: descriptor.handle)) { peripheral, result in
      switch result {
      case .success(let read):
        descriptor.contents[\.value] = descriptor.decode(read.value.octets)
        peripheral.delegate?.peripheral(peripheral, didUpdateValueFor: descriptor, error: nil)
      case .failure(let error):
        peripheral.delegate?.peripheral(peripheral, didUpdateValueFor: descriptor, error: error.coreBluetooth)
      }
    }
  }

  /// Writes a characteristic.
  /// - Parameters:
  ///   - data: Up to `maximumWriteValueLength(for:)` octets.
  ///   - characteristic: A discovered characteristic of this peripheral.
  ///   - type: With a response, which is reported to the delegate, or without one.
  open func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
    guard type == .withResponse else { return writeWithoutResponse(data, characteristic) }
    request(
      "writeValue", GATTWrite.self,
      .init(peripheral: id, handle: characteristic.handle, value: HexBytes(Array(data)), response: true)
    ) { peripheral, result in
      peripheral.delegate?.peripheral(
        peripheral, didWriteValueFor: characteristic,
        error: result.failure?.coreBluetooth(refusedAs: .writeNotPermitted, writing: data.count))
    }
  }

  /// Writes a descriptor; for Client Characteristic Configuration use `setNotifyValue`.
  open func writeValue(_ data: Data, for descriptor: CBDescriptor) {
    guard descriptor.uuid.value != 0x2902 else {
      Misuse.raise("Client Characteristic Configuration descriptors must be configured using setNotifyValue:")
    }
    request(
      "writeValue", GATTWrite.self, .init(peripheral: id, handle: descriptor.handle, value: HexBytes(Array(data)))
    ) { peripheral, result in
      peripheral.delegate?.peripheral(
        peripheral, didWriteValueFor: descriptor,
        error: result.failure?.coreBluetooth(refusedAs: .writeNotPermitted, writing: data.count))
    }
  }

  /// Subscribes to a characteristic, or unsubscribes: notifications if it has them, else indications.
  open func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
    let then = { (peripheral: CBPeripheral, result: Result<AttributeFound, BluetoothError>) in
      if result.failure == nil { characteristic.contents[\.isNotifying] = enabled }
      peripheral.delegate?.peripheral(
        peripheral, didUpdateNotificationStateFor: characteristic,
        error: result.failure?.coreBluetooth(refusedAs: .requestNotSupported))
    }
    if enabled {
      request("setNotifyValue", GATTSubscribe.self, .init(peripheral: id, handle: characteristic.handle), then: then)
    } else {
      request("setNotifyValue", GATTUnsubscribe.self, .init(peripheral: id, handle: characteristic.handle), then: then)
    }
  }

  /// Opens an L2CAP channel; the delegate receives it.
  /// - Parameter psm: The PSM of the device's listener, 1 to 255.
  open func openL2CAPChannel(_ psm: CBL2CAPPSM) {
    guard state == .connected else { return Misuse.log("openL2CAPChannel on \(self), which is not connected: ignored") }
    engine.openChannel(psm, to: self)
  }

  /// A human-readable description.
  open override var description: String {
    "<CBPeripheral: identifier = \(identifier), name = \(name ?? "(null)"), state = \(state)>"
  }
}
