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
    guard let session = sessions.values.first(where: { $0.ticket?.number == ticket }), let expected = session.ticket,
      let control = session.sockets[.control],
      let opening = BulkOpening(
        .responder, type: settings.type, ticket: ticket, key: expected.key, records: records)
    else { throw Violation("a channel of no session") }
    // A ticket is of use once.
    session.ticket = nil
    let stream = try await socket.open(opening)
    guard session.sockets[.control] === control else { throw Violation("a channel of a former link") }
    session.opened(socket, stream, on: self)
  }

  private func serveControl(
    _ socket: BlockingSocket, _ records: RecordReader, _ peripheral: String
  ) async throws(Violation) -> Bool {
    let hello = Hello(identifier: settings.identifier, name: settings.name)
    guard
      let opening = ControlOpening(
        .responder, type: settings.type, key: settings.key, hello: hello, records: records)
    else { throw Violation("a key that cannot be used") }
    var resumed: Int?
    var answer = hello
    let opened = try await socket.open(opening) { dialer, key async throws(Violation) in
      (answer, resumed) = try await self.answer(to: dialer, key, on: peripheral)
      return answer
    }
    try adopt(opened, answer, resumed, socket, peripheral)
    return true
  }

  /// The hello for a dialer, and the number of the session it resumes.
  private func answer(
    to dialer: Hello, _ key: [UInt8], on device: String
  ) async throws(Violation) -> (hello: Hello, resumed: Int?) {
    var answer = Hello(identifier: settings.identifier, name: settings.name)
    answer.ticket = .random(in: 1 ... .max)
    answer.key = .random(Hello.keyLength)
    if dialer.session != Hello.noSession {
      let known = sessions.values.first {
        $0.machine.identifier == dialer.session && $0.key == key && $0.isAlive && !$0.machine.isDialer
      }
      guard let session = known else { return (answer, nil) }
      // The former link may still count as up here: none of its frames counts after the counts now sent.
      session.linkLost(on: self)
      answer.session = dialer.session
      answer.receivedControl = session.machine.receivedCount(on: .control)
      answer.receivedBulk = session.machine.receivedCount(on: .bulk)
      return (answer, session.number)
    }
    guard !hasStopped, await advertiser.isAccepting else { throw Violation("an invitation that is not awaited") }
    let unanswered = sessions.values.filter { !$0.machine.isDialer && !$0.isAlive && !$0.hasEnded }
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
    _ opened: ControlOpening.Opened, _ answer: Hello, _ resumed: Int?, _ socket: BlockingSocket,
    _ peripheral: String
  ) throws(Violation) {
    let ticket = (number: answer.ticket, key: answer.key)
    if let resumed {
      guard let session = sessions[resumed], session.isAlive else { throw Violation("a session that has ended") }
      session.ticket = ticket
      session.use(peripheral, on: self)
      return session.resume(opened, socket, on: self)
    }
    // The answer says so.
    guard answer.session != Hello.noSession else { throw Violation("an unknown session") }
    for session in sessions.values
    where session.key == opened.remoteKey && !session.machine.isDialer && !session.hasEnded {
      end(session, .replaced)
    }
    let session = add(opened, peripheral, isDialer: false, answer.session)
    session.ticket = ticket
    session.unreported = makeConnection(session)
    session.use(peripheral, on: self)
    session.attach(socket, .control, on: self)
    session.handle(on: self) { $0.receive([], on: .control, at: now) }
  }
}
