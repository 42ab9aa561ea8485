import BledClient
import BledRPC
import Bluetooth

/// What stands behind a manager: its session with the daemon, and what follows from the adapters' states.
///
/// | State              | Input                      | What happens                                                 |
/// |--------------------|----------------------------|--------------------------------------------------------------|
/// | not connected      | connected                  | adapters are asked for → their state                         |
/// | not connected      | the daemon is not there    | unsupported or unauthorized; again after a while             |
/// | connected          | an adapter changed         | the best of the adapters' states                             |
/// | connected          | the connection ended       | resetting; again at once, then with growing pauses           |
/// | resetting for 10 s | the daemon is not there    | unsupported                                                  |
///
/// Everything here and in the subclasses happens on `queue`, unless it says otherwise; answers of the daemon come there in
/// the order of the wire.
class ManagerEngine: @unchecked Sendable {
  let queue = DispatchQueue(label: "CoreBluetooth.engine")
  let delivery: Delivery
  private let path = BledClient.defaultSocketPath
  private(set) var client: BledClient?
  private(set) var state = CBManagerState.unknown
  private var adapters: [String: AdapterDescription] = [:]
  private var isClosed = false
  private var failures = 0
  private var lostAt: DispatchTime?

  init(delivery: Delivery) { self.delivery = delivery }

  /// Begins to look for the daemon.
  func start() { run { self.open() } }

  /// Ends the session: the daemon takes back everything that it held. Any thread.
  func close() {
    run { [self] in
      isClosed = true
      client?.close()
      client = nil
    }
  }

  /// Has `body` called on `queue`, after everything that was given before. Any thread.
  func run(_ body: @escaping () -> Void) {
    let carried = Carried(body)
    queue.async { carried.value() }
  }

  /// For subclasses: a new session began; observers are registered here.
  func sessionBegan(_ client: BledClient) {}

  /// For subclasses: `state` is no longer `old`.
  func stateChanged(from old: CBManagerState) {}

  /// Calls the daemon; `completion` comes on `queue`, unless the session is another by then.
  func call<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params,
    completion: @escaping (Result<Method.Result, BluetoothError>) -> Void = { _ in }
  ) {
    guard let client else {
      return completion(.failure(BledError.daemonUnreachable.error("there is no connection to bled")))
    }
    let carried = Carried(completion)
    client.call(method, params) { [weak self, weak client] result in
      guard let self, let client else { return }
      run { if client === self.client { carried.value(result) } }
    }
  }

  /// Has `body` called on `queue` for each notification of the session.
  func observe<Notification: RPCNotification>(
    _ type: Notification.Type, of client: BledClient, body: @escaping (Notification.Params) -> Void
  ) {
    let carried = Carried(body)
    _ = client.observe(type) { [weak self, weak client] params in
      guard let self, let client else { return }
      run { if client === self.client { carried.value(params) } }
    } end: { _ in
    }
  }

  private func open() {
    guard !isClosed else { return }
    Task { [path, weak self] in
      do throws(BluetoothError) {
        let client = try await BledClient.connect(to: path, name: ProcessInfo.processInfo.processName)
        guard let self else { return client.close() }
        run { self.opened(client) }
      } catch {
        guard let self else { return }
        run { self.failed(error) }
      }
    }
  }

  private func opened(_ client: BledClient) {
    guard !isClosed else { return client.close() }
    self.client = client
    (failures, lostAt) = (0, nil)
    observe(AdapterChanged.self, of: client) { [weak self] adapter in
      self?.adapters[adapter.adapter] = adapter
      self?.update()
    }
    watchEnd(of: client)
    sessionBegan(client)
    call(AdapterList.self, .init()) { [weak self] result in
      guard let self, case .success(let list) = result else { return }
      adapters = Dictionary(list.adapters.map { ($0.adapter, $0) }) { $1 }
      update()
    }
  }

  private func watchEnd(of client: BledClient) {
    _ = client.observe(AdapterChanged.self) { _ in
    } end: { [weak self, weak client] _ in
      guard let self, let client else { return }
      run {
        guard !self.isClosed, client === self.client else { return }
        self.client = nil
        self.adapters = [:]
        self.lostAt = .now()
        self.set(.resetting)
        self.open()
      }
    }
  }

  private func failed(_ error: BluetoothError) {
    if let lostAt, DispatchTime.now() < lostAt + .seconds(10) {
      set(.resetting)
    } else {
      set(error.domain == .bled && error.code == BledError.notPermitted.rawValue ? .unauthorized : .unsupported)
    }
    let pause = min(0.1 * Double(1 << min(failures, 6)), 5)
    failures += 1
    queue.asyncAfter(deadline: .now() + pause) { [weak self] in self?.open() }
  }

  private func update() {
    let new = CBManagerState(of: adapters.values)
    // An adapter that starts is worth the wait for what comes of it, unless it was in use.
    if new != .resetting || state == .poweredOn { set(new) }
  }

  private func set(_ new: CBManagerState) {
    guard new != state else { return }
    let old = state
    state = new
    stateChanged(from: old)
  }
}

extension CBManagerState {
  /// The state that adapters make together: that of the best of them.
  init(of adapters: some Collection<AdapterDescription>) {
    let states = adapters.map { adapter -> CBManagerState in
      switch (adapter.state, adapter.problem?.kind) {
      case ("on", _): .poweredOn
      case ("starting", _): .resetting
      case ("off", _), ("failed", "blocked"): .poweredOff
      case ("failed", "permission"): .unauthorized
      default: .unsupported
      }
    }
    let order: [CBManagerState] = [.poweredOn, .resetting, .poweredOff, .unauthorized]
    self = order.first(where: states.contains) ?? .unsupported
  }
}
