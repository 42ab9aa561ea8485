import BledRPC
import Bluetooth

/// The objects of the adapters: `/org/bluez/hci0` and so on.
final class Adapters {
  /// The manufacturer identifier of the Linux Foundation, and the product that programs take for BlueZ.
  private static let modalias = "usb:v1D6Bp0246d0552"
  /// The class of a computer, for programs that want one although it belongs to the classic transport (Assigned
  /// Numbers, 2.8).
  private static let computer: UInt32 = 0x10c

  /// The paths by the adapter's name at bled, in the order of bled.
  private(set) var paths: [(adapter: String, path: String)] = []
  private let context: Context
  /// Called with the path of an adapter that was switched on or off.
  var powerChanged: (String) -> Void = { _ in }

  init(_ context: Context) { self.context = context }

  func path(of adapter: String) -> String? { paths.first { $0.adapter == adapter }?.path }

  /// bled's name of the adapter of an object or of a device below it.
  func adapter(at path: String) -> String? {
    paths.first { path == $0.path || path.utf8.starts(with: ($0.path + "/").utf8) }?.adapter
  }

  /// bled's name of the adapter with this address.
  func adapter(address: String) -> String? {
    paths.first { context.tree.value($0.path, .adapter, "Address") == .string(address) }?.adapter
  }

  func isOn(_ path: String) -> Bool { context.tree.value(path, .adapter, "Powered") == .boolean(true) }

  /// An adapter is there, or has changed.
  func update(_ adapter: AdapterDescription) {
    guard adapter.state != "absent" else { return remove(adapter.adapter) }
    // Programs expect an address.
    guard let address = adapter.address else { return }
    let isOn = adapter.state == "on"
    let path = path(of: adapter.adapter) ?? add(adapter, address)
    let values: ObjectTree.Properties = [
      ("Address", .string(address)), ("AddressType", .string(adapter.addressType?.text ?? "public")),
      ("Name", .string(adapter.name)), ("Alias", .string(adapter.deviceName ?? adapter.name)),
      ("Powered", .boolean(isOn)), ("PowerState", .string(Self.powerState(adapter))),
    ]
    let wasOn = self.isOn(path)
    for (name, value) in values { context.tree.set(path, .adapter, name, value) }
    if isOn != wasOn { powerChanged(path) }
    if let company = adapter.company {
      context.tree.set(path, .adapter, "Manufacturer", .uint16(UInt16(clamping: company)))
    }
    if let version = adapter.version { context.tree.set(path, .adapter, "Version", .byte(UInt8(clamping: version))) }
  }

  private static func powerState(_ adapter: AdapterDescription) -> String {
    if adapter.state == "on" { return "on" }
    return adapter.problem?.kind == "blocked" ? "off-blocked" : "off"
  }

  private func add(_ adapter: AdapterDescription, _ address: String) -> String {
    let path = "/org/bluez/" + newName(adapter.adapter)
    paths.append((adapter.adapter, path))
    context.tree.add(
      path,
      [
        (.adapter, Self.properties(adapter, address)),
        (.gattManager, []),
        (.advertisingManager, Self.advertising),
        (
          .monitorManager,
          [("SupportedMonitorTypes", .strings(["or_patterns"])), ("SupportedFeatures", .strings([]))]
        ),
      ])
    return path
  }

  /// "hci0" stays; any other becomes the first free hciN, because programs cut paths behind one digit.
  private func newName(_ adapter: String) -> String {
    let taken = Set(paths.map { String($0.path.dropFirst("/org/bluez/".count)) })
    let digits = adapter.utf8.dropFirst(3)
    let isIndex = !digits.isEmpty && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
    if adapter.utf8.starts(with: "hci".utf8), isIndex, !taken.contains(adapter) { return adapter }
    return "hci\((0...).first { !taken.contains("hci\($0)") } ?? 0)"
  }

