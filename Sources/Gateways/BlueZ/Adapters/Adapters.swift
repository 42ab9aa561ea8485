import BledRPC
import Bluetooth

/// The objects of the adapters: `/org/bluez/hci0` and so on.
final class Adapters {
  /// The manufacturer identifier of the Linux Foundation, and the product by which programs recognise BlueZ.
  private static let modalias = "usb:v1D6Bp0246d0552"
  /// The class of a computer, for programs that require one although it belongs to the classic transport (Assigned
  /// Numbers, 2.8).
  private static let computer: UInt32 = 0x10c

  /// The paths by the adapter's name at bled, in the order of bled.
  private(set) var paths: [(adapter: String, path: String)] = []
  private let context: Context
  /// The name of the machine.
  private let host: String
  /// Called with the path of an adapter that was switched on or off.
  var powerChanged: (String) -> Void = { _ in }

  init(_ context: Context, host: String) {
    self.context = context
    self.host = host
  }

  func path(of adapter: String) -> String? { paths.first { $0.adapter == adapter }?.path }

  /// bled's name of an object's adapter, or of the adapter of a device below it.
  func adapter(at path: String) -> String? {
    paths.first { path == $0.path || path.utf8.starts(with: ($0.path + "/").utf8) }?.adapter
  }

  /// bled's name of the adapter with this address.
  func adapter(address: String) -> String? {
    paths.first { context.tree.value($0.path, .adapter, "Address") == .string(address) }?.adapter
  }

  func isOn(_ path: String) -> Bool { context.tree.value(path, .adapter, "Powered") == .boolean(true) }

  /// An adapter appeared or has changed.
  func update(_ adapter: AdapterDescription) {
    guard adapter.state != "absent" else { return remove(adapter.adapter) }
    // Programs expect an address.
    guard let address = adapter.address else { return }
    let isOn = adapter.state == "on"
    let path = path(of: adapter.adapter) ?? add(adapter, address)
    let values: ObjectTree.Properties = [
      ("Address", .string(address)), ("AddressType", .string(adapter.addressType?.text ?? "public")),
      ("Alias", .string(adapter.deviceName ?? host)), ("Powered", .boolean(isOn)),
      ("PowerState", .string(Self.powerState(adapter))),
    ]
    let wasOn = self.isOn(path)
    for (name, value) in values { context.tree.set(path, .adapter, name, value) }
    if isOn != wasOn { powerChanged(path) }
    if let company = adapter.company {
      context.tree.set(path, .adapter, "Manufacturer", .uint16(UInt16(clamping: company)))
    }
    if let version = adapter.version { context.tree.set(path, .adapter, "Version", .byte(UInt8(clamping: version))) }
    AdvertisingAbilities(adapter)?.show(path, &context.tree)
  }

  private static func powerState(_ adapter: AdapterDescription) -> String {
    if adapter.state == "on" { return "on" }
    return adapter.problem?.kind == "blocked" ? "off-blocked" : "off"
  }

  private func add(_ adapter: AdapterDescription, _ address: String) -> String {
    let name = newName(adapter.adapter)
    let path = "/org/bluez/" + name
    paths.append((adapter.adapter, path))
    context.tree.add(
      path,
      [
        (.adapter, properties(adapter, address, at: name)),
        (.gattManager, []),
        (.advertisingManager, AdvertisingAbilities.counts(active: 0)),
        (.batteryProviderManager, []),
        (
          .monitorManager,
          [("SupportedMonitorTypes", .strings(["or_patterns"])), ("SupportedFeatures", .strings([]))]
        ),
      ])
    AdvertisingAbilities().show(path, &context.tree)
    return path
  }

  /// The name of an adapter: the machine's, with a number from the second one on, as at BlueZ.
  private func title(of name: String) -> String {
    let index = Int(name.dropFirst("hci".count)) ?? 0
    return index > 0 ? "\(host) #\(index + 1)" : host
  }

