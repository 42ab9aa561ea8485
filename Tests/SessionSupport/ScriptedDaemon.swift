import BledConnection
import BledRPC
import Bluetooth
import FoundationEssentials

/// bled, played by a test: it accepts sessions, and answers calls on command.
package final class ScriptedDaemon: DaemonConnector {
  /// A session, and the program's calls in it.
  package final class Session: DaemonTransport {
    private weak var session: DaemonSession?
    private unowned let daemon: ScriptedDaemon
    /// Its name in `session.open`.
    package fileprivate(set) var name = ""
    /// The user that it is for, if that is another one than the program's own.
    package fileprivate(set) var user: UInt32?
    /// The calls, their methods alone.
    package fileprivate(set) var methods: [String] = []
    /// The answers to bled's questions, by their number.
    package fileprivate(set) var answers: [Int: Result<RPCMessage, RPCError>] = [:]
    package fileprivate(set) var isClosed = false
    private var lastQuestion = 0

    fileprivate init(_ session: DaemonSession, _ daemon: ScriptedDaemon) {
      self.session = session
      self.daemon = daemon
    }

    package func send(_ line: Data) {
      guard let message = try? RPCMessage(line: line.dropLast()) else { return }
      switch message.kind {
      case .request(let id, let method):
        methods.append(method)
        daemon.received(method, message, id, self)
      case .success(.number(let id)): answers[id] = .success(message)
      case .failure(.number(let id)?, let error): answers[id] = .failure(error)
      default: break
      }
    }

    package func close() { isClosed = true }

    package func notify<Notification: RPCNotification>(_: Notification.Type, _ params: Notification.Params) throws {
      give(try RPCEncoding.notification(Notification.self, params))
    }

    /// Calls the program, and returns the number of the call.
    package func ask<Method: DaemonCall>(_: Method.Type, _ params: Method.Params) throws -> Int {
      lastQuestion += 1
      give(try RPCEncoding.request(Method.self, id: .number(lastQuestion), params))
      return lastQuestion
    }

    fileprivate func give(_ line: Data, _ descriptor: ReceivedDescriptor? = nil) {
      daemon.due.append { [weak self] in self?.session?.receive(line.dropLast(), descriptor) }
    }

    /// Ends the connection.
    package func end() {
      isClosed = true
      session?.end(BledError.daemonUnreachable.error("the connection has ended"))
    }
  }

  package typealias Answer = Result<any RPCPayload, BluetoothError>

  package private(set) var sessions: [Session] = []
  /// Answers calls; nil: with an empty result.
  package var answer: (String, RPCMessage, Session) -> Answer? = { _, _, _ in nil }
  /// No program can connect.
  package var isGone = false
  package var devices: [PeripheralList.Entry] = []
  package var adapters: [AdapterDescription] = []
  /// The permissions that users lack.
  package var lacking: [UInt32: Set<Permission>] = [:]
  /// The methods that are not answered before `release`.
  package var held: Set<String> = []
  private var heldCalls: [() -> Void] = []
  fileprivate var due: [() -> Void] = []

  package init() {}

  package func connect(_ session: DaemonSession) throws(BluetoothError) -> any DaemonTransport {
    guard !isGone else { throw BledError.daemonUnreachable.error("bled is not there") }
    let transport = Session(session, self)
    sessions.append(transport)
    return transport
  }

  fileprivate func received(_ method: String, _ message: RPCMessage, _ id: RequestID, _ session: Session) {
    guard !held.contains(method) else {
      return heldCalls.append { [weak self] in self?.received(method, message, id, session) }
    }
    do {
      switch try answer(method, message, session) ?? .success(result(method, message, session)) {
      case .success(let result):
        // Its number is invalid, so that nothing is closed at its end.
        session.give(
          try RPCEncoding.success(id: id, result), method == GATTAcquire.name ? ReceivedDescriptor(-1) : nil)
      case .failure(let error): session.give(try RPCEncoding.failure(id: id, RPCError(error)))
      }
    } catch {
      session.end()
    }
  }

  private func result(_ method: String, _ message: RPCMessage, _ session: Session) throws -> any RPCPayload {
    switch method {
    case SessionOpen.name:
      let params = try message.params(SessionOpen.Params.self)
      session.name = params.name ?? ""
      if let user = params.user { session.user = user.id }
      let lacking = session.user.flatMap { self.lacking[$0] } ?? []
      return SessionOpen.Result(
        session: sessions.count, daemon: "0", protocol: 1, adapters: adapters,
        permissions: Permission.allCases.filter { !lacking.contains($0) }.words())
    case PeripheralList.name: return PeripheralList.Result(peripherals: devices)
    case PairingList.name: return PairingList.Result(bonds: [])
    default: return Empty()
    }
  }

  /// Answers the calls that were held, in their order.
  package func release() {
    held = []
    let calls = heldCalls
    heldCalls = []
    for call in calls { call() }
  }

  /// Gives out one message.
  package func deliver() -> Bool {
    guard !due.isEmpty else { return false }
    due.removeFirst()()
    return true
  }
}
