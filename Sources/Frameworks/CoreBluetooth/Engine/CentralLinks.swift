import BledClient
import BledRPC
import Bluetooth
import FrameworkSupport

/// The records of a manager's peripherals, and the connected ones' requests. Everything but the calls for any thread
/// runs on the engine's queue, while the engine exists.
final class CentralLinks {
  private unowned let engine: CentralEngine
  let users: LinkUsers
  private var records: [UUID: LinkRecord] = [:]

  init(of engine: CentralEngine) {
    self.engine = engine
    users = LinkUsers(of: engine)
  }

  /// Connects. Any thread.
  /// - Parameters:
  ///   - delay: Seconds to wait before connecting.
  ///   - autoReconnect: True to connect again when the connection drops.
  ///   - isRetained: True if the program does not hold the object: then it is held here until the connection ends.
  func connect(_ peripheral: CBPeripheral, after delay: Double, autoReconnect: Bool, isRetained: Bool) {
    run { [self] in
      guard engine.state == .poweredOn else { return }
      let record = record(of: peripheral)
      if isRetained { record.retained = peripheral }
      let isNew = record.reconnectsItself != autoReconnect
      record.reconnectsItself = autoReconnect
      switch record.phase {
      case .idle where engine.isOwn(peripheral.shared[\.address]): fail(record, CentralEngine.itself)
      case .idle: begin(record, after: delay)
      case .connecting: if isNew { begin(record, after: 0) }
      case .connected: if isNew { renew(record) } else { reportConnected(peripheral, mtu: nil) }
      case .ending, .lost: record.isWantedAgain = true
      }
    }
  }

  /// Ends a connection, or cancels the request for one. Any thread.
  func cancel(_ peripheral: CBPeripheral) {
    run { [self] in
      let record = record(of: peripheral)
      record.isWantedAgain = false
      switch record.phase {
      case .idle, .ending:
        break
      case .connecting, .lost:
        end(record, error: nil)
      case .connected:
        record.phase = .ending
        let generation = record.generation
        // Earlier writes without response leave first.
        record.requests.sendCommands { [weak self, weak record] in
          if let self, let record, record.generation == generation { disconnect(record) }
        }
      }
    }
  }

  private func disconnect(_ record: LinkRecord) {
    let generation = record.generation
    let isReleased = record.user.map { user in
      users.end(user) { [weak self] in
        // The connection was gone already, and nothing more comes.
        if let self, record.generation == generation { end(record, error: nil) }
      }
    }
    record.user = nil
    // Other users of this manager keep the link: its end does not follow.
    if isReleased != true { end(record, error: nil) }
  }

  /// A connection is back, or one pending before the program's restoration was established.
  func connected(_ link: PeripheralConnected.Params) {
    guard let identifier = UUID(uuidString: link.peripheral), let record = records[identifier] else { return }
    reportLost(record)
    guard record.phase == .connecting, let peripheral = record.peripheral else { return }
    record.phase = .connected
    record.adapter = link.adapter
    reportConnected(peripheral, mtu: link.mtu)
  }

  /// The pending connection failed. A cancellation is known here.
  func connectFailed(_ failure: PeripheralConnectFailed.Params) {
    users.lost(failure.peripheral)
    guard let identifier = UUID(uuidString: failure.peripheral), let record = records[identifier],
      record.phase == .connecting, failure.reason.bluetoothError.code != GAPError.cancelled.rawValue
    else { return }
    fail(record, failure.reason.bluetoothError.coreBluetooth)
  }

  func disconnected(_ event: PeripheralDisconnected.Params) {
    if event.reconnecting != true { users.lost(event.peripheral) }
    guard let identifier = UUID(uuidString: event.peripheral), let record = records[identifier] else { return }
    switch record.phase {
    case .idle, .connecting, .lost: break  // The request was cancelled here, or the end is known.
    case .connected:
      let reason = event.reason?.bluetoothError
      let (error, isReconnecting) = (reason?.coreBluetoothOfLostLink, event.reconnecting ?? false)
      guard let error, reason?.isOfAdapter == true, engine.isOn(record.adapter) else {
        return end(record, error: error, isReconnecting: isReconnecting)
      }
      // The daemon reports the adapter's state next, which is delivered to the program first.
      record.phase = .lost(error, isReconnecting: isReconnecting)
    case .ending: end(record, error: nil)
    }
  }

  /// An adapter has changed, and the state was reported to the program: now report the ended links.
  func adapterChanged(_ adapter: String) {
    for record in records.inOrder where record.adapter == adapter { reportLost(record) }
  }

