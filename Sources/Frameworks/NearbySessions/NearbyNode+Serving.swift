import BledClient

/// Sessions begun by others.
extension NearbyNode {
  /// Another peer has opened a channel.
  func take(_ offered: ChannelDescription) async {
    let device = offered.peripheral
    guard handshakes.begin(device) else {
      refusals += 1
      try? await client.close(offered)
      return
    }
    // Counted before: the link is not to be given back while its channel is being accepted.
    await links.join(device)
    guard let channel = try? await client.accept(offered), let descriptor = channel.takeDescriptor() else {
      try? await client.close(offered)
      return await served(device)
    }
    let socket = BlockingSocket(descriptor)
    Task {
      let keepsLink = try? await socket.bounded(within: PeerSession.timeout, on: settings.clock) {
        () async throws(Violation) in
        try await serve(socket, device)
      }
      if keepsLink == nil { socket.close() }
      await served(device, keepsLink: keepsLink == true)
    }
  }

  /// A handshake is over. A session's link is not released before the session.
  private func served(_ device: String, keepsLink: Bool = false) async {
    handshakes.end(device)
    if !keepsLink { await links.release(device) }
  }

  /// The handshake on a channel opened by another peer.
  /// - Returns: true if a session uses the link from now on.
  private func serve(_ socket: BlockingSocket, _ peripheral: String) async throws(Violation) -> Bool {
    var reader = PrefaceReader()
    while true {
      switch try reader.receive(try await socket.readNext()) {
      case nil: continue
      case .control: return try await serveControl(socket, reader.records, peripheral)
      case .bulk(let ticket):
        try await serveBulk(socket, reader.records, ticket)
        return false
      }
    }
  }

  private func serveBulk(_ socket: BlockingSocket, _ records: RecordReader, _ ticket: UInt64) async throws(Violation) {
    guard let (number, peer) = peers.first(where: { $0.value.ticket?.number == ticket }), let expected = peer.ticket,
      let control = peer.sockets[.control],
      let opening = BulkOpening(
        .responder, type: settings.type, ticket: ticket, key: expected.key, records: records)
    else { throw Violation("a channel of no session") }
    // A ticket is of use once.
    peers[number]?.ticket = nil
    let stream = try await socket.open(opening)
    guard peers[number]?.sockets[.control] === control else { throw Violation("a channel of a former link") }
    let events = peers[number]?.session.openedBulk(stream) ?? []
    attach(socket, .bulk, to: number)
    perform(events, of: number)
  }

  private func serveControl(
    _ socket: BlockingSocket, _ records: RecordReader, _ peripheral: String
  ) async throws(Violation) -> Bool {
    let hello = Hello(identifier: settings.identifier, name: settings.name)
    guard
      var opening = ControlOpening(
        .responder, type: settings.type, key: settings.key, hello: hello, records: records)
    else { throw Violation("a key that cannot be used") }
    var actions = try opening.start()
    var resumed: Int?
    var answer = hello
    while true {
      while !actions.isEmpty {
        switch actions.removeFirst() {
        case .send(let octets): try await socket.writeAll(octets)
        case .greeted(let dialer, let key):
          (answer, resumed) = try await self.answer(to: dialer, key, on: peripheral)
          actions += try opening.accept(answer)
        case .opened(let opened):
          try adopt(opened, answer, resumed, socket, peripheral)
          return true
        }
      }
      actions = try opening.receive(try await socket.readNext())
    }
  }

  /// The hello for a dialer, and the number of the session it resumes.
  private func answer(
    to dialer: Hello, _ key: [UInt8], on device: String
  ) async throws(Violation) -> (hello: Hello, resumed: Int?) {
    var answer = Hello(identifier: settings.identifier, name: settings.name)
    answer.ticket = .random(in: 1 ... .max)
    answer.key = .random(Hello.keyLength)
    if dialer.session != Hello.noSession {
      let known = peers.first {
        $0.value.session.identifier == dialer.session && $0.value.key == key && $0.value.session.isAlive
          && !$0.value.session.isDialer
      }
      guard let number = known?.key else { return (answer, nil) }
      // The former link may still count as up here: none of its frames counts after the counts now sent.
      linkLost(number)
      guard let session = peers[number]?.session else { return (answer, nil) }
      answer.session = dialer.session
      answer.receivedControl = session.receivedCount(on: .control)
      answer.receivedBulk = session.receivedCount(on: .bulk)
      return (answer, number)
    }
    guard !hasStopped, await advertiser.isAccepting else { throw Violation("an invitation that is not awaited") }
    let unanswered = peers.values.filter { !$0.session.isDialer && !$0.session.isAlive && !$0.hasEnded }
    guard unanswered.count < Handshakes.limit,
      unanswered.count(where: { $0.remote.peripheral == device }) < Handshakes.deviceLimit
    else {
      refusals += 1
      throw Violation("one invitation too many")
    }
    answer.session = .random(Hello.sessionLength)
    return (answer, nil)
  }

  private func adopt(
    _ opened: ControlOpening.Opened, _ answer: Hello, _ resumed: Int?, _ socket: BlockingSocket, _ peripheral: String
  ) throws(Violation) {
    let ticket = (number: answer.ticket, key: answer.key)
    if let resumed {
      guard peers[resumed]?.session.isAlive == true else { throw Violation("a session that has ended") }
      peers[resumed]?.ticket = ticket
      let events = peers[resumed]?.session.resume(
        control: opened.stream, receivedControl: opened.hello.receivedControl,
        receivedBulk: opened.hello.receivedBulk)
      use(peripheral, for: resumed)
      attach(socket, .control, to: resumed)
      return perform(events ?? [], of: resumed)
    }
    // The answer says so.
    guard answer.session != Hello.noSession else { throw Violation("an unknown session") }
    for (number, peer) in peers where peer.key == opened.remoteKey && !peer.session.isDialer && !peer.hasEnded {
      end(number, .replaced)
    }
    let number = add(opened, peripheral, isDialer: false, answer.session)
    peers[number]?.ticket = ticket
    waiting[number] = makeConnection(number, opened)
    use(peripheral, for: number)
    attach(socket, .control, to: number)
    perform(peers[number]?.session.receive([], on: .control, at: now) ?? [], of: number)
  }

  /// The session takes the place of the handshake as a user of the link.
  private func use(_ device: String, for number: Int) {
    if let former = peers[number]?.device { Task { await links.release(former) } }
    peers[number]?.device = device
  }
}
