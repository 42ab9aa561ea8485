import BledClient
import BledRPC
import Bluetooth
import FrameworkSupport

/// The work behind a manager: its session with the daemon, and the effects of the adapters' states.
///
/// | State              | Input                      | Effect                                                       |
/// |--------------------|----------------------------|--------------------------------------------------------------|
/// | not connected      | connected                  | the kept state is restored; the adapters' state              |
/// | not connected      | the daemon is not there    | unsupported or unauthorized; again after a while             |
/// | not connected      | connected, nothing permitted | unauthorized; again after a while                          |
/// | connected          | an adapter changed         | the best of the adapters' states                             |
/// | connected          | the connection ended       | resetting; again at once, then with growing pauses           |
/// | resetting for 10 s | the daemon is not there    | unsupported                                                  |
///
/// Everything here and in the subclasses runs on `queue`, unless noted otherwise; the daemon's answers arrive there in
/// the order of the wire.
package class ManagerEngine: @unchecked Sendable {
  package let queue = DispatchQueue(label: "CoreBluetooth.engine")
  let delivery: Delivery
  /// The socket named in the environment when the manager was made; nil: the first one found.
  private let path: String?
  /// The only adapter to be used, by name or address; nil: the daemon chooses.
  let adapter = ManagerEngine.variable("BLED_ADAPTER")
  /// The session's restoration identifier.
  private var restoration: BledClient.Restoration?
  /// The number of times another session used the identifier.
  private var refusals = 0
  private var hasBegun = false
  private(set) var client: BledClient?
  package private(set) var state = CBManagerState.unknown
  /// The usable adapters; the first is the default.
  private(set) var adapters: [AdapterDescription] = []
  private var hasToldAdapter = false
  private var isClosed = false
  private var failures = 0
  private var lostAt: DispatchTime?

  /// An environment variable; nil if unset or empty.
  private static func variable(_ name: String) -> String? {
    ProcessInfo.processInfo.environment[name].flatMap { $0.isEmpty ? nil : $0 }
  }

  /// - Parameters:
  ///   - identifier: The manager's restoration identifier, which is this program's alone.
  ///   - socket: The daemon's; nil: the one named in the environment.
  init(delivery: Delivery, restoration identifier: String?, socket: String? = nil) {
    self.delivery = delivery
    path = socket ?? Self.variable("BLED_SOCKET")
    restoration = identifier.map { BledClient.Restoration("\(ProcessInfo.processInfo.processName).\($0)") }
  }

  /// Begins to look for the daemon.
  package func start() { run { self.open() } }

  /// Ends the connection: the daemon releases everything held by the session, or keeps it for the next manager with the
  /// same restoration identifier. Any thread.
  package func close() {
    run { [self] in
      isClosed = true
      OwnAdapters.remove(of: self)
      closed()
      client?.close()
      client = nil
    }
  }

  /// For subclasses: the manager was released, and its session is about to end. Waiting calls hold objects that hold
  /// the engine, and must be dropped, too.
  func closed() {}

  /// Calls `body` on `queue`, after everything enqueued before. Any thread.
  package func run(_ body: @escaping () -> Void) {
    let carried = Carried(body)
    queue.async { carried.value() }
  }

  /// For subclasses: the manager's permissions; without any of them the state is unauthorized.
  var permissions: [Permission] { [] }

  /// For subclasses: register a new session's observers here. On the connection's queue, before any event.
  func observe(_ client: BledClient) {}

  /// For subclasses: the state kept by the daemon for the manager.
  func restore(_ state: RestoredState) {}

  /// For subclasses: the state kept by the daemon for a link that was reported as ended while the daemon was away.
  func giveBack(_ state: RestoredState) {}

  /// For subclasses: the session has ended with everything it had; its state follows.
  func sessionEnded() {}

  /// For subclasses: the daemon has reported if it permits such a manager.
  func decided(isPermitted: Bool) {}

  /// For subclasses: `state` is no longer `old`.
  func stateChanged(from old: CBManagerState) {}

  /// For subclasses: an adapter has changed, and `stateChanged` was called if the state has.
  func adapterChanged(_ adapter: String) {}

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

  /// Like `call`, for a method whose answer passes a descriptor; an unclaimed one is closed.
  func callForDescriptor<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params,
    completion: @escaping (Result<(result: Method.Result, descriptor: ReceivedDescriptor), BluetoothError>) -> Void
  ) {
    guard let client else {
      return completion(.failure(BledError.daemonUnreachable.error("there is no connection to bled")))
    }
    let carried = Carried(completion)
    client.callForDescriptor(method, params) { [weak self, weak client] result in
      guard let self, let client else { return }
      run { if client === self.client { carried.value(result) } }
    }
  }

  /// Calls `body` on `queue` for each of the session's notifications.
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
    Task { [path, restoration, weak self] in
      do throws(BluetoothError) {
        let name = ProcessInfo.processInfo.processName
        let client = try await BledClient.connect(
          to: path ?? BledClient.defaultSocketPath, name: name, restoration: restoration
        ) { [weak self] client in self?.prepare(client) }
        if self == nil { client.close() }
      } catch {
        guard let self else { return }
        run { self.failed(error) }
      }
    }
  }

  /// On the connection's queue: the daemon's later messages find the session's observers, and find it opened.
  private func prepare(_ client: BledClient) {
    run { self.opened(client) }
    observe(AdapterChanged.self, of: client) { [weak self] adapter in
      self?.changed(adapter)
    }
    observe(client)
    watchEnd(of: client)
  }

  private func opened(_ client: BledClient) {
    guard !isClosed else { return client.close() }
    guard permissions.contains(where: client.session.isPermitted) else {
      client.close()
      return failed(BledError.notPermitted.error("bled's policy does not permit this user to use such a manager"))
    }
    self.client = client
    decided(isPermitted: true)
    (failures, refusals, lostAt) = (0, 0, nil)
    adapters = client.session.adapters.filter(isChosen)
    if let adapter, adapters.isEmpty, !hasToldAdapter {
      hasToldAdapter = true
      let known = client.session.adapters.map(\.adapter).joined(separator: ", ")
      Misuse.logFailure("BLED_ADAPTER is \(adapter), but bled has only these adapters: \(known)")
    }
    if let restored = client.restored {
      if hasBegun { giveBack(restored) } else { restore(restored) }
    }
    hasBegun = true
    update()
  }

  private func watchEnd(of client: BledClient) {
    _ = client.observe(AdapterChanged.self) { _ in
    } end: { [weak self, weak client] _ in
      guard let self, let client else { return }
      run {
        guard !self.isClosed, client === self.client else { return }
        self.client = nil
        self.adapters = []
        self.sessionEnded()
        self.lostAt = .now()
        self.set(.resetting)
        self.open()
      }
    }
  }

  private func failed(_ error: BluetoothError) {
    let isDenied = error.domain == .bled && error.code == BledError.notPermitted.rawValue
    if isDenied { decided(isPermitted: false) }
    if let restoration, !error.isFromFurtherAway {
      refusals += 1
      // A killed program's connection may end a moment later.
      if error.code != BledError.alreadyInProgress.rawValue || refusals > 10 {
        Misuse.logFailure("the state is not preserved under \"\(restoration.identifier)\": \(error.message)")
        self.restoration = nil
      }
      return queue.asyncAfter(deadline: .now() + 0.1) { [weak self] in self?.open() }
    }
    let now = DispatchTime.now()
    var next = now + min(0.1 * Double(1 << min(failures, 6)), 5)
    failures += 1
    if let lostAt, now < lostAt + .seconds(10) {
      set(.resetting)
      next = min(next, lostAt + .seconds(10))
    } else {
      set(isDenied ? .unauthorized : .unsupported)
    }
    queue.asyncAfter(deadline: next) { [weak self] in self?.open() }
  }

  private func isChosen(_ description: AdapterDescription) -> Bool {
    adapter.map { description.adapter == $0 || description.address == $0.uppercased() } ?? true
  }

  /// Returns true if an adapter with this name is used.
  func isChosen(_ name: String) -> Bool { adapter == nil || adapters.contains { $0.adapter == name } }

  /// Returns true if an adapter with this name is known to be on; false for nil.
  func isOn(_ name: String?) -> Bool { adapters.contains { $0.adapter == name && $0.state.known == .on } }

  private func changed(_ description: AdapterDescription) {
    if let index = adapters.firstIndex(where: { $0.adapter == description.adapter }) {
      adapters[index] = description
    } else if isChosen(description) {
      adapters.append(description)
    }
    update()
    adapterChanged(description.adapter)
  }

  private func update() {
    let new = CBManagerState(of: adapters)
    // A starting adapter is worth waiting for, unless it was in use.
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
  /// The adapters' common state: that of the best of them.
  init(of adapters: some Collection<AdapterDescription>) {
    let states = adapters.map { adapter -> CBManagerState in
      switch (adapter.state.known, adapter.problem?.kind.known) {
      case (.on, _): .poweredOn
      case (.starting, _), (.suspended, _): .resetting
      case (.off, _), (.failed, .blocked): .poweredOff
      case (.failed, .permission): .unauthorized
      case (.failed, _), (.absent, _), (nil, _): .unsupported
      }
    }
    let order: [CBManagerState] = [.poweredOn, .resetting, .poweredOff, .unauthorized]
    self = order.first(where: states.contains) ?? .unsupported
  }
}

extension BluetoothError {
  /// True if it concerns the daemon or the way to it, not the restoration identifier.
  fileprivate var isFromFurtherAway: Bool {
    guard domain == .bled, let error = BledError(rawValue: code) else { return true }
    return ![.alreadyInProgress, .invalidParameter, .limitReached].contains(error)
  }
}
