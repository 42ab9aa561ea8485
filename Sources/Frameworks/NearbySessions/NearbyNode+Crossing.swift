import BledClient

/// Invitations in both directions at once: the one from the lower identifier prevails.
extension NearbyNode {
  /// The time for the peer's invitation if it prevails over the own one.
  private static let crossing = Duration.seconds(30)

  /// A peer invites this side.
  func invited(_ context: [UInt8], _ session: NearbySession) {
    guard session.connection != nil else { return end(session, .declined) }
    // The peer has accepted this side's invitation, after it had begun its own.
    let isConnected = sessions.values.contains {
      $0.key == session.key && $0.isOurs && $0.machine.state == .connected
    }
    guard !isConnected else { return end(session, .replaced) }
    switch inviting.received((session.number, context), from: session.remote.identifier, session.key) {
    case .offered: offer(context, session)
    case .held: break
    case .crossing: cross(session)
    }
  }

  /// The invited peer's key is known.
  func began(_ own: NearbySession) {
    let identifier = own.remote.identifier
    for held in inviting.opened(identifier, own.number, own.key) {
      if let session = sessions[held.number] { invited(held.context, session) }
    }
    // One reported to the program before, and not answered yet.
    for session in sessions.values
    where session.key == own.key && session.remote.identifier == identifier && session.machine.isInvited {
      cross(session)
    }
  }

  /// This side's invitation is over; the program answers the others from that identifier.
  func concluded(_ identifier: UInt64) {
    for held in inviting.end(identifier) {
      if let session = sessions[held.number] { offer(held.context, session) }
    }
  }

  /// Waits for the peer's own invitation, if the peer has announced that it prevails.
  func crossed(_ identifier: UInt64, _ end: NearbyEnd?) async -> NearbyConnection? {
    if end == .replaced, !hasStopped, inviting.crossed(by: identifier) == nil,
      let number = inviting.number(to: identifier)
    {
      let timer = Task {
        try await settings.clock.sleep(for: Self.crossing)
        waits.wake(at: .crossing(number))
      }
      await waits.wait(at: .crossing(number))
      timer.cancel()
    }
    return inviting.crossed(by: identifier)
  }

  private func cross(_ session: NearbySession) {
    guard let connection = session.connection else { return }
    let identifier = session.remote.identifier
    guard settings.identifier > identifier else { return end(session, .replaced) }
    guard answer(session, true) else { return }
    session.unreported = nil
    inviting.cross(identifier, connection)
    if let own = inviting.session(with: identifier) { end(own, .replaced) }
    if let number = inviting.number(to: identifier) { waits.wake(at: .crossing(number)) }
  }

  /// The program is to answer.
  private func offer(_ context: [UInt8], _ session: NearbySession) {
    guard let connection = session.connection, !session.hasEnded else { return }
    session.unreported = nil
    guard !unfetched.add(NearbyInvitation(connection: connection, context: context)) else { return }
    refusals += 1
    end(session, .declined)
  }

  // MARK: Answers

  func answer(_ session: NearbySession, _ accepts: Bool) -> Bool {
    if accepts, connectedCount >= Self.peerLimit { makeRoom(for: session) }
    let accepts = accepts && connectedCount < Self.peerLimit
    var isConnected = false
    session.handle(on: self) { machine in
      let events = machine.answer(accepts)
      isConnected = events.contains(.connected)
      return events
    }
    guard isConnected else { return false }
    // The peer has restarted, and the link of its former session still counts as up.
    let former = sessions.values.filter { $0 !== session && $0.key == session.key && $0.isAlive }
    for other in former.sorted(by: { $0.number < $1.number }) { end(other, .replaced) }
    return true
  }

  /// Peers that connect and leave must not keep all others out until their return expires. Among the lost sessions
  /// accepted here the oldest without any transfer, or with the newcomer's name, ends.
  private func makeRoom(for session: NearbySession) {
    let lost = sessions.values.filter {
      $0 !== session && $0.isLost && !$0.machine.isDialer
        && (!$0.hasTransferred || $0.remote.name == session.remote.name)
    }
    if let oldest = lost.min(by: { $0.number < $1.number }) { end(oldest, .linkLost) }
  }
}
