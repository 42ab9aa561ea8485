import BledRPC
import Bluetooth

/// Battery1: the level of a device with a Battery Service, as it was read at the start of the link or told since.
final class Batteries {
  private static let level: BluetoothUUID = 0x2A19

  private let context: Context
  private let clients: Clients
  private let devices: Devices
  private let services: Services

  init(_ context: Context, _ clients: Clients, _ devices: Devices, _ services: Services) {
    self.context = context
    self.clients = clients
    self.devices = devices
    self.services = services
  }

  /// The services of a device are known.
  func resolved(_ path: String, by client: BusClient) {
    guard let device = devices[path],
      let (_, attribute) = services.characteristics(of: path).first(where: { $0.attribute.uuid == Self.level }),
      case .characteristic(let properties) = attribute.kind, properties.contains(.read)
    else { return }
    client.session.call(
      GATTRead.self, GATTRead.Params(peripheral: device.key.peripheral, handle: attribute.handle)
    ) { [weak self] result in
      if case .success(let read) = result { self?.show(path, read.value.octets) }
    }
  }

  /// A value of a characteristic is known.
  func value(_ attribute: Attribute, _ octets: [UInt8]) {
    if attribute.uuid == Self.level { show(attribute.device, octets) }
  }

  private func show(_ path: String, _ octets: [UInt8]) {
    guard let level = octets.first, level <= 100, devices[path] != nil else { return }
    if context.tree.has(path, .battery) {
      context.tree.set(path, .battery, "Percentage", .byte(level))
    } else {
      context.tree.add(path, [(.battery, [("Percentage", .byte(level)), ("Source", .string("GATT Battery Service"))])])
    }
  }

  /// A device is not connected any more.
  func disconnected(_ path: String) { context.tree.remove(path, .battery) }
}
