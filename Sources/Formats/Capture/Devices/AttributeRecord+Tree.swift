import Bluetooth

extension AttributeRecord {
  private static let deviceName = BluetoothUUID(0x2A00)
  /// The attributes that declare others (Core 5.4, Vol 3, Part G, 3).
  private static let declaring: Set<BluetoothUUID> = [
    BluetoothUUID(0x2800), BluetoothUUID(0x2801), BluetoothUUID(0x2802), BluetoothUUID(0x2803),
  ]

  /// The services, in handle order.
  var services: [RecordedDevice.Service] {
    groups.sorted { $0.key < $1.key }.map { start, group in
      var service = RecordedDevice.Service(uuid: group.uuid)
      service.isPrimary = group.isPrimary
      let range = start...max(start, group.end)
      service.includes = includes.filter { range.contains($0.key) }.sorted { $0.key < $1.key }
        .compactMap { groups[$0.value]?.uuid }
      let declared = declarations.filter { range.contains($0.key) }.sorted { $0.key < $1.key }
      for (index, (_, declaration)) in declared.enumerated() {
        let end = index + 1 < declared.count ? declared[index + 1].key - 1 : group.end
        service.characteristics.append(characteristic(declaration, end: end))
      }
      return service
    }
  }

  private func characteristic(_ declaration: Declaration, end: UInt16) -> RecordedDevice.Characteristic {
    var characteristic = RecordedDevice.Characteristic(uuid: declaration.uuid, properties: declaration.properties)
    let values = values[declaration.value]
    characteristic.read = Self.changes(values?.read ?? [])
    characteristic.sent = values?.sent ?? []
    characteristic.security.read = readLevels[declaration.value] ?? .none
    characteristic.security.write = writeLevels[declaration.value] ?? .none
    guard declaration.value < end else { return characteristic }
    for handle in declaration.value + 1...end {
      guard let uuid = types[handle], !Self.declaring.contains(uuid) else { continue }
      guard uuid != Self.configuration else {
        characteristic.security.subscribe = writeLevels[handle] ?? .none
        continue
      }
      characteristic.descriptors.append(.init(uuid: uuid, value: self.values[handle]?.read.last?.octets ?? []))
    }
    return characteristic
  }

  /// Values without repetitions: a value equal to the one before is a long value read again.
  private static func changes(_ values: [RecordedDevice.Value]) -> [RecordedDevice.Value] {
    values.reduce(into: []) { if $0.last?.octets != $1.octets { $0.append($1) } }
  }

  /// The Device Name, if it was read.
  var name: String? {
    let values = declarations.values.filter { $0.uuid == Self.deviceName }.map(\.value)
    guard let octets = values.compactMap({ self.values[$0]?.read.last?.octets }).first else { return nil }
    return String(decoding: octets, as: UTF8.self)
  }

  /// The value handles without a discovered characteristic.
  var handlesWithoutType: [UInt16] {
    let known = Set(declarations.values.map(\.value)).union(types.keys).union(declarations.keys)
    return values.keys.filter { !known.contains($0) }.sorted()
  }
}