  private func reportLost(_ record: LinkRecord) {
    guard case .lost(let error, let isReconnecting) = record.phase else { return }
    end(record, error: error, isReconnecting: isReconnecting)
  }

  /// The state is no longer poweredOn: no connection remains.
  func endAll(below new: CBManagerState) {
    let reason = "Bluetooth is \(new)"
    for record in records.inOrder where record.phase != .idle {
      record.isWantedAgain = false
      switch record.phase {
      case .idle: break
      case .connecting: fail(record, NSError.failed(.connectionFailed, reason))
      case .connected: end(record, error: NSError.failed(.peripheralDisconnected, reason))
      case .lost(let error, _): end(record, error: error)
      case .ending: end(record, error: nil)
      }
    }
  }

  /// The peripheral with this identifier, if connected.
  func connectedPeripheral(_ id: String) -> CBPeripheral? {
    guard let identifier = UUID(uuidString: id), let record = records[identifier], record.phase == .connected
    else { return nil }
    return record.peripheral
  }

  /// Returns true if the program neither uses the device nor waits for it.
  func isIdle(_ identifier: UUID) -> Bool { records[identifier].map { $0.phase == .idle } ?? true }

  /// The program has released a peripheral: its connection ends.
  func drop(_ identifier: UUID, _ number: Int) {
    guard let record = records[identifier], record.number == number else { return }
    records[identifier] = nil
    giveBack(record)
  }

  /// The manager was released: waiting requests hold objects that hold the engine.
  func dropAll() {
    for record in records.values {
      record.requests.sendCommands {}
      record.nextGeneration()
      record.retained = nil
    }
    records = [:]
  }

  /// A peripheral stands as the daemon kept it.
  func restore(_ peripheral: CBPeripheral, _ restored: RestoredState.Peripheral) {
    let record = record(of: peripheral)
    record.nextGeneration()
    record.user = users.join(restored.peripheral)
    record.phase = restored.state == "connected" ? .connected : .connecting
    record.adapter = restored.adapter
    record.reconnectsItself = restored.reconnect ?? false
  }

  /// Calls `body` on the queue, which keeps the engine until then.
  private func run(_ body: @escaping () -> Void) {
    engine.run { [engine = engine] in withExtendedLifetime(engine) { body() } }
  }

  /// Calls `body` on the queue after so many seconds, if the engine is still there.
  private func after(_ seconds: Double, _ body: @escaping @Sendable (CentralLinks) -> Void) {
    engine.queue.asyncAfter(deadline: .now() + seconds) { [weak engine = engine] in
      guard let engine else { return }
      withExtendedLifetime(engine) { body(engine.links) }
    }
  }

  private func record(of peripheral: CBPeripheral) -> LinkRecord {
    if let known = records[peripheral.identifier], known.number == peripheral.number { return known }
    let new = LinkRecord(peripheral)
    // The program has released the earlier object, whose end is reported next.
    if let former = records[peripheral.identifier] { giveBack(former) }
    records[peripheral.identifier] = new
    return new
  }

  private func begin(_ record: LinkRecord, after delay: Double) {
    record.nextGeneration()
    record.phase = .connecting
    let generation = record.generation
    guard delay > 0 else { return ask(record, generation) }
    let carried = Carried(record)
    after(min(delay, 86_400)) { $0.ask(carried.value, generation) }
  }

  private func ask(_ record: LinkRecord, _ generation: Int) {
    guard record.generation == generation, record.phase == .connecting, let peripheral = record.peripheral else {
      return
    }
    let former = record.user
    record.user = users.connect(
      .init(peripheral: peripheral.id, adapter: engine.adapter, reconnect: record.reconnectsItself)
    ) { [weak self] _, result in
      guard let self, record.generation == generation, let peripheral = record.peripheral else { return }
      switch result {
      case .success(let link) where engine.isOwn(link.address): fail(record, CentralEngine.itself)
      case .success(let link):
        record.phase = .connected
        record.adapter = link.adapter
        reportConnected(peripheral, mtu: link.mtu)
      case .failure(let error):
        // The session's end follows, and is reported with the state.
        if error.isEndOfSession { return }
        fail(record, error.coreBluetooth)
      }
    }
    if let former { users.end(former) }
  }

  /// The program no longer needs the link.
  private func giveBack(_ record: LinkRecord) {
    if let user = record.user { users.end(user) }
    record.user = nil
  }

