import BledRPC
import Bluetooth

extension CBPeripheral {
  /// How the daemon names this device.
  var id: String { identifier.uuidString }

  /// Queues a call on the device; `then` comes on the program's queue if the connection still holds by then.
  func request<Method: RPCMethod>(
    _ name: String, _ method: Method.Type, _ params: Method.Params,
    then: @escaping (CBPeripheral, Result<Method.Result, BluetoothError>) -> Void
  ) {
    guard state == .connected else { return Misuse.log("\(name) on \(self), which is not connected: ignored") }
    engine.request(self, method, params, then: then)
  }

  /// Measures the signal strength of the connection.
  public func readRSSI() {
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

  /// Reads a characteristic, however long its value.
  public func readValue(for characteristic: CBCharacteristic) {
    request("readValue", GATTRead.self, .init(peripheral: id, handle: characteristic.handle)) { peripheral, result in
      switch result {
      case .success(let read):
        let value = Data(read.value.octets)
        characteristic.contents[\.value] = value
        peripheral.delegate?.peripheral(peripheral, didUpdateValueFor: characteristic, error: nil)
        if characteristic.uuid.value == 0x2A00, let name = String(data: value, encoding: .utf8),
          peripheral.takeName(name, isRead: true)
        {
          peripheral.delegate?.peripheralDidUpdateName(peripheral)
        }
      case .failure(let error):
        peripheral.delegate?.peripheral(
          peripheral, didUpdateValueFor: characteristic, error: error.coreBluetooth(refusedAs: .readNotPermitted))
      }
    }
  }

  /// Reads a descriptor.
  public func readValue(for descriptor: CBDescriptor) {
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
  ///   - characteristic: One that was discovered on this peripheral.
  ///   - type: With a response, of which the delegate is told, or without one.
  public func writeValue(_ data: Data, for characteristic: CBCharacteristic, type: CBCharacteristicWriteType) {
    guard type == .withResponse else { return writeWithoutResponse(data, characteristic) }
    request(
      "writeValue", GATTWrite.self,
      .init(peripheral: id, handle: characteristic.handle, value: HexBytes(Array(data)), response: true)
    ) { peripheral, result in
      peripheral.delegate?.peripheral(
        peripheral, didWriteValueFor: characteristic,
        error: result.failure?.coreBluetooth(refusedAs: .writeNotPermitted))
    }
  }

  private func writeWithoutResponse(_ data: Data, _ characteristic: CBCharacteristic) {
    guard data.count <= maximumWriteValueLength(for: .withoutResponse) else {
      return Misuse.log("writeValue: \(data.count) bytes do not fit into a write without response: dropped")
    }
    guard state != .connected || shared.with({ $0.writes.begin() }) else {
      return Misuse.log("writeValue without response while there is no room: dropped")
    }
    request(
      "writeValue", GATTWrite.self,
      .init(peripheral: id, handle: characteristic.handle, value: HexBytes(Array(data)), response: false)
    ) { peripheral, _ in
      guard peripheral.shared.with({ $0.writes.end() }) else { return }
      peripheral.delegate?.peripheralIsReady(toSendWriteWithoutResponse: peripheral)
    }
  }

  /// Writes a descriptor; for Client Characteristic Configuration use `setNotifyValue`.
  public func writeValue(_ data: Data, for descriptor: CBDescriptor) {
    guard descriptor.uuid.value != 0x2902 else {
      Misuse.raise("Client Characteristic Configuration descriptors must be configured using setNotifyValue:")
    }
    request(
      "writeValue", GATTWrite.self, .init(peripheral: id, handle: descriptor.handle, value: HexBytes(Array(data)))
    ) { peripheral, result in
      peripheral.delegate?.peripheral(peripheral, didWriteValueFor: descriptor, error: result.failure?.coreBluetooth)
    }
  }

  /// Subscribes to a characteristic, or ends that: notifications if it has them, else indications.
  public func setNotifyValue(_ enabled: Bool, for characteristic: CBCharacteristic) {
    let reference = CharacteristicReference(peripheral: id, handle: characteristic.handle)
    let then = { (peripheral: CBPeripheral, result: Result<Empty, BluetoothError>) in
      if result.failure == nil { characteristic.contents[\.isNotifying] = enabled }
      peripheral.delegate?.peripheral(
        peripheral, didUpdateNotificationStateFor: characteristic,
        error: result.failure?.coreBluetooth(refusedAs: .requestNotSupported))
    }
    if enabled {
      request("setNotifyValue", GATTSubscribe.self, reference, then: then)
    } else {
      request("setNotifyValue", GATTUnsubscribe.self, reference, then: then)
    }
  }

  /// Opens an L2CAP channel: not supported by bled yet, which the delegate is told.
  public func openL2CAPChannel(_ psm: CBL2CAPPSM) {
    guard state == .connected else { return Misuse.log("openL2CAPChannel on \(self), which is not connected: ignored") }
    engine.deliver(to: self) { peripheral in
      peripheral.delegate?.peripheral(peripheral, didOpen: nil, error: NSError.noChannels())
    }
  }
}

extension Result {
  var failure: Failure? {
    if case .failure(let error) = self { error } else { nil }
  }
}

extension CBDescriptor {
  /// The value in the type that Apple's framework gives it.
  func decode(_ octets: [UInt8]) -> Any {
    switch uuid.value.short16 {
    case 0x2900, 0x2902, 0x2903:
      NSNumber(value: octets.prefix(2).reversed().reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
    case 0x2901: String(decoding: octets, as: UTF8.self)
    default: Data(octets)
    }
  }
}
