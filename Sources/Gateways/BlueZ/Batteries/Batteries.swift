import BledRPC
import Bluetooth

/// Battery1: the level of a connected device with a Battery Service, as read at the start of the link or reported
/// since; for a device without one, a program's level (`BatteryProviders`).
final class Batteries: LinkObserver {
  private static let level: BluetoothUUID = 0x2A19
  /// The highest level, in percent.
  private static let highest: UInt8 = 100

  private let context: Context
  private let devices: Devices
  private let services: Services
  /// The devices with a level provided by a program.
  private var provided: Set<String> = []

  init(_ context: Context, _ devices: Devices, _ services: Services) {
    self.context = context
    self.devices = devices
    self.services = services
  }

  func resolved(_ path: String, by user: any SessionHolder) {
    guard user.mayPair, let device = devices[path],
      let (_, attribute) = services.characteristics(of: path).first(where: { $0.attribute.uuid == Self.level }),
      case .characteristic(let properties) = attribute.kind, properties.contains(.read)
    else { return }
    user.session.call(
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
    guard let level = octets.first, devices.flag(path, "Connected") else { return }
    provided.remove(path)
    show(path, level, source: "GATT Battery Service")
  }

  private func show(_ path: String, _ level: UInt8, source: String?) {
    guard level <= Self.highest else { return }
    if context.tree.has(path, .battery) {
      context.tree.set(path, .battery, "Percentage", .byte(level))
      context.tree.set(path, .battery, "Source", source.map(BusValue.string))
    } else {
      let source = source.map { [("Source", BusValue.string($0))] } ?? []
      context.tree.add(path, [(.battery, [("Percentage", .byte(level))] + source)])
    }
  }

  func disconnected(_ path: String) {
    provided.remove(path)
    context.tree.remove(path, .battery)
  }

  // MARK: Levels of programs

  /// Shows a level that a program provides.
  /// - Returns: false if the device is not connected, or has a level already.
  func provide(_ path: String, _ level: UInt8, source: String?) -> Bool {
    guard level <= Self.highest, devices.flag(path, "Connected"), !context.tree.has(path, .battery) else {
      return false
    }
    provided.insert(path)
    show(path, level, source: source)
    return true
  }

  /// Changes a level that a program provides.
  func change(_ path: String, _ level: UInt8, source: String?) {
    if provided.contains(path) { show(path, level, source: source) }
  }

  /// A program provides the level of a device no longer.
  func withdraw(_ path: String) {
    if provided.remove(path) != nil { context.tree.remove(path, .battery) }
  }
}
