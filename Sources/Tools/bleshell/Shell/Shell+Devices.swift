import BledClient
import BledRPC
import Bluetooth

extension Shell {
  /// Calls a function with a device: the named one, connected for that long, or the current one.
  /// - Parameters:
  ///   - deadline: The time limit for all of it.
  ///   - adapter: The adapter to use; nil: any.
  ///   - onlyConnecting: True if the limit is for the connection alone, and the function may take longer.
  func use(
    _ name: String?, within deadline: Deadline, over adapter: String? = nil, onlyConnecting: Bool = false,
    _ body: @escaping @MainActor (Device) async throws -> Void
  ) async throws {
    guard !onlyConnecting else { return try await use(name, deadline, adapter, body) }
    try await deadline.bound { @MainActor in try await self.use(name, deadline, adapter, body) }
  }

  private func use(
    _ name: String?, _ deadline: Deadline, _ adapter: String?, _ body: @MainActor (Device) async throws -> Void
  ) async throws {
    guard let name else {
      guard let current = devices.current else { throw Failure("no device is connected: name one, or connect first") }
      return try await body(try checked(current, adapter))
    }
    if let device = devices.find(name) { return try await body(try checked(device, adapter)) }
    let device = try await connect(name, within: deadline, over: adapter)
    do {
      try await body(device)
    } catch {
      await release(device)
      throw error
    }
    await release(device)
  }

  /// The current device, for a command that works on no other.
  /// - Throws: `Failure` if there is none: a command of a shell's line can have none.
  func currentDevice(for command: String) throws(Failure) -> Device {
    if let current = devices.current { return current }
    throw Failure(
      isLineMode
        ? "no device is connected: connect first"
        : "\(command) needs a device that is connected before it: give both in line mode (\"bleshell connect DEVICE\") "
          + "or in a file for \"bleshell run\"", status: isLineMode ? 1 : 64)
  }

  /// A device that is connected already cannot be reached over another adapter.
  private func checked(_ device: Device, _ adapter: String?) throws -> Device {
    let connected = device.peripheral.link.adapter
    guard let adapter, adapter != connected else { return device }
    throw Failure("\(device.name) is connected over \(connected): disconnect first", status: 64)
  }

  /// Disconnects from a device, also when the task was cancelled. It is not an error if it has already disconnected.
  func release(_ device: Device) async {
    _ = await Task { try? await device.peripheral.disconnect() }.value
  }

  /// Connects to a device by name, address or identifier.
  /// - Parameters:
  ///   - deadline: The time limit.
  ///   - adapter: The adapter to use; nil: any.
  ///   - reconnects: True to reconnect whenever the connection is lost.
  ///   - parameters: The wanted parameters of the connection.
  ///   - phy: The wanted PHY.
  func connect(
    _ text: String, within deadline: Deadline, over adapter: String? = nil, reconnects: Bool = false,
    parameters: LinkWish? = nil, phy: PHYChoice? = nil
  ) async throws -> Device {
    try await requireAdapter()
    let finder = try await finder()
    let found = try await finder.find(text, within: deadline, over: adapter)
    if !reconnects { try await finder.checkConnectable(found, within: deadline) }
    let peripheral = try await connect(
      to: found.reference, called: found.name, within: deadline, over: adapter, reconnects: reconnects,
      parameters: parameters,
      phy: phy)
    return Device(peripheral: peripheral, name: found.name, names: names(), output: output)
  }

  /// Connects to the first device that advertises a service.
  /// - Parameters: As `connect` with a name.
  func connect(
    service: BluetoothUUID, within deadline: Deadline, over adapter: String? = nil, reconnects: Bool = false,
    parameters: LinkWish? = nil, phy: PHYChoice? = nil
  ) async throws -> Device {
    try await requireAdapter()
    let peripheral = try await connect(
      to: .service(service), called: "a device with the service \(Attribute.title(service))", within: deadline,
      over: adapter, reconnects: reconnects, parameters: parameters, phy: phy)
    let known = try await connection().call(PeripheralList.self, Empty()).peripherals
    let name = known.first { $0.peripheral == peripheral.identifier }?.name
    let names = names()
    let own = names.name(ofDevice: peripheral.link.address)
    return Device(
      peripheral: peripheral, name: own ?? name ?? peripheral.link.address, names: names, output: output)
  }

  private func connect(
    to reference: DeviceReference, called name: String, within deadline: Deadline, over adapter: String?,
    reconnects: Bool, parameters: LinkWish?, phy: PHYChoice?
  ) async throws -> Peripheral {
    let client = try await connection()
    let progress = output.progress("Connecting to \(name)")
    defer { progress.end() }
    let waiting = client.observe(PeripheralConnectWaiting.self) { [output] event in
      Task {
        // Another device may be waited for at the same time.
        let known = try? await client.call(PeripheralList.self, Empty()).peripherals
        guard reference.denotes(event.peripheral, among: known ?? []) else { return }
        output.problem("still waiting for \(name): \(event.reason.message)")
      }
    } end: { _ in
    }
    defer { waiting.cancel() }
    let timeout = deadline.seconds
    return try await client.connect(
      reference, adapter: adapter, timeout: timeout > 0 ? .seconds(timeout) : nil, reconnects: reconnects,
      parameters: parameters,
      phy: phy)
  }

  /// Fails if no adapter can be used, with the daemon's remedy.
  func requireAdapter() async throws {
    let adapters = try await connection().call(AdapterList.self, Empty()).adapters
    guard !adapters.contains(where: { ["on", "starting", "suspended"].contains($0.state) }) else { return }
    guard !adapters.isEmpty else {
      throw Failure("bled has no adapter: plug one in, or start it with --adapter simulated", passes: true)
    }
    let states = adapters.map { adapter in
      adapter.problemText ?? "adapter \(adapter.adapter) is \(adapter.state): \(adapter.remedy)"
    }
    throw Failure(states.joined(separator: "\n"), passes: true)
  }
}

extension DeviceReference {
  /// True if the device with an identifier is meant; true where that is not known before it is connected.
  /// - Parameter known: The devices that the daemon knows.
  func denotes(_ identifier: String, among known: [PeripheralList.Entry]) -> Bool {
    switch self {
    case .identifier(let own): return identifier == own
    case .address(let address, let type):
      let entry = known.first { $0.peripheral == identifier }
      return entry?.address == address && (type == nil || entry?.addressType.known == type)
    case .name, .namePrefix, .service: return true
    }
  }
}

extension AdapterDescription {
  /// Its problem and the remedy, with its name; nil if it has none.
  var problemText: String? {
    guard let problem else { return nil }
    let text = "\(problem.message); \(problem.remedy)"
    return text.hasPrefix("\(adapter) ") ? text : "\(adapter): \(text)"
  }

  /// The remedy for an adapter that cannot be used.
  var remedy: String {
    if state.known == .off { return "switch it on with \"bleshell power on --adapter \(adapter)\"" }
    return "plug it in; bled then uses it automatically"
  }
}
