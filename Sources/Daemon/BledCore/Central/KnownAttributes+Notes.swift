import Bluetooth
import Capture
import GATT

extension KnownAttributes {
  /// The attributes for recordings: services, values of characteristics, and descriptors.
  func notes(of device: DeviceAddress) -> [AttributeNote] {
    var listed: [AttributeNote.Attribute] = []
    for service in services {
      listed.append(.init(handle: service.range.lowerBound, uuid: service.uuid, kind: .service))
      for characteristic in service.characteristics ?? [] {
        listed.append(.init(handle: characteristic.valueHandle, uuid: characteristic.uuid))
        for descriptor in descriptors(of: characteristic.valueHandle) ?? [] {
          listed.append(.init(handle: descriptor.handle, uuid: descriptor.uuid, kind: .descriptor))
        }
      }
    }
    return AttributeNote(peer: device, attributes: listed).parts
  }
}
