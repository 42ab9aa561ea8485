import Adapter
import BledRPC
import Bluetooth

/// The devices that are known, with their objects.
///
/// A device stays while it is connected or paired. Any other goes `lifetime` after it was heard last, or when there are
/// more than `maximum`: the one that was heard the longest ago.
final class Devices {
  /// Longer than the 30 s of bluetoothd, whose users miss devices.
  static let lifetime = Duration.seconds(180)
  static let maximum = 500

  private let context: Context
  private let adapters: Adapters
  private var devices: [String: Device] = [:]
  /// The paths by bled's name of the device and of the adapter.
  private var paths: [String: [String: String]] = [:]
  private var sweep: (any ScheduledWork)?

  /// By "address type", for instance "C0:DE:00:00:00:01 random".
  private(set) var settings: [String: DeviceSettings]
  /// Called when the settings have changed.
  var settingsChanged: ([String: DeviceSettings]) -> Void = { _ in }

  /// Called before the object of a device goes.
  var leaving: (Device) -> Void = { _ in }

  init(_ context: Context, _ adapters: Adapters, settings: [String: DeviceSettings]) {
    self.context = context
    self.adapters = adapters
    self.settings = settings
  }

  subscript(path: String) -> Device? { devices[path] }

  var all: [Device] { Array(devices.values) }

  func path(_ key: Device.Key) -> String? { paths[key.peripheral]?[key.adapter] }

  /// The objects of a device of bled, one for each adapter that knows it.
  func all(_ peripheral: String) -> [Device] { paths[peripheral]?.values.compactMap { devices[$0] } ?? [] }

  func change(_ path: String, _ change: (inout Device) -> Void) {
    guard var device = devices[path] else { return }
    change(&device)
    devices[path] = device
  }

  func set(_ path: String, _ name: String, _ value: BusValue?) { context.tree.set(path, .device, name, value) }

  func flag(_ path: String, _ name: String) -> Bool { context.tree.value(path, .device, name) == .boolean(true) }

  /// The path of a device, which is added if it is new.
  /// - Parameters:
  ///   - address: as bled writes it; also its first name.
  ///   - properties: known ones, so that a new object has them from the start.
  /// - Returns: nil if the adapter is not there.
  func add(
    _ key: Device.Key, address: String, addressType: String, _ properties: ObjectTree.Properties = []
  ) -> String? {
    if let path = path(key) { return path }
    guard let adapter = adapters.path(of: key.adapter) else { return nil }
    let path = Device.path(adapter, address)
    // A device of the other address type, or one that was forgotten: objects have one place for an address.
    if let other = devices[path] {
      guard !flag(path, "Connected"), !flag(path, "Paired") else { return nil }
      remove(other.path)
    }
    let device = Device(
      key: key, path: path, address: address, addressType: addressType, lastHeard: context.clock.now)
    devices[path] = device
    paths[key.peripheral, default: [:]][key.adapter] = path
    let properties = properties + remembered(device)
    let given = Set(properties.map(\.name))
    context.tree.add(
      path,
      [(.device, Self.initial(adapter, address, addressType).filter { !given.contains($0.name) } + properties)])
    dropOldest()
    armSweep()
    return path
  }

  private static func initial(_ adapter: String, _ address: String, _ type: String) -> ObjectTree.Properties {
    [
      ("Address", .string(address.uppercased())), ("AddressType", .string(type)), ("Adapter", .path(adapter)),
      ("Alias", alias(address)),
      ("Paired", .boolean(false)), ("Bonded", .boolean(false)), ("Trusted", .boolean(false)),
      ("Blocked", .boolean(false)), ("LegacyPairing", .boolean(false)), ("CablePairing", .boolean(false)),
      ("Connected", .boolean(false)), ("ServicesResolved", .boolean(false)), ("UUIDs", .strings([])),
    ]
  }

