import BledConnection
import BledRPC
import Bluetooth
import FoundationEssentials
import Synchronization

/// The session on its connection, with its observers. Completions and observers are called on the connection's queue,
/// in the order of the daemon's messages.
final class ClientCore: @unchecked Sendable {
  private let connection: LineConnection
  /// Used on the connection's queue alone.
  private let session: DaemonSession
  /// Used on the connection's queue alone.
  private var state = ClientState()
  private let lastNumber = Atomic(0)
  private let lastAgentCall = Atomic(0)
  private let lastConfirmation = Atomic(0)
  private let hasEnded = Atomic(false)

  init(connection: LineConnection) {
    self.connection = connection
    session = DaemonSession(over: connection)
  }

  func start() {
    session.observe(
      DaemonSession.Observer(
        notified: { self.notified($0, $1) }, asked: { self.asked($0, $1, $2) }, ended: { self.ended($0) }))
    connection.start(line: { self.session.receive($0, $1) }, closed: { self.session.end($0) })
    followLinks()
  }

  func close() {
    hasEnded.store(true, ordering: .relaxed)
    // Not at once, even on the connection's queue: the last reference may be released there, and calls from elsewhere
    // may still be queued for it.
    connection.enqueue { self.session.close() }
  }

  var daemonUser: UInt32? { connection.daemonUser }

  var isConnected: Bool { !hasEnded.load(ordering: .relaxed) && connection.isOpen }

  func newNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

  /// Sends a call.
  func begin<Method: RPCMethod>(
    _ method: Method.Type, id: Int, _ params: Method.Params, late: ClientState.Completion?,
    completion: @escaping ClientState.Completion
  ) {
    let line = Result { () throws(BluetoothError) in try DaemonSession.line(method, id: id, params) }
    connection.perform { [self] in
      switch line {
      case .failure(let error): completion(.failure(error))
      case .success(let line): session.send(line, id: id, late: late, completion)
      }
    }
  }

  /// Ends the wait for a call. `abandoned` is called if the call was still pending.
  func abandon(_ id: Int, _ error: BluetoothError, abandoned: (@Sendable () -> Void)?) {
    connection.perform { [self] in
      if session.abandon(id, error) { abandoned?() }
    }
  }

  func observe(
    _ name: String, as type: Any.Type, _ number: Int, decode: @escaping ClientState.Decoder,
    _ observer: ClientState.Observer
  ) {
    connection.perform { [self] in
      guard session.isOpen else { return observer.end(session.endError) }
      state.observe(name, as: type, number, decode: decode, observer)
    }
  }

  func stopObserving(_ name: String, _ number: Int) {
    connection.perform { self.state.stopObserving(name, number) }
  }

  /// Sets the function that answers calls of the daemon; nil: they are refused.
  func answer(_ method: String, with answerer: ClientState.Answerer?) {
    connection.perform { self.state.answer(method, with: answerer) }
  }

  /// The capability of the agent that answers from now on; nil for no agent.
  func setAgent(_ capability: PairingCapability?) { connection.perform { self.state.agent = capability } }

  /// The number of a call that registers an agent, or removes it.
  /// A number for a value whose confirmations are reported.
  func nextConfirmation() -> Int { lastConfirmation.add(1, ordering: .relaxed).newValue & Int(UInt32.max) }

  func newAgentCall() -> Int { lastAgentCall.add(1, ordering: .relaxed).newValue }

  /// A cancelled call registered an agent: restores the previous one at the daemon, unless a later call has replaced
  /// it.
  func restoreAgent(after call: Int) {
    connection.perform { [self] in
      guard lastAgentCall.load(ordering: .relaxed) == call else { return }
      if let capability = state.agent {
        callUnawaited(PairingRegister.self, .init(capability: capability))
      } else {
        callUnawaited(PairingUnregister.self, Empty())
      }
    }
  }

  /// Registers a scan before its request.
  /// - Parameter scan: Its number at the daemon; nil for the scan without a number.
  func beginScan(_ number: Int, as scan: Int?, replaced: @escaping @Sendable () -> Void) {
    connection.perform { [self] in
      if session.isOpen { state.beginScan(number, as: scan, replaced: replaced) }
    }
  }

  /// Ends the streams of the scans that it replaces.
  func scanStarted(_ number: Int, as scan: Int?) {
    connection.perform { for end in self.state.scanStarted(number, as: scan) { end() } }
  }

  /// The daemon refused a scan; the earlier scan continues.
  func scanRefused(_ number: Int, as scan: Int?) {
    connection.perform { self.perform(self.state.scanRefused(number, as: scan), of: scan) }
  }

  /// Stops a scan, unless another one has replaced it.
  func endScan(_ number: Int, as scan: Int?) {
    connection.perform { self.perform(self.state.endScan(number, as: scan), of: scan) }
  }

  private func perform(_ end: ClientState.ScanEnd, of scan: Int?) {
    for end in end.replaced { end() }
    if end.isStopped { callUnawaited(ScanStop.self, .init(scan: scan)) }
  }

  /// Changes the users of resources, and sends the consequences to the daemon.
  func update<Request: ClientRequest>(
    _ change: @escaping @Sendable (inout Uses<Request>) -> [Uses<Request>.Undo]
  ) {
    connection.perform { [self] in
      for undo in change(&state[keyPath: Request.table]) { Request.undo(undo, on: self) }
    }
  }

  /// Answers a call of the daemon.
  func answer(_ id: RequestID, _ result: some RPCPayload) {
    connection.perform { self.session.answer(id, result) }
  }

  /// Refuses a call of the daemon.
  func refuse(_ id: RequestID, _ error: RPCError) {
    connection.perform { self.session.refuse(id, error) }
  }

  /// The descriptor passed with the current message, for completions and observers. It is closed if none of them takes
  /// it.
  /// - Returns: nil if there was none, or it was taken.
  func takeDescriptor() -> ReceivedDescriptor? { session.takeDescriptor() }

  private func notified(_ name: String, _ message: RPCMessage) {
    for group in state.observers(of: name) {
      let value: any Sendable
      do {
        value = try group.decode(message)
      } catch {
        return session.close(BledError.protocolViolation.error("bled sent an invalid \(name): \(error.message)"))
      }
      for observer in group.observers { observer.value(value) }
    }
  }

  private func asked(_ id: RequestID, _ method: String, _ message: RPCMessage) {
    if let answerer = state.answerer(of: method) {
      answerer(message, id)
    } else {
      session.refuse(id, RPCError(code: RPCError.methodNotFound, message: "this client does not answer \(method)"))
    }
  }

  private func ended(_ reason: BluetoothError?) {
    for observer in state.end() { observer.end(reason) }
  }
}
