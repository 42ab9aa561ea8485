import BledClient

/// Invitations in both directions at once: the one from the lower identifier prevails.
extension NearbyNode {
  /// The time for the peer's invitation if it prevails over the own one.
  private static let crossing = Duration.seconds(30)

  /// A peer invites this side.
  func invited(_ context: [UInt8], _ number: Int) {
    guard let peer = peers[number], peer.connection != nil else { return end(number, .declined) }
    // The peer has accepted this side's invitation, after it had begun its own.
    let isConnected = peers.values.contains {
      $0.key == peer.key && $0.isOurs && $0.session.state == .connected
    }
    guard !isConnected else { return end(number, .replaced) }
    switch inviting.received((number, context), from: peer.remote.identifier, peer.key) {
    case .offered: offer(context, number)
    case .held: break
    case .crossing: cross(number)
    }
  }

  /// The invited peer's key is known.
  func began(_ identifier: UInt64, _ number: Int, _ key: [UInt8]) {
    for held in inviting.opened(identifier, number, key) { invited(held.context, held.number) }
    // One reported to the program before, and not answered yet.
    for (number, peer) in peers
    where peer.key == key && peer.remote.identifier == identifier && peer.session.isInvited {
      cross(number)
    }
  }

  /// This side's invitation is over; the program answers the others from that identifier.
  func concluded(_ identifier: UInt64) {
    for held in inviting.end(identifier) { offer(held.context, held.number) }
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

  private func cross(_ number: Int) {
    guard let peer = peers[number], let connection = peer.connection else { return }
    let identifier = peer.remote.identifier
    guard settings.identifier > identifier else { return end(number, .replaced) }
    guard answer(number, true) else { return }
    waiting[number] = nil
    inviting.cross(identifier, connection)
    if let session = inviting.session(with: identifier) { end(session, .replaced) }
    if let number = inviting.number(to: identifier) { waits.wake(at: .crossing(number)) }
  }

  private func refuse(_ number: Int) {
    refusals += 1
    end(number, .declined)
  }

  /// The program is to answer.
  private func offer(_ context: [UInt8], _ number: Int) {
    guard let connection = peers[number]?.connection, peers[number]?.hasEnded == false else { return }
    waiting[number] = nil
    guard unfetched.add(NearbyInvitation(connection: connection, context: context)) else { return refuse(number) }
  }
}
