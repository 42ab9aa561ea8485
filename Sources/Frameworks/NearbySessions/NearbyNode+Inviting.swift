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
      !peers.values.contains(where: { $0.remote.identifier == peer.identifier && ($0.isOurs || $0.session.isAlive) })
    else { throw alreadyConnected(peer.name) }
    inviting.begin(peer.identifier)
    defer { concluded(peer.identifier) }
    await formerEnds(of: peer.identifier)
    let hello = Hello(identifier: settings.identifier, name: settings.name)
    let (link, control, channel) = try await dialer.dial(peer.peripheral, peer.identifier, hello)
    // The program may have accepted the peer's own invitation meanwhile.
    guard !peers.values.contains(where: { $0.key == channel.remoteKey && $0.session.isAlive }) else {
      control.close()
      await links.release(peer.peripheral)
      throw alreadyConnected(peer.name)
    }
    let number = add(channel, peer.peripheral, isDialer: true, channel.hello.session)
    let connection = makeConnection(number, channel)
    opened(connection)
    peers[number]?.link = link
    peers[number]?.device = peer.peripheral
    peers[number]?.session.invite(context: context, timeout: timeout, at: now)
    attach(control, .control, to: number)
    began(peer.identifier, number, channel.remoteKey)
    perform(peers[number]?.session.receive([], on: .control, at: now) ?? [], of: number)
    let end = await withTaskCancellationHandler {
      await openBulk(channel, number)
      return await answer(to: number)
    } onCancel: {
      Task { await self.end(number, .byUs) }
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

  /// Waits for the answer to an invitation.
  /// - Returns: nil if it was accepted.
  private func answer(to number: Int) async -> NearbyEnd? {
    await withCheckedContinuation { waiter in
      guard let state = peers[number]?.session.state, state != .connected, state != .ended else {
        return waiter.resume(
          returning: peers[number]?.session.state == .connected ? nil : peers[number]?.end ?? .linkLost)
      }
      peers[number]?.answerWaiter = waiter
    }
  }

  private func alreadyConnected(_ name: String) -> BluetoothError {
    BledError.alreadyInProgress.error("\(name) is connected or invited already")
  }

  /// Connects again, until the session is resumed or its time is over.
  func redial(_ number: Int) async {
    guard peers[number]?.isRedialing == false else { return }
    peers[number]?.isRedialing = true
    defer { peers[number]?.isRedialing = false }
    while let peer = peers[number], case .lost = peer.session.state {
      var hello = Hello(identifier: settings.identifier, name: settings.name, session: peer.session.identifier)
      hello.receivedControl = peer.session.receivedCount(on: .control)
      hello.receivedBulk = peer.session.receivedCount(on: .bulk)
      do throws(BluetoothError) {
        let (link, control, opened) = try await dialer.dial(peer.remote.peripheral, peer.remote.identifier, hello)
        guard let peer = peers[number], case .lost = peer.session.state else {
          control.close()
          return await links.release(peer.remote.peripheral)
        }
        guard opened.remoteKey == peer.key else {
          control.close()
          await links.release(peer.remote.peripheral)
          throw GAPError.connectionFailed.error("another peer has taken the identifier of \(peer.remote.name)")
        }
        guard opened.hello.session == peer.session.identifier else {
          control.close()
          await links.release(peer.remote.peripheral)
          return perform(peers[number]?.session.end(.forgotten) ?? [], of: number)
        }
        peers[number]?.link = link
        peers[number]?.device = peer.remote.peripheral
        let events = peers[number]?.session.resume(
          control: opened.stream, receivedControl: opened.hello.receivedControl,
          receivedBulk: opened.hello.receivedBulk)
        attach(control, .control, to: number)
        perform(events ?? [], of: number)
        await openBulk(opened, number)
      } catch {
        // The device may be out of reach, or the adapter off: it is tried as long as there is time.
        try? await Task.sleep(for: .milliseconds(250))
      }
    }
  }

  /// Opens the present link's bulk channel; without it the link is useless.
  private func openBulk(_ opened: ControlOpening.Opened, _ number: Int) async {
    guard let link = peers[number]?.link, let control = peers[number]?.sockets[.control] else { return }
    do {
      guard let (socket, stream) = try await opener.openBulk(link, opened.hello) else { return }
      guard peers[number]?.sockets[.control] === control else { return socket.close() }
      let events = peers[number]?.session.openedBulk(stream) ?? []
      attach(socket, .bulk, to: number)
      perform(events, of: number)
    } catch {
      // A session ended here waits until the other side knows.
      if peers[number]?.hasEnded == false, peers[number]?.sockets[.control] === control { linkLost(number) }
    }
  }

  // MARK: Sessions

  /// Adds a session whose control channel is open.
  func add(_ opened: ControlOpening.Opened, _ peripheral: String, isDialer: Bool, _ identifier: [UInt8]) -> Int {
    lastNumber += 1
    let remote = FoundPeer(
      identifier: opened.hello.identifier, name: opened.hello.name, information: [:], peripheral: peripheral)
    peers[lastNumber] = PeerState(
      session: PeerSession(
        isDialer: isDialer, identifier: identifier, control: opened.stream, resumption: settings.resumption, at: now),
      remote: remote, key: opened.remoteKey, code: opened.code)
    return lastNumber
  }

  func makeConnection(_ number: Int, _ opened: ControlOpening.Opened) -> NearbyConnection {
    let connection = NearbyConnection(
      node: self, number: number, identifier: opened.hello.identifier, name: opened.hello.name, key: opened.remoteKey,
      code: opened.code)
    peers[number]?.connection = connection
    return connection
  }
}
