import BledClient
import Noise

/// The acceptance of invitations, as requested by calls.
///
/// | Input        | Effect                                                          |
/// |--------------|-----------------------------------------------------------------|
/// | begin(call)  | wanted                                                          |
/// | end(call)    | wanted until a new value takes the place of this one            |
/// | cancel(call) | wanted only if another call has asked for it, or asks for it    |
struct Acceptance {
  private var isGiven = false
  private var calls: Set<Int> = []

  var isWanted: Bool { isGiven || !calls.isEmpty }

  mutating func begin(_ call: Int) { calls.insert(call) }

  mutating func end(_ call: Int) { if calls.remove(call) != nil { isGiven = true } }

  mutating func cancel(_ call: Int) { calls.remove(call) }
}

/// Sessions begun by others.
extension NearbyNode {
  /// Begins to accept invitations, and to advertise that.
  /// - Parameter information: texts other than in the settings.
  /// - Throws: as `BledClient.publishL2CAPChannel`, `publish` and `advertise`; `BledError.invalidParameter` for
  ///   oversized information; `GAPError.cancelled` if the task was cancelled: then this call alone is undone.
  public func advertise(_ information: [String: String]? = nil) async throws(BluetoothError) {
    if let information { try Self.check(information) }
    try await accept(information) { change in change(&self.visibility) }
  }

  /// Accepts invitations from all peers, or from peers that know this one.
  /// - Parameter update: Changes the acceptance in question.
  func accept(
    _ information: [String: String]? = nil, _ update: ((inout Acceptance) -> Void) -> Void
  ) async throws(BluetoothError) {
    let cancelled = GAPError.cancelled.error("the call was cancelled: its invitations are not accepted")
    guard !Task.isCancelled else { throw cancelled }
    lastAcceptance += 1
    let call = lastAcceptance
    update { $0.begin(call) }
    if information != nil { texts.begin(call) }
    let result = await Self.outcome { () async -> Result<Void, BluetoothError> in
      do throws(BluetoothError) {
        return .success(try await self.beginAccepting(information, call))
      } catch {
        return .failure(error)
      }
    }
    guard let result else {
      update { $0.cancel(call) }
      texts.cancel(call)
      Task {
        await restoreInformation(after: call)
        await updateAdvertising()
      }
      throw cancelled
    }
    update { $0.end(call) }
    if let information { texts.settle(information) }
    try result.get()
  }

  private func beginAccepting(_ information: [String: String]?, _ call: Int) async throws(BluetoothError) {
    if let information { try await describe(information, call) }
    try await listen()
    try await restartAdvertising()
  }

  private func describe(_ information: [String: String], _ call: Int) async throws(BluetoothError) {
    await advertisingTurns.begin()
    defer { advertisingTurns.end() }
    if texts.claim(call) { try await publish(information) }
  }

  /// Withdraws a cancelled call's texts, unless another call has set its own meanwhile.
  private func restoreInformation(after call: Int) async {
    await advertisingTurns.begin()
    defer { advertisingTurns.end() }
    if let settled = texts.recall(call) { try? await publish(settled) }
  }

  private func publish(_ information: [String: String]) async throws(BluetoothError) {
    // Without a service a former description could not be published: then the same texts are not published either.
    guard texts.set(information) || service == nil else { return }
    if let service {
      self.service = nil
      try await client.unpublish(service)
    }
    try await publishDescription()
  }

  /// Stops accepting invitations; in a cancelled task without waiting for it. Sessions stay, and their lost links are
  /// still found again.
  public func stopAdvertising() async {
    visibility = Acceptance()
    await updateAdvertising()
  }

  private var description: PeerDescription {
    PeerDescription(
      identifier: settings.identifier, revision: texts.revision, isInviting: isVisible, psm: listening?.psm ?? 0,
      name: settings.name, information: texts.information)
  }

  /// Takes a turn: of two calls at once one would leave its channel and description behind.
  private func listen() async throws(BluetoothError) {
    await advertisingTurns.begin()
    defer { advertisingTurns.end() }
    guard !hasStopped else { return }
    guard listening == nil else {
      if service == nil { try await publishDescription() }
      return
    }
    let incoming = client.notifications(L2CAPIncoming.self)
    let published = try await client.publishL2CAPChannel(adapter: settings.adapter)
    listening = published
    do throws(BluetoothError) {
      try await publishDescription()
    } catch {
      listening = nil
      try? await client.unpublishL2CAPChannel(published.psm, adapter: published.adapter)
      throw error
    }
    listener = Task { [weak self] in
      do {
        for try await offered in incoming where offered.psm == published.psm { await self?.take(offered) }
      } catch {}
    }
  }

  private func publishDescription() async throws(BluetoothError) {
    guard let listening else { return }
    let psm = [UInt8(truncatingIfNeeded: listening.psm), UInt8(truncatingIfNeeded: listening.psm >> 8)]
    service = try await client.publish(
      ServiceToPublish(
        uuid: settings.type.uuid,
        characteristics: [
          .init(uuid: ServiceType.descriptionUUID, properties: [.read], value: HexBytes(description.value)),
          .init(uuid: Self.psmUUID, properties: [.read], value: HexBytes(psm)),
        ], adapter: listening.adapter)
    ).handle
  }

