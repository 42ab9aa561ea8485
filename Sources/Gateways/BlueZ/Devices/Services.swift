import BledRPC
import Bluetooth

/// An attribute of a device that has an object.
struct Attribute {
  enum Kind: Hashable {
    /// With its properties.
    case characteristic(Set<CharacteristicProperty>)
    case descriptor
  }

  let kind: Kind
  /// The path of the device.
  let device: String
  let handle: UInt16
  let uuid: BluetoothUUID
}

/// The objects of devices' attributes. They stay when a device is disconnected, and go with it, or when the device has
/// other attributes.
final class Services: DeviceObserver {
  /// The number of objects for attributes, of one device and of all: the answer to GetManagedObjects stays far below
  /// the limit of the bus for a message (dbus-daemon(1), `max_message_size`: 32 MiB).
  static let maximumOfDevice = 4096
  static let maximum = 16384
  /// The number of services in the property UUIDs.
  private static let maximumServices = 256

  /// Timeout for a device to list its attributes, in seconds.
  private static let timeout = 40.0

  private let context: Context
  private let devices: Devices
  private var attributes: [String: Attribute] = [:]
  /// The paths of each device's characteristics, by the handles of their values.
  private var characteristics: [String: [UInt16: String]] = [:]
  private var services: [String: [ServiceDescription]] = [:]
  /// The devices with objects of attributes, the last connected one at the end.
  private var order: [String] = []
  private var mtus: [String: Int] = [:]

  init(_ context: Context, _ devices: Devices) {
    self.context = context
    self.devices = devices
  }

  subscript(path: String) -> Attribute? { attributes[path] }

  /// The characteristics of a device, with their paths.
  func characteristics(of device: String) -> [(path: String, attribute: Attribute)] {
    (characteristics[device] ?? [:]).values.compactMap { path in attributes[path].map { (path, $0) } }
  }

  /// The path of the characteristic with this value handle.
  func path(_ device: String, _ handle: UInt16) -> String? { characteristics[device]?[handle] }

  /// A link with this ATT MTU was established.
  func link(_ device: String, mtu: Int) {
    mtus[device] = mtu
    for (path, _) in characteristics(of: device) {
      context.tree.set(path, .characteristic, "MTU", .uint16(UInt16(clamping: mtu)))
    }
  }

  func mtu(_ device: String) -> Int { mtus[device] ?? 23 }

  /// Reads a device's attributes, in a session, and makes their objects.
  func discover(
    _ path: String, _ client: any SessionHolder, _ completion: @escaping (Result<Void, BluetoothError>) -> Void
  ) {
    guard let device = devices[path] else { return }
    client.session.call(
      GATTDiscover.self, GATTDiscover.Params(peripheral: device.key.peripheral, timeout: Self.timeout)
    ) { [weak self] result in
      if case .success(let found) = result { self?.update(path, found.services) }
      completion(result.map { _ in })
    }
  }

  private func update(_ path: String, _ found: [ServiceDescription]) {
    let found = Self.bounded(found)
    devices.change(path) { $0.found = found.prefix(Self.maximumServices).map(\.uuid) }
    guard let device = devices[path] else { return }
    context.tree.set(path, .device, "UUIDs", device.uuids)
    order.removeAll { $0 == path }
    order.append(path)
    guard services[path] != found else { return }
    for service in services[path] ?? [] { remove(Self.path(path, service)) }
    services[path] = found
    let paths = Dictionary(found.map { ($0.handle, Self.path(path, $0)) }, uniquingKeysWith: { $1 })
    for service in found { add(service, path, paths) }
    // They are read again when the device is connected.
    for other in order where attributes.count > Self.maximum && !devices.flag(other, "Connected") { forget(other) }
  }

  /// The first services, up to the limit for one device.
  private static func bounded(_ found: [ServiceDescription]) -> [ServiceDescription] {
    var count = 0
    return found.prefix { service in
      let characteristics = service.characteristics ?? []
      count += 1 + characteristics.reduce(characteristics.count) { $0 + ($1.descriptors?.count ?? 0) }
      return count <= maximumOfDevice
    }
  }

