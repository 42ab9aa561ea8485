import Bluetooth

extension APIFrame {
  /// An advertisement with its parts, for clients that do not read AD structures themselves: one message for each.
  static func parsedAdvertisement(
    address: UInt64, rssi: Int32, addressType: UInt32, _ data: AdvertisingData
  ) -> APIFrame {
    APIFrame(67) {
      $0.number(1, address)
      $0.text(2, data.localName ?? "")
      $0.zigzag(3, rssi)
      for uuid in data.serviceUUIDs { $0.text(4, text(uuid)) }
      for service in data.serviceData { $0.part(5, text(service.uuid), service.data) }
      for maker in data.manufacturerData { $0.part(6, "0x\(String(maker.company, radix: 16))", maker.data) }
      $0.number(7, addressType)
    }
  }

  /// "0x180D", or all of its digits with dashes.
  private static func text(_ uuid: BluetoothUUID) -> String {
    if uuid.short16 != nil { return "0x\(uuid)" }
    return uuid.short32 == nil ? "\(uuid)" : "\(uuid)-0000-1000-8000-00805F9B34FB"
  }
}

extension ProtobufWriter {
  /// Data with the number of its owner. The field between the two belongs to older firmware.
  fileprivate mutating func part(_ field: UInt32, _ owner: String, _ data: [UInt8]) {
    message(field) {
      $0.text(1, owner)
      $0.bytes(3, data)
    }
  }
}
