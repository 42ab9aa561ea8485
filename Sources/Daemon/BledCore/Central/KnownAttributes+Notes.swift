import Bluetooth
import Capture
import GATT

extension KnownAttributes {
  /// The attributes for recordings: services, values of characteristics, and descriptors.
  func notes(of device: DeviceAddress) -> [AttributeNote] {
    let listed: [AttributeNote.Attribute] = services.flatMap { service in
      [.init(handle: service.range.lowerBound, uuid: service.uuid, kind: .service)]
        + (service.characteristics ?? []).flatMap { characteristic in
          [.init(handle: characteristic.valueHandle, uuid: characteristic.uuid)]
            + (descriptors(of: characteristic.valueHandle) ?? []).map {
              .init(handle: $0.handle, uuid: $0.uuid, kind: .descriptor)
            }
        }
    }
    return AttributeNote(peer: device, attributes: listed).parts
  }
}
