import BledClient
import BledRPC
import Bluetooth

extension Shell {
  /// Calls a function with a device: the named one, connected for that long, or the current one.
  /// - Parameters:
  ///   - timeout: Seconds to look for the device, and then to connect; 0: no limit.
  ///   - limit: Seconds for all of it; nil or 0: no limit.
  func use(
    _ name: String?, timeout: Double, limit: Double? = nil, _ body: @escaping @MainActor (Device) async throws -> Void
  ) async throws {
    guard let limit, limit > 0 else { return try await use(name, timeout: timeout, body) }
    // What has a limit of its own reports it first, with more to say.
    let done: Void? = try await withDeadline(limit + 0.2) { @MainActor in
      try await self.use(name, timeout: timeout, body)
    }
    if done == nil { throw Failure("it was not done within \(limit) s") }
  }

  private func use(
    _ name: String?, timeout: Double, _ body: @MainActor (Device) async throws -> Void
  ) async throws {
    guard let name else {
      guard let current else { throw Failure("no device is connected: name one, or connect first") }
      return try await body(current)
    }
    if let device = connected(name) { return try await body(device) }
    let device = try await connect(name, timeout: timeout)
    do {
      try await body(device)
    } catch {
      await release(device)
      throw error
    }
    await release(device)
  }

  /// The device that `connect` connected and that a text denotes, by the rules of other devices; nil: none, or several.
  func connected(_ text: String) -> Device? {
    let candidates = devices.map { Candidate($0.peripheral.identifier, $0.name, $0.peripheral.link.address) }
    guard let found = try? choose(text, among: candidates) else { return nil }
    return devices.first { $0.peripheral.identifier == found.identifier }
  }

  /// Disconnects from a device, also when the task was cancelled. It is not an error if it has already disconnected.
  func release(_ device: Device) async {
    _ = await Task { try? await device.peripheral.disconnect() }.value
  }

  /// Connects to a device by name, address or identifier.
  /// - Parameters:
  ///   - timeout: Seconds for the search, and then for the connection; 0: no limit.
  ///   - reconnects: Whether to reconnect whenever the connection is lost.
  ///   - parameters: What is wanted of the connection's parameters.
  ///   - phy: The PHY that it is to have.
  func connect(
    _ text: String, timeout: Double, reconnects: Bool = false, parameters: LinkWish? = nil, phy: String? = nil
  ) async throws -> Device {
    try await requireAdapter()
    let (reference, name) = try await find(text, timeout: timeout)
    let peripheral = try await connect(
      to: reference, called: name, timeout: timeout, reconnects: reconnects, parameters: parameters, phy: phy)
    return Device(peripheral: peripheral, name: name, output: output)
  }

  /// Connects to the first device that advertises a service.
  /// - Parameters: As `connect` with a name; the time is that of the search and of the connection together.
  func connect(
    service: BluetoothUUID, timeout: Double, reconnects: Bool = false, parameters: LinkWish? = nil, phy: String? = nil
  ) async throws -> Device {
    try await requireAdapter()
    let peripheral = try await connect(
      to: .service(service), called: "a device with the service \(Attribute.title(service))", timeout: timeout,
      reconnects: reconnects, parameters: parameters, phy: phy)
    let known = try await connection().call(PeripheralList.self, Empty()).peripherals
    let name = known.first { $0.peripheral == peripheral.identifier }?.name
    return Device(peripheral: peripheral, name: name ?? peripheral.link.address, output: output)
  }

  private func connect(
    to reference: DeviceReference, called name: String, timeout: Double, reconnects: Bool,
    parameters: LinkWish?, phy: String?
  ) async throws -> Peripheral {
    let client = try await connection()
    let progress = output.progress("Connecting to \(name)")
    defer { progress.end() }
    let waiting = client.observe(PeripheralConnectWaiting.self) { [output] event in
      output.problem("still waiting for \(name): \(event.reason.message)")
    } end: { _ in
    }
    defer { waiting.cancel() }
    return try await client.connect(
      reference, timeout: timeout > 0 ? .seconds(timeout) : nil, reconnects: reconnects, parameters: parameters,
      phy: phy)
  }

