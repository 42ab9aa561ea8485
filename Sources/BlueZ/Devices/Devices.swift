import Adapter
import BledRPC
import Bluetooth

/// The devices that are known, with their objects.
///
/// A device stays while it is connected or paired. Any other goes `lifetime` after it was heard last, or when there are
/// more than `most`: the one that was heard the longest ago.
final class Devices {
  /// Longer than the 30 s of bluetoothd, whose users miss devices.
  static let lifetime = Duration.seconds(180)
  static let most = 500

  private let context: Context
  private let adapters: Adapters
  private var devices: [String: Device] = [:]
  private var paths: [Device.Key: String] = [:]
  private var sweep: (any ScheduledWork)?

  /// Called before the object of a device goes.
  var leaving: (Device) -> Void = { _ in }

  init(_ context: Context, _ adapters: Adapters) {
    self.context = context
    self.adapters = adapters
  }

  subscript(path: String) -> Device? { devices[path] }

  var all: [Device] { Array(devices.values) }

  func path(_ key: Device.Key) -> String? { paths[key] }

  /// The objects of a device of bled, one for each adapter that knows it.
  func all(_ peripheral: String) -> [Device] { devices.values.filter { $0.key.peripheral == peripheral } }

  func change(_ path: String, _ change: (inout Device) -> Void) {
    guard devices[path] != nil else { return }
    change(&devices[path]!)
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
    if let path = paths[key] { return path }
    guard let adapter = adapters.path(of: key.adapter) else { return nil }
    let path = adapter + "/dev_" + String(address.map { $0 == ":" ? "_" : $0 }).uppercased()
    // A device of the other address type, or one that was forgotten: objects have one place for an address.
    if let other = devices[path] {
      guard !flag(path, "Connected"), !flag(path, "Paired") else { return nil }
      remove(other.path)
    }
    devices[path] = Device(key: key, path: path, address: address, lastHeard: context.clock.now)
    paths[key] = path
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
      ("Alias", .string(String(address.map { $0 == ":" ? "-" : $0 }).uppercased())),
      ("Paired", .boolean(false)), ("Bonded", .boolean(false)), ("Trusted", .boolean(false)),
      ("Blocked", .boolean(false)), ("LegacyPairing", .boolean(false)), ("CablePairing", .boolean(false)),
      ("Connected", .boolean(false)), ("ServicesResolved", .boolean(false)), ("UUIDs", .strings([])),
    ]
  }

  func remove(_ path: String) {
    guard let device = devices[path] else { return }
    leaving(device)
    devices[path] = nil
    paths[device.key] = nil
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
    guard devices.count > Self.most else { return }
    // A few at a time, so that the search is rare.
    let old = devices.values.filter(isTemporary).sorted { $0.lastHeard < $1.lastHeard }
    for device in old.prefix(Self.most / 10) { remove(device.path) }
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
