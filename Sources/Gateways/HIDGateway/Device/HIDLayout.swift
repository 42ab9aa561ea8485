import BledRPC
import Bluetooth

/// The attributes of a device that the gateway uses.
struct HIDLayout: Hashable {
  /// The attributes of each HID service.
  let services: [HIDAttributes]
  /// The Device Name and the PnP ID; nil where the device has none.
  let name: UInt16?
  let identity: UInt16?

  /// Finds the attributes.
  init(_ all: [ServiceDescription]) {
    services = all.compactMap { HIDAttributes($0, others: all) }
    let characteristics = all.flatMap { $0.characteristics ?? [] }
    name = characteristics.first { $0.uuid == .deviceName }?.handle
    identity = characteristics.first { $0.uuid == .pnpID }?.handle
  }

  /// The attributes to read before the device can be used, each once.
  var toRead: Set<UInt16> { Set(services.flatMap(\.toRead) + [name, identity].compactMap { $0 }) }
}
