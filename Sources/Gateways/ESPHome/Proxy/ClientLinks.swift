import BledConnection
import BledRPC
import Bluetooth

/// The connections of one client to devices, in its own session of bled: they end with the session.
final class ClientLinks {
  /// The time of a connection attempt, in seconds: clients give up after 20 to 30.
  private static let attemptTime = 20.0
  /// The requests of a client that are not answered yet.
  private static let requestLimit = 256

  private let context: ProxyContext
  /// The client's number.
  private let client: Int
  private let name: String
  private let send: (APIFrame) -> Void
  private var session: DaemonSession?
  private(set) var links: [UInt64: DeviceLink] = [:]
  private var requestCount = 0
  private var isClosed = false

  /// - Parameter name: the name that `session.list` shows.
  init(_ context: ProxyContext, client: Int, name: String, send: @escaping (APIFrame) -> Void) {
    self.context = context
    self.client = client
    self.name = name
    self.send = send
  }

  /// The client has disconnected.
  func close() {
    isClosed = true
    for address in links.keys { context.release(address, by: client) }
    links = [:]
    session?.close()
  }

  /// The client's session, which is opened by its first use.
  func openSession() -> DaemonSession {
    if let session, session.isOpen { return session }
    let session = DaemonSession(
      context.connector, context.clock,
      DaemonSession.Observer(
        notified: { [weak self] in self?.notified($0, $1) },
        asked: { [weak self] id, method, _ in
          self?.session?.refuse(
            id, RPCError(code: RPCError.methodNotFound, message: "this client does not answer \(method)"))
        },
        ended: { [weak self] error in self?.lost(error) }))
    self.session = session
    session.callUnawaited(SessionOpen.self, SessionOpen.Params(name: name))
    return session
  }

  /// Calls bled on behalf of the client.
  func call<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params,
    _ completion: @escaping (ClientLinks, Result<Method.Result, BluetoothError>) -> Void
  ) {
    guard requestCount < Self.requestLimit else {
      context.counters.requestsRefused += 1
      return completion(self, .failure(BledError.limitReached.error("too many requests of this client wait")))
    }
    requestCount += 1
    openSession().call(method, params) { [weak self] result in
      guard let self else { return }
      requestCount -= 1
      if !isClosed { completion(self, result) }
    }
  }

  func answer(_ frame: APIFrame) { send(frame) }

  // MARK: Connect and disconnect

  func connect(_ address: UInt64, _ addressType: UInt32?) {
    if let link = links[address] {
      switch link.state {
      case .connected(_, let mtu): return send(.connected(address, mtu: mtu))
      // Its answer follows.
      case .connecting(isCancelled: false): return
      case .connecting(isCancelled: true), .disconnecting:
        return send(.notConnected(address, error: APIError.failed))
      }
    }
    guard context.claim(address, by: client) else { return send(.notConnected(address, error: APIError.failed)) }
    links[address] = DeviceLink()
    let type = addressType.map { $0 == 0 ? DeviceAddress.Kind.public : .random }
    call(
      PeripheralConnect.self,
      PeripheralConnect.Params(
        address: Self.text(address), addressType: type, adapter: context.adapter, timeout: Self.attemptTime)
    ) { links, result in links.connected(address, result) }
  }

  private func connected(_ address: UInt64, _ result: Result<PeripheralConnect.Result, BluetoothError>) {
    guard case .connecting(let isCancelled) = links[address]?.state else { return }
    switch result {
    case .success(let link) where isCancelled:
      session?.callUnawaited(PeripheralDisconnect.self, PeripheralDisconnect.Params(peripheral: link.peripheral))
      end(address, error: APIError.cancelled)
    case .success(let link):
      links[address]?.state = .connected(peripheral: link.peripheral, mtu: link.mtu)
      send(.connected(address, mtu: link.mtu))
    case .failure(let error): end(address, error: APIError.connection(error))
    }
  }

  func disconnect(_ address: UInt64) {
    switch links[address]?.state {
    case nil: send(.notConnected(address, error: 0))
    case .connecting:
      links[address]?.state = .connecting(isCancelled: true)
      session?.callUnawaited(PeripheralDisconnect.self, PeripheralDisconnect.Params(address: Self.text(address)))
    case .connected(let peripheral, _):
      links[address]?.state = .disconnecting(peripheral: peripheral)
      call(PeripheralDisconnect.self, PeripheralDisconnect.Params(peripheral: peripheral)) { links, _ in
        if case .disconnecting = links.links[address]?.state { links.end(address, error: APIError.local) }
      }
    // The answer follows.
    case .disconnecting: break
    }
  }

  /// A connection has ended, or was not established.
  private func end(_ address: UInt64, error: Int32) {
    guard let link = links.removeValue(forKey: address) else { return }
    for completion in link.waiting {
      completion(.failure(GAPError.disconnected.error("the connection has ended")))
    }
    // In this order: clients occupy a free slot while they are connected for an error.
    send(.notConnected(address, error: error))
    context.release(address, by: client)
    if link.isToBeForgotten, let peripheral = link.peripheral {
      session?.callUnawaited(PeripheralForget.self, PeripheralReference(peripheral: peripheral))
    }
  }

  private func lost(_ error: BluetoothError?) {
    session = nil
    guard !isClosed else { return }
    for address in links.keys.sorted() { end(address, error: APIError.connection(error)) }
  }

  /// bled has reported that the client no longer uses a device in the earlier way.
  func update(_ address: UInt64, _ change: (inout DeviceLink) -> Void) {
    if var link = links[address] {
      change(&link)
      links[address] = link
    }
  }

  // MARK: Events

  private func notified(_ name: String, _ message: RPCMessage) {
    switch name {
    case GATTValue.name:
      guard let value = try? message.params(GATTValue.Params.self), let address = address(of: value.peripheral) else {
        return
      }
      self.value(address, value.handle, value.value.octets)
    case PeripheralDisconnected.name:
      guard let end = try? message.params(PeripheralDisconnected.Params.self), let address = address(of: end.peripheral)
      else { return }
      self.end(address, error: APIError.connection(end.reason?.bluetoothError))
    case GATTServicesChanged.name:
      guard let change = try? message.params(GATTServicesChanged.Params.self),
        let address = address(of: change.peripheral)
      else { return }
      update(address) { if case .done = $0.discovery { $0.discovery = .none } }
    case GATTSubscriptionLost.name:
      // The API has no word for it: after a new connection the client subscribes again.
      guard let lost = try? message.params(GATTSubscriptionLost.Params.self), let address = address(of: lost.peripheral)
      else { return }
      disconnect(address)
    default: break
    }
  }

  private func address(of peripheral: String) -> UInt64? {
    links.first { $0.value.peripheral.map { $0.utf8.elementsEqual(peripheral.utf8) } == true }?.key
  }

  static func text(_ address: UInt64) -> String { DeviceAddress(value: address, kind: .public).description }
}
