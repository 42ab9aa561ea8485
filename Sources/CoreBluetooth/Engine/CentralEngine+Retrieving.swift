import BledClient
import BledRPC
import Bluetooth
import FrameworkSupport

extension CentralEngine {
  /// How long a call that must answer at once may wait for the daemon, in seconds.
  static let timeout = 2.0

  /// The devices of these identifiers that the program holds or the daemon knows. Any thread but `queue`.
  func known(_ identifiers: [UUID]) -> [CBPeripheral] {
    let isAllHeld = identifiers.allSatisfy { peripherals.held($0) != nil }
    let entries = isAllHeld ? [:] : Dictionary(list().map { ($0.identifier, $0.entry) }) { $1 }
    return identifiers.compactMap { identifier in
      if let held = peripherals.held(identifier) { return held }
      return entries[identifier].map { peripheral(identifier, $0) }
    }
  }

  /// The devices that are connected for any program and have one of these services. Any thread but `queue`.
  ///
  /// The link to a device of another program is shared for a moment, to ask for the services.
  func connected(withServices services: [BluetoothUUID]) -> [CBPeripheral] {
    let known = list()
    let (entries, client) = queue.sync {
      let entries = known.filter {
        $0.entry.state == "connected" && isChosen($0.entry.adapter) && !isOwn($0.entry.address)
      }
      return (entries, self.client)
    }
    guard !entries.isEmpty, !services.isEmpty, let client else { return [] }
    let found = Guarded<Set<UUID>>([])
    let group = DispatchGroup()
    for (identifier, entry) in entries {
      group.enter()
      let ask = { @Sendable (done: @escaping @Sendable () -> Void) in
        client.call(GATTDiscoverServices.self, .init(peripheral: entry.peripheral, services: services)) { result in
          if let services = try? result.get().services, !services.isEmpty { found.with { _ = $0.insert(identifier) } }
          done()
        }
      }
      guard !entry.mine else {
        ask { group.leave() }
        continue
      }
      client.call(PeripheralConnect.self, .init(peripheral: entry.peripheral, timeout: Self.timeout)) {
        [weak self] link in
        guard let self, link.failure == nil else { return group.leave() }
        ask {
          self.letGo(of: identifier)
          group.leave()
        }
      }
    }
    _ = group.wait(timeout: .now() + Self.timeout)
    let matching = found[\.self]
    return entries.compactMap {
      matching.contains($0.identifier) ? peripheral($0.identifier, $0.entry) : nil
    }
  }

  /// Ends our own use of a device, unless the program has connected to it meanwhile.
  func letGo(of identifier: UUID) {
    run { [self] in
      if links.isIdle(identifier) { call(PeripheralDisconnect.self, .init(peripheral: identifier.uuidString)) }
    }
  }

  private func peripheral(_ identifier: UUID, _ entry: PeripheralList.Entry) -> CBPeripheral {
    let peripheral = peripheral(identifier)
    peripheral.shared[\.address] = entry.address
    if let name = entry.name { _ = peripheral.adoptName(name, isRead: false) }
    return peripheral
  }

  /// The devices that the daemon knows; none if it does not answer in time. The connection's own queue brings the
  /// answer, so that waiting blocks only the caller.
  private func list() -> [(identifier: UUID, entry: PeripheralList.Entry)] {
    guard let client = queue.sync(execute: { self.client }) else { return [] }
    let answered = DispatchSemaphore(value: 0)
    let entries = Guarded<[PeripheralList.Entry]>([])
    client.call(PeripheralList.self, .init()) { result in
      if let list = try? result.get().peripherals { entries[\.self] = list }
      answered.signal()
    }
    _ = answered.wait(timeout: .now() + Self.timeout)
    return entries[\.self].compactMap { entry in UUID(uuidString: entry.peripheral).map { ($0, entry) } }
  }
}