  /// "hci0" stays; any other becomes the first free hciN, because programs cut paths behind one digit.
  private func newName(_ adapter: String) -> String {
    let taken = Set(paths.map { String($0.path.dropFirst("/org/bluez/".count)) })
    let digits = adapter.utf8.dropFirst(3)
    let isIndex = !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    if adapter.utf8.starts(with: "hci".utf8), isIndex, !taken.contains(adapter) { return adapter }
    return "hci\((0...).first { !taken.contains("hci\($0)") } ?? 0)"
  }

  private func properties(
    _ adapter: AdapterDescription, _ address: String, at name: String
  ) -> ObjectTree.Properties {
    [
      ("Address", .string(address)), ("AddressType", .string(adapter.addressType?.text ?? "public")),
      ("Name", .string(title(of: name))), ("Alias", .string(adapter.deviceName ?? host)),
      ("Class", .uint32(Self.computer)),
      ("Powered", .boolean(adapter.state == "on")), ("PowerState", .string(Self.powerState(adapter))),
      ("Discoverable", .boolean(false)), ("DiscoverableTimeout", .uint32(180)), ("Connectable", .boolean(true)),
      ("Pairable", .boolean(true)), ("PairableTimeout", .uint32(0)), ("Discovering", .boolean(false)),
      ("UUIDs", .strings(["00001800", "00001801"].map { $0 + "-0000-1000-8000-00805f9b34fb" })),
      ("Modalias", .string(Self.modalias)), ("Roles", .strings(["central", "peripheral", "central-peripheral"])),
    ]
  }

  func remove(_ adapter: String) {
    guard let index = paths.firstIndex(where: { $0.adapter == adapter }) else { return }
    context.tree.remove(paths.remove(at: index).path)
  }

  /// The connection to bled is lost: the known adapters stay, switched off.
  func lose() {
    for (_, path) in paths {
      context.tree.set(path, .adapter, "Powered", .boolean(false))
      context.tree.set(path, .adapter, "PowerState", .string("off"))
      powerChanged(path)
    }
  }

  // MARK: Properties that programs set

  func switchPower(_ change: PropertyChange) {
    let path = change.call.path
    guard let adapter = adapter(at: path), let on = change.value.boolean else {
      return context.fail(change.call, .doesNotExist)
    }
    guard isOn(path) != on else { return context.reply(change.call) }
    change.client.session.call(AdapterPower.self, AdapterPower.Params(adapter: adapter, on: on)) {
      [weak self, context] result in
      switch result {
      case .success(let adapter):
        self?.update(adapter)
        let isBlocked = on && adapter.problem?.kind == "blocked"
        context.finish(change.call, isBlocked ? .failure(BusError.blocked) : .success(()))
      case .failure(let error): context.fail(change.call, BusError(error, otherwise: .failed(error.message)))
      }
    }
  }

  /// Keeps a value that has no effect.
  func keep(_ change: PropertyChange) {
    change.client.require(.adapters) { [context] result in
      if case .success = result { context.tree.set(change.call.path, .adapter, change.name, change.value) }
      context.finish(change.call, Self.tolerant(result))
    }
  }

  /// Programs of ordinary users set some properties at their start, and give up if that is refused: these stay as they
  /// are without an error.
  private static func tolerant(_ result: Result<Void, BusError>) -> Result<Void, BusError> {
    if case .failure(.notAuthorized) = result { .success(()) } else { result }
  }

  /// Sets the name under which devices see this machine; an empty one restores the name of bled's configuration.
  func rename(_ change: PropertyChange) {
    let alias = change.value.string ?? ""
    change.client.session.call(AdapterSetName.self, AdapterSetName.Params(name: alias.isEmpty ? nil : alias)) {
      [weak self, context] result in
      // The change is reported before the answer; without a name it is unknown until bled reports it.
      if case .success = result, !alias.isEmpty {
        for (_, path) in self?.paths ?? [] { context.tree.set(path, .adapter, "Alias", .string(alias)) }
      }
      let outcome = result.map { _ in }.mapError { BusError($0, otherwise: .failed($0.message)) }
      context.finish(change.call, Self.tolerant(outcome))
    }
  }
}