  private func forget(_ device: String) {
    for service in services.removeValue(forKey: device) ?? [] { remove(Self.path(device, service)) }
    characteristics[device] = nil
    order.removeAll { $0 == device }
  }

  private func remove(_ service: String) {
    for path in context.tree.descendants(of: service) {
      guard let attribute = attributes.removeValue(forKey: path), attribute.kind != .descriptor else { continue }
      characteristics[attribute.device]?[attribute.handle] = nil
    }
    context.tree.remove(service)
  }

  func leaving(_ device: Device) {
    forget(device.path)
    mtus[device.path] = nil
  }

  // MARK: Objects

  private static func path(_ device: String, _ service: ServiceDescription) -> String {
    device + "/service" + digits(service.handle)
  }

  private static func digits(_ handle: UInt16) -> String { Hex.encode([UInt8(handle >> 8), UInt8(handle & 0xFF)]) }

  private func add(_ service: ServiceDescription, _ device: String, _ paths: [UInt16: String]) {
    let path = Self.path(device, service)
    let includes = (service.includes ?? []).compactMap { paths[$0.handle] }
    context.tree.add(
      path,
      [
        (
          .service,
          [
            ("Handle", .uint16(service.handle)), ("UUID", .string(service.uuid.long)), ("Device", .path(device)),
            ("Primary", .boolean(service.primary)), ("Includes", .paths(includes)),
          ]
        )
      ])
    for characteristic in service.characteristics ?? [] { add(characteristic, path, device) }
  }

  private func add(_ characteristic: CharacteristicDescription, _ service: String, _ device: String) {
    // The handle of an object is the declaration's, which precedes the value.
    let handle = characteristic.declaration ?? characteristic.handle &- 1
    let path = service + "/char" + Self.digits(handle)
    let known = Set(characteristic.properties.compactMap(\.known))
    attributes[path] = Attribute(
      kind: .characteristic(known), device: device, handle: characteristic.handle, uuid: characteristic.uuid)
    characteristics[device, default: [:]][characteristic.handle] = path
    var properties: ObjectTree.Properties = [
      ("Handle", .uint16(handle)), ("UUID", .string(characteristic.uuid.long)), ("Service", .path(service)),
      (
        "Flags",
        .strings(
          CharacteristicProperty.allCases.filter(known.contains).map(\.flag)
            + (characteristic.extendedProperties ?? []).compactMap { $0.known?.flag })
      ),
      ("MTU", .uint16(UInt16(clamping: mtu(device)))),
    ]
    if known.contains(.notify) || known.contains(.indicate) { properties.append(("Notifying", .boolean(false))) }
    if known.contains(.notify) { properties.append(("NotifyAcquired", .boolean(false))) }
    if known.contains(.writeWithoutResponse) { properties.append(("WriteAcquired", .boolean(false))) }
    context.tree.add(path, [(.characteristic, properties)])
    for descriptor in characteristic.descriptors ?? [] {
      let place = path + "/desc" + Self.digits(descriptor.handle)
      attributes[place] = Attribute(
        kind: .descriptor, device: device, handle: descriptor.handle, uuid: descriptor.uuid)
      context.tree.add(
        place,
        [
          (
            .descriptor,
            [
              ("Handle", .uint16(descriptor.handle)), ("UUID", .string(descriptor.uuid.long)),
              ("Characteristic", .path(path)),
            ]
          )
        ])
    }
  }
}

extension CharacteristicProperty {
  /// BlueZ's word for it.
  fileprivate var flag: String {
    switch self {
    case .broadcast: "broadcast"
    case .read: "read"
    case .writeWithoutResponse: "write-without-response"
    case .write: "write"
    case .notify: "notify"
    case .indicate: "indicate"
    case .signedWrite: "authenticated-signed-writes"
    case .extendedProperties: "extended-properties"
    }
  }
}

extension ExtendedProperty {
  /// BlueZ's word for it.
  fileprivate var flag: String {
    switch self {
    case .reliableWrite: "reliable-write"
    case .writableAuxiliaries: "writable-auxiliaries"
    }
  }
}
