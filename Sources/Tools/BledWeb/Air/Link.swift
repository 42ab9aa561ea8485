import BledClient
import ValueFormats

/// A device that this program is connected to.
struct Link {
  let peripheral: Peripheral
  let services: [ServiceDescription]
  var naming: AttributeNaming

  /// The UUID of a value or descriptor, without one it has no meaning, and a format beside the assigned one.
  func kind(of handle: UInt16) -> (uuid: BluetoothUUID, format: ValueFormat?) {
    if let (service, uuid) = characteristic(handle) {
      return (uuid, naming.format(of: uuid, in: service, handle: handle))
    }
    let descriptors = services.flatMap { $0.characteristics ?? [] }.flatMap { $0.descriptors ?? [] }
    return (descriptors.first { $0.handle == handle }?.uuid ?? BluetoothUUID(UInt16(0)), nil)
  }

  /// The key of a characteristic in the user's file: the one that counts now, else its UUID for all devices if it is a
  /// maker's, else for this device.
  func key(of handle: UInt16) -> NameList.Key? {
    guard let (service, uuid) = characteristic(handle), let address = naming.address else { return nil }
    let keys = [
      NameList.Key(address: address, service: service, uuid: uuid), NameList.Key(address: address, uuid: uuid),
      NameList.Key(service: service, uuid: uuid), NameList.Key(uuid: uuid),
    ]
    let known = keys.first { key in naming.list.entries.contains { $0.key == key } }
    return known ?? (uuid.short16 == nil ? keys[3] : keys[0])
  }

  /// The user's format of a characteristic, as it is in the file.
  func formatText(of handle: UInt16) -> String? {
    guard let key = key(of: handle) else { return nil }
    return naming.list.entries.first { $0.key == key }?.formatText
  }

  private func characteristic(_ handle: UInt16) -> (service: BluetoothUUID, uuid: BluetoothUUID)? {
    for service in services {
      let found = service.characteristics?.first { $0.handle == handle }
      if let found { return (service.uuid, found.uuid) }
    }
    return nil
  }
}
