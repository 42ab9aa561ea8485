import BledConnection
import BledRPC
import Bluetooth

/// A program on the bus that has called a method which concerns bled: one unique name, with its sessions of bled.
final class BusClient {
  /// A session has one scan: monitors have another beside the discovery.
  enum Purpose {
    case everything, monitoring
  }

  /// Its unique name, ":1.42".
  let name: String
  let credentials: Credentials
  private let context: Context
  private unowned let clients: Clients
  private let calls: ProgramCalls
  private var sessions: [Purpose: DaemonSession] = [:]
  /// True if it has left the bus; for a client that is not on it, true once it holds nothing.
  private(set) var isClosed = false
  private var holds = 0

  init(_ name: String, _ credentials: Credentials, _ user: UserCalls, context: Context, clients: Clients) {
    self.name = name
    self.credentials = credentials
    self.context = context
    self.clients = clients
    calls = ProgramCalls(context, to: name, of: user)
  }

  /// False for a client that holds the links of programs that have left.
  var isOnBus: Bool { name.utf8.first == UInt8(ascii: ":") }

  /// True if it is this program, or another connection of its process to the bus.
  func isOfSameProcess(as other: BusClient) -> Bool {
    // The bus may not know the process.
    name == other.name || credentials.process != 0 && credentials.process == other.credentials.process
  }

  /// Calls a method of the program, after all earlier ones.
  func call(
    _ path: String, _ interface: String, _ method: String, _ values: [BusValue] = [],
    _ completion: @escaping ProgramCalls.Completion = { _ in }
  ) {
    calls.call(path, interface, method, values, completion)
  }

  /// Its session, which is opened by its first use. If bled cannot be reached, calls in it fail.
  var session: DaemonSession { session(.everything) }

  /// The session of its monitors.
  var monitoring: DaemonSession { session(.monitoring) }

  private func session(_ purpose: Purpose) -> DaemonSession {
    if let session = sessions[purpose], session.isOpen { return session }
    // An answer may arrive after the program has left the bus.
    guard !isClosed else { return DaemonSession() }
    var isAccepted = false
    let session = DaemonSession(
      context.connector, context.clock,
      DaemonSession.Observer(
        notified: { [unowned self] name, message in
          switch purpose {
          case .everything: clients.observer?.notified(self, name, message)
          case .monitoring: clients.observer?.monitored(self, name, message)
          }
        },
        asked: { [unowned self] in clients.observer?.asked(self, $0, $1, $2) },
        ended: { [unowned self] error in
          // A call that failed with it may have opened the next one.
          if sessions[purpose]?.isOpen == false { sessions[purpose] = nil }
          if error != nil, isAccepted { clients.observer?.lost(self, purpose) }
        },
        // Changes by a message are sent at once.
        handled: { [context] in context.flush() }))
    sessions[purpose] = session
    let user = Principal(id: credentials.user, groups: credentials.groups, process: Int(credentials.process))
    session.call(SessionOpen.self, SessionOpen.Params(name: sessionName, user: user)) { [weak session] result in
      guard case .failure(let error) = result else { return isAccepted = true }
      // Calls in it would be made for the user of this process: the next one opens another session.
      session?.close(error)
    }
    return session
  }

  private var sessionName: String { "org.bluez \(name)" }

  /// Asks bled each time if the program has a permission, which may have been given or revoked. For changes made here,
  /// without a method of bled that checks.
  func require(
    _ permission: Permission, for purpose: Purpose = .everything,
    _ completion: @escaping (Result<Void, BusError>) -> Void
  ) {
    session(purpose).call(SessionOpen.self, SessionOpen.Params(name: sessionName)) { result in
      switch result {
      case .success(let opened): completion(opened.isPermitted(permission) ? .success(()) : .failure(.notAuthorized))
      case .failure(let error): completion(.failure(BusError(error, otherwise: .failed(error.message))))
      }
    }
  }

  /// Ends the session of its monitors.
  func endMonitoring() { sessions[.monitoring]?.close() }

  /// Keeps its sessions open when it has left the bus, until `release` is called.
  func hold() { holds += 1 }

  func release() {
    holds -= 1
    if isClosed { closeSessions() }
  }

  func close() {
    isClosed = true
    calls.close()
    closeSessions()
  }

  private func closeSessions() {
    guard holds == 0 else { return }
    for session in sessions.values { session.close() }
  }
}
