import BledClient
import BledRPC
import Bluetooth
import FrameworkSupport

extension CentralEngine {
  /// Maximum wait for the daemon in a synchronous call, in seconds.
  static let timeout = 2.0

  /// The devices with these identifiers, held by the program or known to the daemon. Any thread but `queue`.
  func known(_ identifiers: [UUID]) -> [CBPeripheral] {
    let isAllHeld = identifiers.allSatisfy { peripherals.held($0) != nil }
    let entries = isAllHeld ? [:] : Dictionary(list().map { ($0.identifier, $0.entry) }) { $1 }
    return identifiers.compactMap { identifier in
      if let held = peripherals.held(identifier) { return held }
      return entries[identifier].map { peripheral(identifier, $0) }
    }
  }

  /// The devices connected for any program with one of these services. Any thread but `queue`.
  ///
  /// The link to a device of another program is shared for a moment, to ask for the services.
  func connected(withServices services: [BluetoothUUID]) -> [CBPeripheral] {
    let known = list()
    let entries = queue.sync {
      known.filter { $0.entry.state == "connected" && isChosen($0.entry.adapter) && !isOwn($0.entry.address) }
    }
    guard !entries.isEmpty, !services.isEmpty else { return [] }
    let found = Guarded<Set<UUID>>([])
    let (waiting, answered) = (Guarded(entries.count), DispatchSemaphore(value: 0))
    run { [self] in
      for (identifier, entry) in entries {
        probe(entry.peripheral, for: services, isLinked: entry.mine) { isFound in
          if isFound { found.with { _ = $0.insert(identifier) } }
          let left = waiting.with {
            $0 -= 1
            return $0
          }
          if left == 0 { answered.signal() }
        }
      }
    }
    _ = answered.wait(timeout: .now() + Self.timeout)
    let matching = found[\.self]
    return entries.compactMap {
      matching.contains($0.identifier) ? peripheral($0.identifier, $0.entry) : nil
    }
  }

  /// Checks if a device has one of these services. Its link is shared for that long.
  /// - Parameter isLinked: True if this session has the link already.
  func probe(
    _ peripheral: String, for services: [BluetoothUUID], isLinked: Bool = false, then: @escaping (Bool) -> Void
  ) {
    let ask = { [weak self] (user: Int) -> Void in
      self?.call(GATTDiscoverServices.self, .init(peripheral: peripheral, services: services)) { [weak self] result in
        self?.links.users.end(user)
        then((try? result.get().services.isEmpty) == false)
      }
    }
    if isLinked { return ask(links.users.join(peripheral)) }
    _ = links.users.connect(.init(peripheral: peripheral, timeout: Self.timeout)) { user, link in
      if link.failure == nil { ask(user) } else { then(false) }
    }
  }

  private func peripheral(_ identifier: UUID, _ entry: PeripheralList.Entry) -> CBPeripheral {
    let peripheral = peripheral(identifier)
    peripheral.shared[\.address] = entry.address
    if let name = entry.name { _ = peripheral.adoptName(name, isRead: false) }
    return peripheral
  }

  /// The devices known to the daemon; none if it does not answer in time. The answer arrives on the connection's own
  /// queue, so waiting blocks only the caller.
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
