import BledRPC
import Bluetooth

/// The connections a program registered for, and those already reported to it.
struct ConnectionEvents {
  /// The registered connections: to one of the devices, and to devices with one of the services.
  struct Filter: Sendable {
    var identifiers: Set<UUID>?
    var services: [BluetoothUUID]?

    /// Returns true if the device matches; nil if its services must be read.
    func matches(_ identifier: UUID) -> Bool? {
      if identifiers?.contains(identifier) ?? false { return true }
      guard let services else { return identifiers == nil }
      return services.isEmpty ? false : nil
    }
  }

  /// Nil: none.
  fileprivate var filter: Filter?
  /// The devices whose connection was reported to the program.
  fileprivate var told: Set<UUID> = []
}

extension CentralEngine {
  /// Reports matching connections to the program from now on; nil: none. Any thread.
  func watchConnections(_ filter: ConnectionEvents.Filter?) {
    run { [self] in
      connectionEvents = ConnectionEvents(filter: filter)
      call(PeripheralWatch.self, .init(on: filter != nil))
    }
  }

  /// The session may be a new one.
  func renewConnectionEvents() {
    guard let filter = connectionEvents.filter else { return }
    connectionEvents = ConnectionEvents(filter: filter)
    call(PeripheralWatch.self, .init())
  }

  /// A program's link was established or ended. `didConnect` reports this manager's own connections.
  func linkChanged(_ change: PeripheralLinkChanged.Params) {
    guard let filter = connectionEvents.filter, let identifier = UUID(uuidString: change.peripheral) else { return }
    guard change.linked else {
      if connectionEvents.told.remove(identifier) != nil { report(.peerDisconnected, identifier, change.name) }
      return
    }
    guard links.isIdle(identifier) else { return }
    onChosenAdapter(change.peripheral) { [weak self] in
      switch filter.matches(identifier) {
      case false: break
      case true: self?.connected(identifier, change.name)
      default:
        self?.probe(change.peripheral, for: filter.services ?? []) { isFound in
          if isFound { self?.connected(identifier, change.name) }
        }
      }
    }
  }

  /// Calls `body` if a link is on the adapter named in the environment; at once without one.
  private func onChosenAdapter(_ peripheral: String, _ body: @escaping () -> Void) {
    guard adapter != nil else { return body() }
    call(PeripheralList.self, .init()) { [weak self] result in
      let entry = (try? result.get())?.peripherals.first { $0.peripheral == peripheral }
      if let self, let entry, entry.state != "disconnected", isChosen(entry.adapter) { body() }
    }
  }

  private func connected(_ identifier: UUID, _ name: String?) {
    guard connectionEvents.told.insert(identifier).inserted else { return }
    report(.peerConnected, identifier, name)
  }

  private func report(_ event: CBConnectionEvent, _ identifier: UUID, _ name: String?) {
    let peripheral = peripheral(identifier)
    if let name { _ = peripheral.adoptName(name, isRead: false) }
    deliver { $0.delegate?.centralManager($0, connectionEventDidOccur: event, for: peripheral) }
  }
}
