import Adapter
import BledRPC
import Bluetooth

/// Sessions outlasting their programs.
extension SessionRegistry {
  /// `session.open`: names the session, or resumes a preserved one.
  func open(
    _ params: SessionOpen.Params, for asking: Session, _ reply: Reply<SessionOpen.Result>
  ) throws {
    var asking = asking
    if let user = params.user {
      do throws(BluetoothError) {
        asking = try impersonate(user, instead: asking)
      } catch {
        guard asking.connection?.callCount == 1, rules.permissions(of: asking).contains(.impersonate) else {
          throw error
        }
        reply.fail(error)
        // The calls behind this one are for the other user: none may be executed as the program's own.
        return close(asking, error)
      }
    }
    let keep = try params.keep.map(retention(of:))
    var session = asking
    var restored: RestoredState?
    if let identifier = params.restore {
      guard let connection = asking.connection, connection.callCount == 1 else {
        throw BledError.invalidParameter.error("\"restore\" is allowed only in the first call on a connection")
      }
      let key = try RestorationKey(identifier, user: asking.credentials?.user)
      reviveSessions()
      if let kept = try restorations.claim(key) {
        (session, restored) = (kept.session, kept.state)
        let former = rules.policy.permissions(of: session.credentials)
        replace(asking, by: session, on: connection)
        if holdings.release(session, without: former.subtracting(connection.permissions)) {
          _ = session.removeLines(upTo: .max)
          restored = holdings.state(of: session, since: kept.state.since)
        }
        restored?.droppedReports = session.droppedReports
        restored?.droppedValues = session.droppedValues
      } else {
        try restorations.enter(session, as: key)
      }
    }
    if let name = params.name { session.rename(name) }
    if let keep {
      guard session.restoration != nil else {
        throw BledError.invalidParameter.error("\"keep\" requires \"restore\"")
      }
      restorations.setRetention(of: session, to: keep)
    }
    let background = params.background ?? session.asksForBackground
    let isChanged = background != session.asksForBackground || restored != nil
    session.asksForBackground = background
    reply.succeed(
      .init(
        session: session.id, daemon: "bled \(Daemon.version)", commit: commit, protocol: Daemon.protocolVersion,
        adapters: adapters.descriptions,
        permissions: rules.permissions(of: asking).words(), restored: restored),
      isFirst: restored != nil)
    if isChanged { holdings.backgroundChanged(session) }
    if restored != nil { holdings.programReturned(session) }
  }

  /// Moves a program's connection to a session of another user.
  private func impersonate(_ user: Principal, instead session: Session) throws(BluetoothError) -> Session {
    guard let connection = session.connection, connection.callCount == 1 else {
      throw BledError.invalidParameter.error("\"user\" is allowed only in the first call on a connection")
    }
    guard rules.permissions(of: session).contains(.impersonate) else {
      throw rules.policy.refusal(of: .impersonate, to: session.credentials)
    }
    guard user.id != .max else {
      throw BledError.invalidParameter.error("\"id\" of \"user\" must be less than \(UInt32.max), which is no user")
    }
    let credentials = session.credentials?.acting(for: user)
    if !rules.policy.permissions(of: credentials).contains(.sessions) {
      try admitSession(ofUser: user.id, inPlaceOf: session)
    }
    let acting = makeSession(credentials: credentials)
    add(acting)
    connection.act(as: credentials)
    replace(session, by: acting, on: connection)
    logger.debug(
      "session \(acting.id) is for user \(user.id), process \(user.process ?? 0), in place of session \(session.id)",
      metadata: .about(session: acting))
    return acting
  }

  /// `session.end`: releases everything held by this session or a preserved one.
  func end(_ params: SessionEnd.Params, for session: Session, _ reply: Reply<Empty>) throws {
    var ending = session
    if let identifier = params.restore {
      ending = try restorations.find(try RestorationKey(identifier, user: session.credentials?.user))
    }
    reply.succeed(Empty())
    close(ending, GAPError.cancelled.error("the session was ended by its user"))
  }

  /// The connection of a session to be preserved has ended.
  func lose(_ session: Session) {
    holdings.captures.ended(session)
    session.lose { [unowned self, unowned session] in restorations.wake(session) }
    holdings.programGone(session)
    holdings.backgroundChanged(session)
    preserve(session, since: scheduler.secondsSinceEpoch)
  }

  /// Restores the sessions stored by the previous daemon, once.
  func reviveSessions() {
    for stored in restorations.claimLeft() {
      do {
        try revive(stored)
      } catch {
        logger.warning("the preserved session \"\(stored.identifier)\" could not be restored: \(error)")
      }
    }
  }

  private func revive(_ stored: StoredSession) throws(BluetoothError) {
    let key = try RestorationKey(stored.identifier, user: stored.user)
    let keep = try stored.keep.map(retention(of:))
    try admitSession(ofUser: stored.user)
    let session = makeSession(credentials: stored.credentials)
    var state = stored.state
    if state.limit(to: rules.policy.permissions(of: stored.credentials)) {
      logger.warning(
        "the preserved session \"\(stored.identifier)\" dropped resources that the policy no longer permits")
    }
    try restorations.enter(session, as: key)
    session.lose { [unowned self, unowned session] in restorations.wake(session) }
    session.rename(stored.name)
    session.asksForBackground = stored.background
    add(session)
    if let keep { restorations.setRetention(of: session, to: keep) }
    holdings.restore(state, for: session) { error in
      logger.warning("part of a preserved session could not be restored: \(error)", metadata: .about(session: session))
    }
    preserve(session, since: stored.since ?? scheduler.secondsSinceEpoch)
  }

  private func retention(of seconds: Double) throws(BluetoothError) -> Duration {
    guard seconds > 0, seconds <= 86_400 * 365 else {
      throw BledError.invalidParameter.error("\"keep\" must be more than 0 seconds and at most a year")
    }
    return .seconds(seconds)
  }

  private func preserve(_ session: Session, since: Double) {
    let state = holdings.state(of: session, since: since)
    guard !state.isEmpty else {
      return close(session, GAPError.cancelled.error("the session has ended"))
    }
    restorations.preserve(session, state) { [unowned self, unowned session] in
      logger.info(
        "retention of session \(session.id) (\(session.name)) expired; its resources are released",
        metadata: .about(session: session))
      close(session, GAPError.cancelled.error("retention of the session expired"))
    }
    logger.debug("session \(session.id) is kept: its program has disconnected", metadata: .about(session: session))
  }
}
