import Adapter
import BledRPC
import Bluetooth
import FoundationEssentials
import Logging

/// The sessions: begun for connecting programs, preserved when these disconnect, and ended.
final class SessionRegistry {
  /// Oldest first.
  private(set) var all: [Session] = []
  /// The last session's number, which is also the count of sessions so far.
  private(set) var last = 0
  /// The costs of users.
  private(set) var users = UserMetrics()
  /// True while the daemon stops: no session begins.
  private(set) var isStopping = false
  let holdings: Holdings
  let restorations: Restorations
  let adapters: AdapterRegistry
  let rules: Rules
  let scheduler: any Scheduler
  let logger: Logger
  /// The commit the daemon was built from; nil in a development build.
  let commit: String?
  private let router: Router
  private let memory: FreedMemory

  init(
    _ holdings: Holdings, _ restorations: Restorations, adapters: AdapterRegistry, rules: Rules, router: Router,
    scheduler: any Scheduler, logger: Logger, commit: String?
  ) {
    self.commit = commit
    self.holdings = holdings
    self.restorations = restorations
    self.adapters = adapters
    self.rules = rules
    self.router = router
    self.scheduler = scheduler
    self.logger = logger
    memory = FreedMemory(scheduler)
    restorations.describe = { holdings.state(of: $0, since: 0) }
  }

  // MARK: Connections of programs

  /// Opens a session for a connected client.
  func open(_ transport: any SessionTransport, credentials: PeerCredentials?) -> SessionConnection {
    let session = makeSession(credentials: credentials)
    let connection = SessionConnection(
      transport: transport, credentials: credentials, session: session, router: router, logger: logger
    ) { [memory] in
      memory.mayHaveGrown()
    }
    let refusal = refusal(of: session)
    add(session)
    logger.debug(
      "session \(session.id) opened by process \(credentials?.process ?? 0) (\(credentials?.program ?? "?")) of user \(credentials?.user ?? 0)",
      metadata: .about(session: session))
    if let refusal {
      connection.refuse(nil, RPCError(refusal))
      close(session, refusal)
    }
    return connection
  }

  /// The error if this session cannot be opened.
  private func refusal(of session: Session) -> BluetoothError? {
    guard !isStopping else { return Self.shuttingDown }
    // A user that can see all sessions can also end some.
    guard !rules.permissions(of: session).contains(.sessions) else { return nil }
    do throws(BluetoothError) {
      try admitSession(ofUser: session.user)
      return nil
    } catch {
      logger.notice("a session was refused: \(error)", metadata: .about(session: session))
      return error
    }
  }

  /// Checks the limits of sessions.
  /// - Parameter leaving: a session that ends for the new one.
  func admitSession(ofUser user: UInt32?, inPlaceOf leaving: Session? = nil) throws(BluetoothError) {
    let others = all.filter { $0 !== leaving }
    let own = others.count { $0.user == user }
    try rules.admit(.sessions, ofUser: user, all: own)
    try rules.admit(.sessions, total: others.count, own: own)
  }

  func makeSession(credentials: PeerCredentials?) -> Session {
    last += 1
    return Session(
      id: last, credentials: credentials, since: scheduler.secondsSinceEpoch, rules: rules, logger: logger
    ) { [unowned self] session in
      // Not at once: its caller may be in the middle of something.
      scheduler.schedule(after: .zero) { [weak self] in
        self?.close(session, BledError.tooSlow.error("the session did not read its messages"))
      }
    }
  }

  /// Adds a session: for a connected client or another user, or a preserved one.
  func add(_ session: Session) {
    all.append(session)
    users.begins(of: session.user)
  }

  /// A client has disconnected: its resources are released, or preserved if its session has a restoration identifier.
  func closed(_ connection: SessionConnection) {
    guard connection.isOpen else { return }
    if restorations.isPreserved(connection.session), !isStopping { return lose(connection.session) }
    close(connection.session, GAPError.cancelled.error("the session has ended"))
  }

  // MARK: Ends

  /// Ends all sessions, as the daemon stops. The next daemon finds the preserved ones.
  func stop() {
    isStopping = true
    restorations.freeze()
    holdings.pairing.bonds.clients.freeze()
    for session in all { close(session, Self.shuttingDown) }
  }

  /// Sends a line to all connected programs. A program that resumes its session gets the present state with the answer.
  /// - Parameter permission: only to programs with this one; nil: to all.
  func broadcast(_ line: Data?, permission: Permission? = nil) {
    for session in all where session.isPresent {
      if let permission, !rules.permissions(of: session).contains(permission) { continue }
      session.send(line, as: .event)
    }
  }

  /// Moves a connection from a session without resources to another one.
  func replace(_ session: Session, by kept: Session, on connection: SessionConnection) {
    all.removeAll { $0 === session }
    connection.resume(kept)
    forgetIfGone(session.user)
  }

  /// Forgets the accounts of a user without sessions.
  private func forgetIfGone(_ user: UInt32?) {
    if !all.contains(where: { $0.user == user }) { rules.forget(user) }
  }

  /// Ends a session: its resources are released.
  func close(_ session: Session, _ error: BluetoothError) {
    guard session.isOpen else { return }
    session.end(error)
    users.add(session.description(ofCostsAt: scheduler.now), of: session.user)
    all.removeAll { $0 === session }
    memory.mayHaveGrown()
    restorations.forget(session)
    forgetIfGone(session.user)
    holdings.release(session)
    logger.debug(
      "session \(session.id) closed; reports coalesced \(session.outbox.coalescedReports), dropped \(session.outbox.droppedReports), values refused \(session.outbox.refusedValues), links slowed \(session.slowedLinks)",
      metadata: .about(session: session))
  }

  private static var shuttingDown: BluetoothError { BledError.shuttingDown.error("the daemon is shutting down") }
}