  /// Updates the daemon's setting for an existing connection: whether to reconnect when it drops.
  private func renew(_ record: LinkRecord) {
    guard let id = record.peripheral?.id else { return }
    let generation = record.generation
    _ = users.connect(
      .init(peripheral: id, adapter: engine.adapter, reconnect: record.reconnectsItself)
    ) { [weak self] user, result in
      guard let self, result.failure == nil else { return }
      guard record.generation == generation, record.phase == .connected, let peripheral = record.peripheral else {
        // The link had dropped before, as reported to the program: this one may be unused.
        users.end(user)
        return
      }
      giveBack(record)
      record.user = user
      reportConnected(peripheral, mtu: nil)
    }
  }

  private func reportConnected(_ peripheral: CBPeripheral, mtu: Int?) {
    engine.deliver { manager in
      peripheral.change {
        $0.state = .connected
        if let mtu { $0.mtu = mtu }
      }
      manager.delegate?.centralManager(manager, didConnect: peripheral)
    }
  }

  private func fail(_ record: LinkRecord, _ error: any Error) {
    record.nextGeneration()
    giveBack(record)
    record.phase = .idle
    guard let peripheral = record.peripheral else { return }
    record.retained = nil
    engine.deliver { manager in
      peripheral.change { $0.state = .disconnected }
      manager.delegate?.centralManager(manager, didFailToConnect: peripheral, error: error)
    }
  }

  private func end(_ record: LinkRecord, error: (any Error)?, isReconnecting: Bool = false) {
    record.nextGeneration()
    if !isReconnecting { giveBack(record) }
    record.phase = isReconnecting ? .connecting : .idle
    let isWanted = record.isWantedAgain
    record.isWantedAgain = false
    guard let peripheral = record.peripheral else { return }
    if !isReconnecting, !isWanted { record.retained = nil }
    let time = CFAbsoluteTimeGetCurrent()
    engine.deliver { manager in
      peripheral.connectionEnded(nowConnecting: isReconnecting || isWanted)
      manager.delegate?.centralManager(
        manager, didDisconnectPeripheral: peripheral, timestamp: time, isReconnecting: isReconnecting, error: error)
    }
    if isWanted { begin(record, after: 0) }
  }

  // MARK: Requests

  /// Queues a call on a peripheral: one at a time, in the order of requests. `then` is called on the program's queue,
  /// but not if the connection ends before. Any thread.
  /// - Parameter isCommand: True for a write without response, which is sent even if the program then disconnects.
  func request<Method: RPCMethod>(
    _ peripheral: CBPeripheral, _ method: Method.Type, _ params: Method.Params, isCommand: Bool,
    then: @escaping (CBPeripheral, Result<Method.Result, BluetoothError>) -> Void
  ) {
    enqueue(peripheral, in: \.requests, isCommand: isCommand) { [weak self] ended in
      self?.engine.call(method, params) { [weak self] result in
        // Without a connection, its end is about to be reported, and no request is answered any longer.
        guard ended(), result.failure?.isEndOfConnection != true else { return }
        self?.engine.deliver { _ in then(peripheral, result) }
      }
    }
  }

  /// Queues the opening of a channel behind the earlier ones; it neither delays other requests nor waits for them: a
  /// device may be slow to answer. Any thread.
  func open(
    _ psm: CBL2CAPPSM, on peripheral: CBPeripheral,
    then: @escaping (Result<(result: L2CAPOpen.Result, descriptor: ReceivedDescriptor), BluetoothError>) -> Void
  ) {
    enqueue(peripheral, in: \.openings) { [weak self] ended in
      self?.engine.callForDescriptor(L2CAPOpen.self, .init(peripheral: peripheral.id, psm: psm)) { result in
        if ended(), result.failure?.isEndOfConnection != true { then(result) }
      }
    }
  }

  /// - Parameter call: Makes the call. With the answer it calls its argument, which returns whether the connection
  ///   still holds.
  private func enqueue(
    _ peripheral: CBPeripheral, in lane: KeyPath<LinkRecord, CallLane>, isCommand: Bool = false,
    _ call: @escaping (@escaping () -> Bool) -> Void
  ) {
    run { [self] in
      let record = record(of: peripheral)
      guard record.phase == .connected else { return }
      let generation = record.generation
      record[keyPath: lane].append(isCommand: isCommand) { [weak record] in
        call {
          guard let record, record.generation == generation else { return false }
          record[keyPath: lane].ended(isCommand: isCommand)
          return true
        }
      }
    }
  }
}

extension [UUID: LinkRecord] {
  /// The records in a constant order.
  fileprivate var inOrder: [LinkRecord] { sorted { $0.key.uuidString < $1.key.uuidString }.map(\.value) }
}