  /// ABDD3056-28FA-441D-A470-55A75A52553A: the characteristic from which Core Bluetooth programs read a PSM.
  private static let psmUUID = BluetoothUUID(high: 0xABDD_3056_28FA_441D, low: 0xA470_55A7_5A52_553A)

  /// Advertises as long as invitations are accepted, or a session's dialer may have to find this side again.
  func updateAdvertising() async { await Self.outcome { await self.changeAdvertising() } }

  private func changeAdvertising() async {
    await advertisingTurns.begin()
    defer { advertisingTurns.end() }
    let isNeeded = isVisible || isReachable || peers.values.contains { !$0.session.isDialer && $0.session.isAlive }
    if isNeeded {
      try? await renewAdvertisement()
      return
    }
    guard let advertisement else { return }
    self.advertisement = nil
    try? await client.stopAdvertising(advertisement)
  }

  private func restartAdvertising() async throws(BluetoothError) {
    await advertisingTurns.begin()
    defer { advertisingTurns.end() }
    try await renewAdvertisement()
  }

  private func renewAdvertisement() async throws(BluetoothError) {
    guard !hasStopped else { return }
    let description = description
    guard advertised != description.serviceData || advertisement == nil else { return }
    advertised = description.serviceData
    if let advertisement {
      self.advertisement = nil
      try? await client.stopAdvertising(advertisement)
    }
    advertisement = try await client.advertise(
      .init(
        adapter: settings.adapter, services: [settings.type.uuid],
        serviceData: ["\(settings.type.uuid)": HexBytes(description.serviceData)])
    ).advertising
  }

  // MARK: Channels of others

  private func take(_ offered: ChannelDescription) async {
    let device = offered.peripheral
    guard handshakes.begin(device) else {
      refusals += 1
      try? await client.close(offered)
      return
    }
    // Counted before: the link is not to be given back while its channel is being accepted.
    links.join(device)
    guard let channel = try? await client.accept(offered), let descriptor = channel.takeDescriptor() else {
      try? await client.close(offered)
      return await served(device)
    }
    let socket = BlockingSocket(descriptor)
    Task {
      do throws(Violation) {
        try await serve(socket, device)
      } catch {
        socket.close()
      }
      await served(device)
    }
  }

  /// A handshake is over.
  private func served(_ device: String) async {
    handshakes.end(device)
    await release(device)
  }

  /// The handshake on a channel opened by another peer.
  private func serve(_ socket: BlockingSocket, _ peripheral: String) async throws(Violation) {
    let timer = Task { [clock = settings.clock] in
      try await clock.sleep(for: PeerSession.timeout)
      socket.close()
    }
    defer { timer.cancel() }
    var reader = PrefaceReader()
    while true {
      guard let octets = await socket.read() else { throw Violation("the end of the channel") }
      switch try reader.receive(octets) {
      case nil: continue
      case .control: return try await serveControl(socket, reader.records, peripheral)
      case .bulk(let ticket): return try await serveBulk(socket, reader.records, ticket)
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
    let stream = try await Self.open(opening, over: socket)
    guard peers[number]?.sockets[.control] === control else { throw Violation("a channel of a former link") }
    let events = peers[number]?.session.openedBulk(stream) ?? []
    attach(socket, .bulk, to: number)
    perform(events, of: number)
  }

  private func serveControl(
    _ socket: BlockingSocket, _ records: RecordReader, _ peripheral: String
  ) async throws(Violation) {
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
        case .send(let octets):
          guard await socket.write(octets) else { throw Violation("the end of the channel") }
        case .greeted(let dialer, let key):
          (answer, resumed) = try self.answer(to: dialer, key, on: peripheral)
          actions += try opening.accept(answer)
        case .opened(let opened): return adopt(opened, answer, resumed, socket, peripheral)
        }
      }
      guard let octets = await socket.read() else { throw Violation("the end of the channel") }
      actions = try opening.receive(octets)
    }
  }

  /// The hello for a dialer, and the number of the session it resumes.
  private func answer(
    to dialer: Hello, _ key: [UInt8], on device: String
  ) throws(Violation) -> (hello: Hello, resumed: Int?) {
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
    guard isVisible || isReachable else { throw Violation("an invitation that is not awaited") }
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
  ) {
    let ticket = (number: answer.ticket, key: answer.key)
    if let resumed {
      guard peers[resumed]?.session.isAlive == true else { return socket.close() }
      peers[resumed]?.ticket = ticket
      let events = peers[resumed]?.session.resume(
        control: opened.stream, receivedControl: opened.hello.receivedControl,
        receivedBulk: opened.hello.receivedBulk)
      use(peripheral, for: resumed)
      attach(socket, .control, to: resumed)
      return perform(events ?? [], of: resumed)
    }
    // An unknown session: the answer says so.
    guard answer.session != Hello.noSession else { return socket.close() }
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

  /// A session's link dialled by the other side is not released before the session.
  private func use(_ device: String, for number: Int) {
    links.join(device)
    if let former = peers[number]?.device { Task { await release(former) } }
    peers[number]?.device = device
  }
}
