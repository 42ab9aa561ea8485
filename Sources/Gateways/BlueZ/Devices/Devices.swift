import BledRPC
import Bluetooth

/// The known devices, with their objects.
///
/// A device stays while it is connected, paired, trusted or blocked, and a device that was connected stays as long as
/// its settings are remembered. Any other is removed `lifetime` after it was last received. From `maximum` devices on,
/// a received device gets a place only when another was silent for `silence`, so that objects are not added and removed
/// all the time; a device that a program connects to replaces the one received the longest ago.
final class Devices {
  /// Longer than the 30 s of bluetoothd, whose users miss devices.
  static let lifetime = Duration.seconds(180)
  static let maximum = 1000
  static let silence = Duration.seconds(30)

  private let context: Context
  private let adapters: Adapters
  private var devices: [String: Device] = [:]
  /// The paths by bled's name of the device and of the adapter.
  private var paths: [String: [String: String]] = [:]
  private var sweep: (any ScheduledWork)?
  /// No device can have been silent for `silence` before.
  private var nextSilence = Instant.zero

  private var settings: SettingsTable
  /// Called when the settings have changed.
  var settingsChanged: ([String: DeviceSettings]) -> Void = { _ in }

  /// Called when a device has another identifier: its keys may have been removed with the earlier one.
  var identified: () -> Void = {}
  /// Notified before the object of a device is removed.
  var observers = DeviceObservers([])

  init(_ context: Context, _ adapters: Adapters, settings: [String: DeviceSettings]) {
    self.context = context
    self.adapters = adapters
    self.settings = SettingsTable(settings)
  }

  subscript(path: String) -> Device? { devices[path] }

  var all: [Device] { Array(devices.values) }

  func path(_ key: Device.Key) -> String? { paths[key.peripheral]?[key.adapter] }

  /// The objects of one of bled's devices, one for each adapter that knows it.
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
  ///   - isHeard: true if it was received, and no program has requested it.
  /// - Returns: nil without the adapter, or without a place for a received device.
  func add(
    _ key: Device.Key, address: String, addressType: String, _ properties: ObjectTree.Properties = [],
    isHeard: Bool = false
  ) -> String? {
    if let path = path(key) { return path }
    guard let adapter = adapters.path(of: key.adapter) else { return nil }
    let path = Device.path(adapter, address)
    if let other = devices[path] {
      guard !flag(path, "Connected") else { return nil }
      if other.addressType == addressType {
        identify(path, as: key)
        return path
      }
      // Objects have one place for an address of both types.
      guard !flag(path, "Paired") else { return nil }
      remove(path)
    }
    guard devices.count < Self.maximum || dropSilent() || !isHeard else { return nil }
    let device = Device(
      key: key, path: path, address: address, addressType: addressType, lastHeard: context.clock.now)
    devices[path] = device
    paths[key.peripheral, default: [:]][key.adapter] = path
    let properties = properties + remembered(device)
    let given = Set(properties.map(\.name))
    context.tree.add(
      path,
      [(.device, Self.initial(adapter, address, addressType).filter { !given.contains($0.name) } + properties)])
    if devices.count > Self.maximum { dropOldest() }
    armSweep()
    return path
  }

  /// bled knows a device by another identifier, for instance because it was forgotten meanwhile.
  func identify(_ path: String, as key: Device.Key) {
    guard let device = devices[path], device.key != key else { return }
    forgetKey(of: device)
    devices[path]?.key = key
    paths[key.peripheral, default: [:]][key.adapter] = path
    identified()
  }

  /// A device that used a private address has revealed its identity. Its object stays in place, as at BlueZ.
  func identify(_ path: String, address: String, addressType: String) {
    guard let device = devices[path], device.settingsKey != Device.settingsKey(address, addressType) else { return }
    change(path) { ($0.address, $0.addressType) = (address, addressType) }
    if settings.move(device.settingsKey, to: Device.settingsKey(address, addressType)) {
      settingsChanged(settings.entries)
    }
    set(path, "Address", .string(address.uppercased()))
    set(path, "AddressType", .string(addressType))
    showAlias(path)
  }