  /// Fails if no adapter can be used, with the daemon's remedy.
  func requireAdapter() async throws {
    let adapters = try await connection().call(AdapterList.self, Empty()).adapters
    guard !adapters.contains(where: { ["on", "starting", "suspended"].contains($0.state) }) else { return }
    guard !adapters.isEmpty else {
      throw Failure("bled has no adapter: plug one in, or start it with --adapter simulated")
    }
    let states = adapters.map { adapter in
      let problem = adapter.problem.map { ": \($0.message) \($0.remedy)" }
      return "adapter \(adapter.adapter) is \(adapter.state)\(problem ?? ": \(remedy(adapter))")"
    }
    throw Failure(states.joined(separator: "\n"))
  }

  private func remedy(_ adapter: AdapterDescription) -> String {
    switch adapter.state {
    case "off": "switch it on with \"bleshell power on --adapter \(adapter.adapter)\""
    default: "plug it in; bled then uses it automatically"
    }
  }

  /// A device that the daemon knows, by name, address or identifier.
  func known(_ text: String) async throws -> (identifier: String, name: String) {
    let known = try await connection().call(PeripheralList.self, Empty()).peripherals
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    let meant = known.filter {
      $0.address == parts.first?.uppercased() && (parts.count == 1 || parts.last == $0.addressType)
    }
    let candidates = (meant.isEmpty ? known : meant).map { Candidate($0.peripheral, $0.name, $0.address) }
    let match = meant.count == 1 ? candidates.first : try choose(text, among: candidates)
    guard let match else {
      throw Failure(
        "bled does not know the device \(text)\(Suggestion.question(text, among: known.compactMap(\.name))); "
          + "\"bleshell peripherals\" lists those that it knows")
    }
    return (match.identifier, match.name ?? match.address)
  }

  private func find(_ text: String, timeout: Double) async throws -> (DeviceReference, name: String) {
    let client = try await connection()
    let parts = text.split(separator: "/", maxSplits: 1)
    if let first = parts.first, let address = DeviceAddress(first, kind: .public) {
      return (.address("\(address)", type: parts.count > 1 ? String(parts[1]) : nil), text)
    }
    let known = try await client.call(PeripheralList.self, Empty()).peripherals
    if let match = try choose(text, among: known.map { Candidate($0.peripheral, $0.name, $0.address) }) {
      return (.identifier(match.identifier), match.name ?? match.address)
    }
    if text.utf8.count == 36, BluetoothUUID(text) != nil { return (.identifier(text), text) }
    return try await search(text, timeout: timeout)
  }

  /// A device that the user may mean.
  private struct Candidate {
    let identifier: String
    let name: String?
    let address: String

    init(_ identifier: String, _ name: String?, _ address: String) {
      self.identifier = identifier
      self.name = name
      self.address = address
    }
  }

  /// The device that matches: by identifier, name, prefix of the identifier or prefix of the name, in this order.
  private func choose(_ text: String, among candidates: [Candidate]) throws -> Candidate? {
    let lower = text.lowercased()
    let rules: [(Candidate) -> Bool] = [
      { $0.identifier.lowercased() == lower || $0.address.lowercased() == lower },
      { $0.name == text },
      { $0.name?.lowercased() == lower },
      { lower.count >= 4 && $0.identifier.lowercased().hasPrefix(lower) },
      { $0.name?.lowercased().hasPrefix(lower) == true },
    ]
    for rule in rules {
      let matches = candidates.filter(rule)
      if matches.count > 1 {
        let names = matches.map { "\($0.name.map(Output.clean) ?? "?") \($0.address) \($0.identifier)" }
        throw Failure(
          "\(text) is ambiguous; give the address or identifier of one of these:\n" + names.joined(separator: "\n"))
      }
      if let match = matches.first { return match }
    }
    return nil
  }

  /// Scans until a device with that name is heard.
  func search(_ text: String, timeout: Double) async throws -> (DeviceReference, name: String) {
    let progress = output.progress("Looking for \(text)")
    defer { progress.end() }
    let reports = try await connection().scan()
    var heard: Set<String> = []
    let found = try await withDeadline(timeout) { @MainActor in
      for try await report in reports {
        if let name = report.name, heard.count < 256 { heard.insert(name) }
        let candidate = Candidate(report.peripheral, report.name, report.address)
        if let match = try self.choose(text, among: [candidate]) { return match }
      }
      throw BledError.daemonUnreachable.error("the connection to bled was closed")
    }
    guard let found else {
      let question = Suggestion.question(text, among: heard.sorted())
      throw Failure(
        "\(text) was not heard within \(timeout) s\(question.isEmpty ? "." : question) "
          + "Is it on and in range? \"bleshell scan\" shows the devices.")
    }
    return (.identifier(found.identifier), found.name ?? found.address)
  }
}
