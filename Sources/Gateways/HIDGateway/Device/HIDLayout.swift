import BledRPC
import Bluetooth

/// The attributes of a device that the gateway uses.
struct HIDLayout: Hashable {
  /// More than devices have.
  private static let mostServices = 8

  /// The attributes of each HID service.
  let services: [HIDAttributes]
  /// The characteristics of other services that Report Maps may refer to.
  let external: [HIDAttributes.Report]
  /// The Device Name and the PnP ID; nil where the device has none.
  let name: UInt16?
  let identity: UInt16?

  /// Finds the attributes.
  init(_ all: [ServiceDescription]) {
    services = Array(all.compactMap { HIDAttributes($0) }.prefix(Self.mostServices))
    let hasReferences = services.contains { !$0.externalReferences.isEmpty }
    let others = hasReferences ? all.filter { $0.uuid != .humanInterfaceDevice } : []
    external = others.flatMap { $0.characteristics ?? [] }.map { HIDAttributes.Report($0, external: $0.uuid) }
      .filter { $0.reference != nil }
    let characteristics = all.flatMap { $0.characteristics ?? [] }
    name = characteristics.first { $0.uuid == .deviceName }?.handle
    identity = characteristics.first { $0.uuid == .pnpID }?.handle
  }

  /// The attributes to read before the device can be used, each once.
  var toRead: Set<UInt16> {
    Set(services.flatMap(\.toRead) + external.compactMap(\.reference) + [name, identity].compactMap { $0 })
  }
}