  /// The alias of a device without a name.
  private static func alias(_ address: String) -> BusValue {
    .string(String(address.map { $0 == ":" ? "-" : $0 }).uppercased())
  }

  // MARK: Settings

  private func remembered(_ device: Device) -> ObjectTree.Properties {
    guard let setting = settings[device.settingsKey] else { return [] }
    return [("Trusted", .boolean(setting.isTrusted))] + (setting.alias.map { [("Alias", .string($0))] } ?? [])
  }

  /// A device has told its name; an alias that a program has set stays.
  func name(_ path: String, _ name: String) {
    guard let device = devices[path] else { return }
    set(path, "Name", .string(name))
    if settings[device.settingsKey]?.alias == nil { set(path, "Alias", .string(name)) }
  }

  /// bled refuses connections with the device.
  func block(_ call: BusCall, _ isOn: Bool, _ client: BusClient) {
    guard let device = devices[call.path] else { return context.fail(call, .doesNotExist) }
    client.session.call(
      AdapterBlock.self, AdapterBlock.Params(peripheral: device.key.peripheral, on: isOn)
    ) { [weak self, context] result in
      if case .success = result { self?.set(call.path, "Blocked", .boolean(isOn)) }
      context.finish(call, result.mapError { BusError($0, otherwise: .failed($0.message)) })
    }
  }

  func trust(_ path: String, _ isTrusted: Bool) {
    change(path, settings: { $0.isTrusted = isTrusted })
    set(path, "Trusted", .boolean(isTrusted))
  }

  /// - Parameter alias: empty: the device's own name again.
  func rename(_ path: String, _ alias: String) {
    guard let device = devices[path] else { return }
    change(path, settings: { $0.alias = alias.isEmpty ? nil : alias })
    let name = context.tree.value(path, .device, "Name") ?? Self.alias(device.address)
    set(path, "Alias", alias.isEmpty ? name : .string(alias))
  }

  private func change(_ path: String, settings change: (inout DeviceSettings) -> Void) {
    guard let device = devices[path] else { return }
    var setting = settings[device.settingsKey] ?? DeviceSettings()
    change(&setting)
    settings[device.settingsKey] = setting.isDefault ? nil : setting
    settingsChanged(settings)
  }

  /// Removes a device with its settings.
  func forget(_ path: String) {
    if let device = devices[path], settings.removeValue(forKey: device.settingsKey) != nil {
      settingsChanged(settings)
    }
    remove(path)
  }

  func remove(_ path: String) {
    guard let device = devices[path] else { return }
    leaving(device)
    devices[path] = nil
    paths[device.key.peripheral]?[device.key.adapter] = nil
    if paths[device.key.peripheral]?.isEmpty == true { paths[device.key.peripheral] = nil }
    context.tree.remove(path)
  }

  /// An adapter has gone with all its devices.
  func remove(of adapter: String) {
    for device in all where device.key.adapter == adapter { remove(device.path) }
  }

  // MARK: Lifetime

  private func isTemporary(_ device: Device) -> Bool {
    !flag(device.path, "Connected") && !flag(device.path, "Paired") && !flag(device.path, "Trusted")
      && !flag(device.path, "Blocked")
  }

  private func dropOldest() {
    guard devices.count > Self.maximum else { return }
    // A few at a time, so that the search is rare.
    let old = devices.values.filter(isTemporary).sorted { $0.lastHeard < $1.lastHeard }
    for device in old.prefix(Self.maximum / 10) { remove(device.path) }
  }

  private func armSweep() {
    guard sweep == nil else { return }
    sweep = context.schedule(after: Self.lifetime / 6) { [weak self] in
      guard let self else { return }
      sweep = nil
      let limit = context.clock.now.advanced(by: .zero - Self.lifetime)
      for device in all where device.lastHeard < limit && isTemporary(device) { remove(device.path) }
      if !devices.isEmpty { armSweep() }
    }
  }
}
