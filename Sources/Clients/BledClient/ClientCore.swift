import BledConnection
import BledRPC
import Bluetooth
import FoundationEssentials
import Synchronization

/// The connection with its pending calls and observers. Completions and observers are called on the connection's queue,
/// in the order of the daemon's messages.
final class ClientCore: @unchecked Sendable {
  private let connection: LineConnection
  /// Used on the connection's queue alone.
  private var state = ClientState()
  /// The descriptor of the message that is being handled; used on the connection's queue alone.
  private var passed: ReceivedDescriptor?
  private let lastNumber = Atomic(0)
  private let lastAgentCall = Atomic(0)
  private let hasEnded = Atomic(false)

  init(connection: LineConnection) { self.connection = connection }

  func start() {
    connection.start(line: { self.receive($0, $1) }, closed: { self.end($0) })
    followLinks()
  }

  func close() {
    hasEnded.store(true, ordering: .relaxed)
    // Not at once, even on the connection's queue: the last reference may go there, and calls made elsewhere may still
    // be on their way to it.
    connection.enqueue { [self] in
      end(nil)
      connection.close()
    }
  }

  var daemonUser: UInt32? { connection.daemonUser }

  var isConnected: Bool { !hasEnded.load(ordering: .relaxed) }

  func newNumber() -> Int { lastNumber.add(1, ordering: .relaxed).newValue }

  /// Sends a call.
  func begin<Method: RPCMethod>(
    _ method: Method.Type, id: Int, _ params: Method.Params, late: ClientState.Completion?,
    completion: @escaping ClientState.Completion
  ) {
    let request = Result { () throws(BluetoothError) in
      try ConnectionMachine<ClientState.Completion>.line(method, id: id, params)
    }
    connection.perform { [self] in
      switch request {
      case .failure(let error):
        completion(.failure(error))
      case .success(let line):
        guard state.connection.begin(id, completion, late: late) else {
          return completion(.failure(state.connection.endError))
        }
        connection.send(line)
      }
    }
  }

  /// Ends the wait for a call. `abandoned` is called if the call was still pending.
  func abandon(_ id: Int, _ error: BluetoothError, abandoned: (@Sendable () -> Void)?) {
    connection.perform { [self] in
      guard let completion = state.connection.abandon(id) else { return }
      completion(.failure(error))
      abandoned?()
    }
  }

  func observe(
    _ name: String, as type: Any.Type, _ number: Int, decode: @escaping ClientState.Decoder,
    _ observer: ClientState.Observer
  ) {
    connection.perform { [self] in
      if !state.observe(name, as: type, number, decode: decode, observer) { observer.end(state.connection.endError) }
    }
  }

  func stopObserving(_ name: String, _ number: Int) {
    connection.perform { self.state.stopObserving(name, number) }
  }

  /// Sets the function that answers calls of the daemon; nil: they are refused.
  func answer(_ method: String, with answerer: ClientState.Answerer?) {
    connection.perform { self.state.answer(method, with: answerer) }
  }

  /// The means of the agent that answers from now on; nil: there is none.
  func setAgent(_ capability: PairingCapability?) { connection.perform { self.state.agent = capability } }

  /// The number of a call that registers an agent, or removes it.
  func newAgentCall() -> Int { lastAgentCall.add(1, ordering: .relaxed).newValue }

  /// A cancelled call registered an agent: the daemon gets the one before it back, unless a later call has replaced it.
  func restoreAgent(after call: Int) {
    connection.perform { [self] in
      guard lastAgentCall.load(ordering: .relaxed) == call else { return }
      if let capability = state.agent {
        tell(PairingRegister.self, .init(capability: capability))
      } else {
        tell(PairingUnregister.self, Empty())
      }
    }
  }

  /// Registers a scan that is about to be requested.
  /// - Parameter scan: Its number at the daemon; nil for the one without.
  func beginScan(_ number: Int, as scan: Int?, replaced: @escaping @Sendable () -> Void) {
    connection.perform { self.state.beginScan(number, as: scan, replaced: replaced) }
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
    if end.isStopped { tell(ScanStop.self, .init(scan: scan)) }
  }

  /// Changes the users of things, and tells the daemon the consequences.
  func update<Request: ClientRequest>(
    _ change: @escaping @Sendable (inout Uses<Request>) -> [Uses<Request>.Undo]
  ) {
    connection.perform { [self] in
      for undo in change(&state[keyPath: Request.table]) { Request.undo(undo, on: self) }
    }
  }

  /// Answers a call of the daemon.
  func answer(_ id: RequestID, _ result: some RPCPayload) {
    guard let line = try? RPCEncoding.success(id: id, result) else {
      return refuse(id, RPCError(code: RPCError.operationFailed, message: "the answer cannot be encoded"))
    }
    connection.send(line)
  }

  /// Refuses a call of the daemon.
  func refuse(_ id: RequestID, _ error: RPCError) {
    // An RPCError consists of strings and numbers: encoding it does not fail.
    if let line = try? RPCEncoding.failure(id: id, error) { connection.send(line) }
  }

  /// The descriptor that was passed with the message that is being handled: for completions and observers. If none of
  /// them takes it, it is closed.
  /// - Returns: nil if there was none, or another one took it.
  func takeDescriptor() -> ReceivedDescriptor? {
    defer { passed = nil }
    return passed
  }

  private func receive(_ line: Data, _ descriptor: ReceivedDescriptor?) {
    passed = descriptor
    defer { passed = nil }
    do {
      switch try state.connection.receive(line) {
      case .answer(let completion, let result): completion(result)
      case .notification(let name, let message): try notified(name, message)
      case .request(let id, let method, let message):
        if let answerer = state.answerer(of: method) {
          answerer(message, id)
        } else {
          refuse(id, RPCError(code: RPCError.methodNotFound, message: "this client does not answer \(method)"))
        }
      case .none: break
      }
    } catch {
      end(error)
      connection.close()
    }
  }

  private func notified(_ name: String, _ message: RPCMessage) throws(BluetoothError) {
    for group in state.observers(of: name) {
      let value: any Sendable
      do {
        value = try group.decode(message)
      } catch {
        throw BledError.protocolViolation.error("bled sent an invalid \(name): \(error.message)")
      }
      for observer in group.observers { observer.value(value) }
    }
  }

  private func end(_ error: BluetoothError?) {
    hasEnded.store(true, ordering: .relaxed)
    let (calls, observers, reason) = state.end(error)
    let failure = reason ?? BledError.daemonUnreachable.error("the connection to bled was closed")
    for completion in calls { completion(.failure(failure)) }
    for observer in observers { observer.end(reason) }
  }
}