  private static func properties(_ adapter: AdapterDescription, _ address: String) -> ObjectTree.Properties {
    [
      ("Address", .string(address)), ("AddressType", .string(adapter.addressType?.text ?? "public")),
      ("Name", .string(adapter.name)), ("Alias", .string(adapter.deviceName ?? adapter.name)),
      ("Class", .uint32(computer)),
      ("Powered", .boolean(adapter.state == "on")), ("PowerState", .string(powerState(adapter))),
      ("Discoverable", .boolean(false)), ("DiscoverableTimeout", .uint32(180)), ("Connectable", .boolean(true)),
      ("Pairable", .boolean(true)), ("PairableTimeout", .uint32(0)), ("Discovering", .boolean(false)),
      ("UUIDs", .strings(["00001800", "00001801"].map { $0 + "-0000-1000-8000-00805f9b34fb" })),
      ("Modalias", .string(modalias)), ("Roles", .strings(["central", "peripheral", "central-peripheral"])),
      ("ExperimentalFeatures", .strings([])),
    ]
  }

  private static let advertising: ObjectTree.Properties = [
    ("ActiveInstances", .byte(0)), ("SupportedInstances", .byte(8)),
    ("SupportedIncludes", .strings(["tx-power", "appearance", "local-name"])),
    ("SupportedSecondaryChannels", .strings(["1M", "2M", "Coded"])),
    (
      "SupportedCapabilities",
      .options([
        ("MaxAdvLen", .byte(31)), ("MaxScnRspLen", .byte(31)), ("MinTxPower", .int16(-127)), ("MaxTxPower", .int16(20)),
      ])
    ),
    ("SupportedFeatures", .strings(["CanSetTxPower"])),
  ]

  func remove(_ adapter: String) {
    guard let index = paths.firstIndex(where: { $0.adapter == adapter }) else { return }
    context.tree.remove(paths.remove(at: index).path)
  }

  /// bled is gone: what is known of the adapters stays, switched off.
  func lose() {
    for (_, path) in paths {
      context.tree.set(path, .adapter, "Powered", .boolean(false))
      context.tree.set(path, .adapter, "PowerState", .string("off"))
      powerChanged(path)
    }
  }

  /// Sets a property that a program may set; what needs bled is done in the program's session.
  func set(
    _ path: String, _ name: String, _ value: BusValue, by client: BusClient,
    _ completion: @escaping (Result<Void, BusError>) -> Void
  ) {
    switch name {
    case "Powered":
      guard let adapter = adapter(at: path), let on = value.boolean else { return completion(.failure(.doesNotExist)) }
      guard isOn(path) != on else { return completion(.success(())) }
      client.session.call(AdapterPower.self, AdapterPower.Params(adapter: adapter, on: on)) { [weak self] result in
        switch result {
        case .success(let adapter):
          self?.update(adapter)
          let isBlocked = on && adapter.problem?.kind == "blocked"
          completion(isBlocked ? .failure(.blocked) : .success(()))
        case .failure(let error): completion(.failure(BusError(error, otherwise: .failed(error.message))))
        }
      }
    case "Alias": rename(value.string ?? "", by: client, completion)
    default:
      client.require(.adapters) { [context] result in
        if case .success = result { context.tree.set(path, .adapter, name, value.unwrapped) }
        completion(Self.tolerant(result))
      }
    }
  }

  /// Programs of ordinary users set some properties at their start, and give up if that is refused: these stay as they
  /// are without an error.
  private static func tolerant(_ result: Result<Void, BusError>) -> Result<Void, BusError> {
    if case .failure(.notAuthorized) = result { .success(()) } else { result }
  }

  /// Sets the name under which devices see this machine; an empty one is that of bled's configuration again.
  private func rename(
    _ alias: String, by client: BusClient, _ completion: @escaping (Result<Void, BusError>) -> Void
  ) {
    client.session.call(AdapterSetName.self, AdapterSetName.Params(name: alias.isEmpty ? nil : alias)) {
      [weak self, context] result in
      // The change is told before the answer; without a name it is not known before bled tells it.
      if case .success = result, !alias.isEmpty {
        for (_, path) in self?.paths ?? [] { context.tree.set(path, .adapter, "Alias", .string(alias)) }
      }
      completion(Self.tolerant(result.map { _ in }.mapError { BusError($0, otherwise: .failed($0.message)) }))
    }
  }
}