  private func forgetKey(of device: Device) {
    paths[device.key.peripheral]?[device.key.adapter] = nil
    if paths[device.key.peripheral]?.isEmpty == true { paths[device.key.peripheral] = nil }
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

  /// A device has revealed its name; an alias set by a program stays.
  func name(_ path: String, _ name: String) {
    guard let device = devices[path] else { return }
    set(path, "Name", .string(name))
    if settings[device.settingsKey]?.alias == nil { set(path, "Alias", .string(name)) }
  }

  func trust(_ change: PropertyChange) {
    guard let isTrusted = change.value.boolean else { return context.fail(change.call, .wrongArguments) }
    settle(change) { [self] path in
      self.change(path, settings: { $0.isTrusted = isTrusted })
      set(path, "Trusted", .boolean(isTrusted))
    }
  }

  /// An empty alias stands for the device's own name.
  func rename(_ change: PropertyChange) {
    let alias = change.value.string ?? ""
    guard alias.utf8.count <= DeviceSettings.longestAlias else {
      return context.fail(change.call, .invalid("an alias has at most \(DeviceSettings.longestAlias) octets"))
    }
    settle(change) { [self] path in
      self.change(path, settings: { $0.alias = alias.isEmpty ? nil : alias })
      showAlias(path)
    }
  }

  /// Sets a property of the settings, with the permission to use devices.
  private func settle(_ change: PropertyChange, _ work: @escaping (String) -> Void) {
    change.client.require(.connect) { [context] result in
      if case .success = result { work(change.call.path) }
      context.finish(change.call, result)
    }
  }

  /// bled refuses connections with the device.
  func block(_ change: PropertyChange) {
    let path = change.call.path
    guard let device = devices[path], let isOn = change.value.boolean else {
      return context.fail(change.call, .doesNotExist)
    }
    change.client.session.call(
      AdapterBlock.self, AdapterBlock.Params(peripheral: device.key.peripheral, on: isOn)
    ) { [weak self, context] result in
      if case .success = result { self?.set(path, "Blocked", .boolean(isOn)) }
      context.finish(change.call, result.mapError { BusError($0, otherwise: .failed($0.message)) })
    }
  }

  /// A program has connected to a device: it is remembered. A private address changes, and is not.
  func connected(_ path: String) {
    guard let device = devices[path], !device.isPrivate else { return }
    let key = device.settingsKey
    if settings.isNewest(key), settings[key]?.wasConnected == true { return }
    change(path, settings: { $0.wasConnected = true })
  }

  /// True if a device without an object is remembered.
  func remembers(_ address: String, _ addressType: String) -> Bool {
    settings[Device.settingsKey(address, addressType)] != nil
  }

  private func showAlias(_ path: String) {
    guard let device = devices[path] else { return }
    let name = context.tree.value(path, .device, "Name") ?? Self.alias(device.address)
    set(path, "Alias", settings[device.settingsKey]?.alias.map(BusValue.string) ?? name)
  }

  private func change(_ path: String, settings change: (inout DeviceSettings) -> Void) {
    guard let device = devices[path] else { return }
    if let victim = settings.change(device.settingsKey, change) {
      for other in all where other.settingsKey == victim {
        set(other.path, "Trusted", .boolean(false))
        showAlias(other.path)
      }
    }
    settingsChanged(settings.entries)
  }

  /// Removes a device with its settings.
  func forget(_ path: String) {
    if let device = devices[path], settings.remove(device.settingsKey) { settingsChanged(settings.entries) }
    remove(path)
  }

  func remove(_ path: String) {
    guard let device = devices[path] else { return }
    observers.leaving(device)
    devices[path] = nil
    forgetKey(of: device)
    context.tree.remove(path)
  }

  /// An adapter was removed with all its devices.
  func remove(of adapter: String) {
    for device in all where device.key.adapter == adapter { remove(device.path) }
  }

  // MARK: Lifetime

  /// True if a device was connected or paired, or is trusted or blocked: its object stays.
  func isKept(_ device: Device) -> Bool { !isTemporary(device) }

  private func isTemporary(_ device: Device) -> Bool {
    !flag(device.path, "Connected") && !flag(device.path, "Paired") && !flag(device.path, "Trusted")
      && !flag(device.path, "Blocked") && settings[device.settingsKey]?.wasConnected != true
  }

  /// Removes the devices that were silent.
  /// - Returns: true if there were any.
  private func dropSilent() -> Bool {
    let now = context.clock.now
    guard nextSilence <= now else { return false }
    let temporary = devices.values.filter(isTemporary)
    let silent = temporary.filter { $0.lastHeard.advanced(by: Self.silence) <= now }
    for device in silent { remove(device.path) }
    guard silent.isEmpty else { return true }
    nextSilence = (temporary.map(\.lastHeard).min() ?? now).advanced(by: Self.silence)
    return false
  }

  private func dropOldest() {
    let oldest = devices.values.filter(isTemporary).min { $0.lastHeard < $1.lastHeard }
    if let oldest { remove(oldest.path) }
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
