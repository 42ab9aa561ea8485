import BledClient
import Noise

/// Sessions begun by this side.
extension NearbyNode {
  /// Invites a peer and waits for its answer.
  /// - Parameters:
  ///   - context: at most 65,536 octets, which the peer sees before it answers.
  ///   - timeout: the time for the peer's answer, from 1 s to 18 hours.
  ///   - opened: called when the channel is encrypted and the code known, before the peer answers.
  /// - Returns: the session, connected.
  /// - Throws: `GAPError.connectionFailed` if the peer declines or cannot be reached; `.disconnected` if the link is
  ///   lost before the answer; `.timeout`;
  ///   `BledError.limitReached` with seven peers; `.alreadyInProgress` if it is connected or invited;
  ///   `GAPError.cancelled` when the node is stopped, or the task is cancelled.
  public func invite(
    _ peer: FoundPeer, context: [UInt8] = [], timeout: Duration = .seconds(30),
    opened: @Sendable (NearbyConnection) -> Void = { _ in }
  ) async throws(BluetoothError) -> NearbyConnection {
    guard connectedCount + inviting.count < Self.peerLimit else {
      throw BledError.limitReached.error("\(Self.peerLimit) peers are connected: disconnect one")
    }
    guard context.count <= 1 << 16 else {
      throw BledError.invalidParameter.error("the context of an invitation has at most 65536 octets")
    }
    guard inviting.number(to: peer.identifier) == nil,
      !sessions.values.contains(where: { $0.remote.identifier == peer.identifier && ($0.isOurs || $0.isAlive) })
    else { throw alreadyConnected(peer.name) }
    inviting.begin(peer.identifier)
    defer { concluded(peer.identifier) }
    await formerEnds(of: peer.identifier)
    let hello = Hello(identifier: settings.identifier, name: settings.name)
    let (link, control, channel) = try await dialer.dial(peer.peripheral, peer.identifier, hello)
    // The program may have accepted the peer's own invitation meanwhile.
    guard !sessions.values.contains(where: { $0.key == channel.remoteKey && $0.isAlive }) else {
      control.close()
      await links.release(peer.peripheral)
      throw alreadyConnected(peer.name)
    }
    let session = add(channel, peer.peripheral, isDialer: true, channel.hello.session)
    let connection = makeConnection(session)
    opened(connection)
    session.use(peer.peripheral, link, on: self)
    session.machine.invite(context: context, timeout: timeout, at: now)
    session.attach(control, .control, on: self)
    began(session)
    session.handle(on: self) { $0.receive([], on: .control, at: now) }
    let end = await withTaskCancellationHandler {
      await openBulk(channel.hello, of: session)
      return await session.answer(on: self)
    } onCancel: {
      Task { await self.end(connection.number, .byUs) }
    }
    if end != nil, let other = await crossed(peer.identifier, end) { return other }
    if end != nil, Task.isCancelled { throw GAPError.cancelled.error("the invitation was cancelled") }
    switch end {
    case nil: return connection
    case .declined?: throw GAPError.connectionFailed.error("\(peer.name) declined the invitation")
    case .timeout?: throw GAPError.timeout.error("\(peer.name) did not answer the invitation")
    case .violation(let text)?:
      throw BledError.protocolViolation.error("\(peer.name) sent \(text): both sides need compatible versions")
    case .linkLost?: throw GAPError.disconnected.error("the link to \(peer.name) was lost: invite it again")
    case .some: throw GAPError.connectionFailed.error("\(peer.name) ended the session: invite it again")
    }
  }

  private func alreadyConnected(_ name: String) -> BluetoothError {
    BledError.alreadyInProgress.error("\(name) is connected or invited already")
  }

  /// Connects again, until the session is resumed or its time is over.
  func redial(_ session: NearbySession) async {
    guard !session.isRedialing else { return }
    session.isRedialing = true
    defer { session.isRedialing = false }
    while session.isLost {
      do throws(BluetoothError) {
        try await resume(session)
      } catch {
        // The device may be out of reach, or the adapter off: it is tried as long as there is time.
        try? await Task.sleep(for: .milliseconds(250))
      }
    }
  }

  private func resume(_ session: NearbySession) async throws(BluetoothError) {
    let remote = session.remote
    var hello = Hello(identifier: settings.identifier, name: settings.name, session: session.machine.identifier)
    hello.receivedControl = session.machine.receivedCount(on: .control)
    hello.receivedBulk = session.machine.receivedCount(on: .bulk)
    let (link, control, opened) = try await dialer.dial(remote.peripheral, remote.identifier, hello)
    guard session.isLost, opened.remoteKey == session.key, opened.hello.session == session.machine.identifier else {
      control.close()
      await links.release(remote.peripheral)
      guard session.isLost else { return }
      guard opened.remoteKey == session.key else {
        throw GAPError.connectionFailed.error("another peer has taken the identifier of \(remote.name)")
      }
      return session.handle(on: self) { $0.end(.forgotten) }
    }
    session.use(remote.peripheral, link, on: self)
    session.resume(opened, control, on: self)
    await openBulk(opened.hello, of: session)
  }

  /// Opens the present link's bulk channel; without it the link is useless.
  private func openBulk(_ hello: Hello, of session: NearbySession) async {
    guard let link = session.link, let control = session.sockets[.control] else { return }
    do {
      guard let (socket, stream) = try await opener.openBulk(link, hello) else { return }
      guard session.sockets[.control] === control else { return socket.close() }
      session.opened(socket, stream, on: self)
    } catch {
      // A session ended here waits until the other side knows.
      if !session.hasEnded, session.sockets[.control] === control { session.linkLost(on: self) }
    }
  }
}
