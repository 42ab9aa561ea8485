import BledClient

/// This side's pending invitation.
struct OwnInvitation {
  /// Distinguishes it from an earlier one to the same peer.
  let number: Int
  /// The number of its session and the peer's key, once a channel to it is open.
  var session: (number: Int, key: [UInt8])?
  /// The invitations from that identifier that wait for the key, with their contexts.
  var held: [Int: [UInt8]] = [:]
  /// The peer's own invitation, which replaced this one.
  var crossed: NearbyConnection?
  var waiter: CheckedContinuation<Void, Never>?
}

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
    guard let own = inviting[peer.remote.identifier] else { return offer(context, number) }
    // An identifier is easily copied; the key shows if it is the invited peer.
    guard let session = own.session else {
      inviting[peer.remote.identifier]?.held[number] = context
      return
    }
    guard session.key == peer.key else { return offer(context, number) }
    cross(number)
  }

  /// The invited peer's key is known.
  func began(_ identifier: UInt64, _ number: Int, _ key: [UInt8]) {
    let held = inviting[identifier]?.held ?? [:]
    inviting[identifier]?.session = (number, key)
    inviting[identifier]?.held = [:]
    for (number, context) in held.sorted(by: { $0.key < $1.key }) { invited(context, number) }
    // One reported to the program before, and not answered yet.
    for (number, peer) in peers
    where peer.key == key && peer.remote.identifier == identifier && peer.session.isInvited {
      cross(number)
    }
  }

  /// This side's invitation is over; the program answers the others from that identifier.
  func concluded(_ identifier: UInt64) {
    let own = inviting.removeValue(forKey: identifier)
    for (number, context) in (own?.held ?? [:]).sorted(by: { $0.key < $1.key }) { offer(context, number) }
  }

  /// Waits for the peer's own invitation, if the peer has announced that it prevails.
  func crossed(_ identifier: UInt64, _ end: NearbyEnd?) async -> NearbyConnection? {
    if end == .replaced, !hasStopped, let own = inviting[identifier], own.crossed == nil {
      let timer = Task {
        try await settings.clock.sleep(for: Self.crossing)
        wakeCrossing(identifier, own.number)
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiter in
          guard !Task.isCancelled else { return waiter.resume() }
          inviting[identifier]?.waiter = waiter
        }
      } onCancel: {
        Task { await wakeCrossing(identifier, own.number) }
      }
      timer.cancel()
    }
    return inviting[identifier]?.crossed
  }

  /// Ends an invitation's wait, but not that of a later one to the same peer.
  func wakeCrossing(_ identifier: UInt64, _ number: Int) {
    guard let own = inviting[identifier], own.number == number else { return }
    inviting[identifier]?.waiter = nil
    own.waiter?.resume()
  }

  private func cross(_ number: Int) {
    guard let peer = peers[number], let connection = peer.connection else { return }
    let identifier = peer.remote.identifier
    guard settings.identifier > identifier else { return end(number, .replaced) }
    guard answer(number, true) else { return }
    waiting[number] = nil
    inviting[identifier]?.crossed = connection
    guard let own = inviting[identifier] else { return }
    if let session = own.session { end(session.number, .replaced) }
    wakeCrossing(identifier, own.number)
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
