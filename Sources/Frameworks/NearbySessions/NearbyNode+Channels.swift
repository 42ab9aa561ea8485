import BledClient

/// The channels of sessions: their octets in both directions.
extension NearbyNode {
  /// A channel on a session's present link is open.
  func attach(_ socket: BlockingSocket, _ lane: Frame.Lane, to number: Int) {
    guard peers[number] != nil else { return socket.close() }
    peers[number]?.sockets[lane]?.close()
    peers[number]?.sockets[lane] = socket
    Task { await read(socket, lane, of: number) }
    pump(lane, of: number)
  }

  private func read(_ socket: BlockingSocket, _ lane: Frame.Lane, of number: Int) async {
    repeat {
      await waitForProgram(lane, of: number)
      guard peers[number]?.sockets[lane] === socket else { break }
      var next = socket.readNow()
      // Where the other side sends without a pause, the program has its turn, too.
      if next == nil { next = await socket.read() } else { await Task.yield() }
      guard let octets = next else { break }
      guard peers[number]?.sockets[lane] === socket else { return }
      perform(peers[number]?.session.receive(octets, on: lane, at: now) ?? [], of: number)
    } while true
    guard peers[number]?.sockets[lane] === socket else { return }
    linkLost(number)
  }

  func linkLost(_ number: Int) {
    closeSockets(of: number)
    perform(peers[number]?.session.lost(at: now) ?? [], of: number)
  }

  /// Pauses reading from a channel until the program fetches its events.
  private func waitForProgram(_ lane: Frame.Lane, of number: Int) async {
    while peers[number]?.mustWait(lane) == true { await waits.wait(at: .reading(lane, of: number)) }
  }

  /// The program has fetched something, or the channels have ended.
  func resumeReaders(of number: Int) {
    for lane in Frame.Lane.allCases where peers[number]?.mustWait(lane) == false {
      waits.wake(at: .reading(lane, of: number))
    }
  }

  /// Sends the session's output on a channel: at once as far as the socket has room, and the rest as soon as it has.
  func pump(_ lane: Frame.Lane, of number: Int) {
    guard let peer = peers[number], let socket = peer.sockets[lane], !peer.isWriting.contains(lane) else { return }
    while let octets = peer.session.output(on: lane) {
      let count = socket.writeNow(octets)
      guard count == octets.count else { return write(Array(octets.dropFirst(count)), to: socket, lane, of: number) }
    }
  }

  /// Waits until the socket has taken octets, one write at a time.
  private func write(_ octets: [UInt8], to socket: BlockingSocket, _ lane: Frame.Lane, of number: Int) {
    peers[number]?.isWriting.insert(lane)
    Task {
      let isOpen = await socket.write(octets)
      guard peers[number]?.sockets[lane] === socket else { return }
      peers[number]?.isWriting.remove(lane)
      if isOpen { pump(lane, of: number) }
      finish(number)
    }
  }

  // MARK: Calls of connections

  func hasLink(_ number: Int) -> Bool { peers[number]?.session.state == .connected }

  func send(_ message: [UInt8], to number: Int, isFirst: Bool = false) throws(BluetoothError) {
    let longest = Frame.Kind.message.longest
    guard message.count <= longest else {
      throw BledError.invalidParameter.error(
        "a message has at most \(longest) octets: send several, or a resource")
    }
    guard peers[number]?.session.isAlive == true else { throw notConnected }
    peers[number]?.hasTransferred = true
    guard peers[number]?.session.send(message, isFirst: isFirst) == true else {
      throw BledError.limitReached.error(
        "messages of more than 1 MiB wait to be received by the peer: send again when it has received some")
    }
    pump(.control, of: number)
  }

  /// Sends a message once there is room for it.
  func sendWhenReady(_ message: [UInt8], to number: Int, isFirst: Bool) async throws(BluetoothError) {
    let cancelled = GAPError.cancelled.error("the message was not sent: its task was cancelled")
    guard !Task.isCancelled else { throw cancelled }
    while let peer = peers[number], peer.session.isAlive, message.count <= Frame.Kind.message.longest,
      !peer.session.hasRoom(for: message.count, isFirst: isFirst)
    {
      await waits.wait(at: .messages(number))
      guard !Task.isCancelled else { throw cancelled }
    }
    try send(message, to: number, isFirst: isFirst)
  }

  /// The other side has received something, or the session has ended.
  func resumeSenders(of number: Int) { waits.wake(at: .messages(number)) }

  func sendDatagram(_ octets: [UInt8], to number: Int) -> Bool {
    guard peers[number]?.session.sendDatagram(octets) == true else { return false }
    pump(.control, of: number)
    return true
  }

  func answer(_ number: Int, _ accepts: Bool) -> Bool {
    if accepts, connectedCount >= Self.peerLimit { makeRoom(for: number) }
    if accepts, connectedCount >= Self.peerLimit {
      perform(peers[number]?.session.answer(false) ?? [], of: number)
      return false
    }
    let events = peers[number]?.session.answer(accepts) ?? []
    perform(events, of: number)
    guard events.contains(.connected) else { return false }
    // The peer has restarted, and the link of its former session still counts as up.
    let key = peers[number]?.key
    let former = peers.keys.filter { $0 != number && peers[$0]?.key == key && peers[$0]?.session.isAlive == true }
    for other in former.sorted() { end(other, .replaced) }
    return true
  }

  /// Peers that connect and leave must not keep all others out until their return expires. Among the lost sessions
  /// accepted here the oldest without any transfer, or with the newcomer's name, ends.
  private func makeRoom(for number: Int) {
    let name = peers[number]?.remote.name
    let lost = peers.filter { other, peer in
      guard case .lost = peer.session.state, other != number, !peer.session.isDialer else { return false }
      return !peer.hasTransferred || peer.remote.name == name
    }
    if let oldest = lost.keys.min() { end(oldest, .linkLost) }
  }

  /// The sessions connected, or about to return.
  var connectedCount: Int { peers.values.count(where: \.session.isAlive) }

  func end(_ number: Int, _ reason: NearbyEnd) {
    perform(peers[number]?.session.end(reason, tellsOther: true) ?? [], of: number)
  }

  var notConnected: BluetoothError { GAPError.notConnected.error("the peer is not connected: invite it again") }
}
