import ATT
import Bluetooth
import GATT
import Testing

/// A client and a server that do at random whatever they can, over a link that delays and that ends. Same seed, same
/// walk.
struct GATTRandomWalkTests {
  @Test(arguments: [1, 2, 3])
  func walk(_ seed: UInt64) throws {
    print("seed \(seed)")
    var walk = try RandomWalk(seed: seed)
    for _ in 0..<100_000 { try walk.step() }
    walk.endLink()
    #expect(walk.finished > 5000 && walk.confirmed > 500 && walk.notified > 500 && walk.links > 50)
  }

  /// Both ends get octets at random; nothing may trap, loop or grow.
  @Test(arguments: [4, 5])
  func hostileOctets(_ seed: UInt64) throws {
    print("seed \(seed)")
    var random = SplitMix(state: seed)
    var link = LinkScript(try sampleDatabase(), maximumMTU: 64)
    for step in 0..<100_000 {
      if !link.connection.isOpen { link = LinkScript(link.database, maximumMTU: 64) }
      if step % 7 == 0 {
        link.perform { connection, _, actions, now in
          connection.start(RandomWalk.procedure(&random), id: ProcedureID(UInt64(step)), now: now, actions: &actions)
        }
      }
      var packet = (0..<random.below(24)).map { _ in UInt8(random.below(256)) }
      if !packet.isEmpty, random.below(8) > 0 { packet[0] = UInt8(random.below(0x24)) }
      if packet.count > 2, random.below(2) == 0 {
        packet[1] = UInt8(random.below(24))
        packet[2] = 0
      }
      link.perform { connection, database, actions, now in
        connection.received(packet, now: now, database: &database, actions: &actions)
      }
      if random.below(3) == 0, !link.reads.isEmpty { try link.answer(.success([1, 2, 3])) }
      link.events = []
      link.reads = link.reads.suffix(4)
      link.writes = link.writes.suffix(4)
      let sent = link.takeSent()
      check(sent.count <= 3 && sent.allSatisfy { $0.utf8.count <= 2 * 64 })
    }
  }
}

/// `#expect` for conditions that are checked a hundred thousand times: it costs time only on failure.
private func check(_ condition: Bool, sourceLocation: SourceLocation = #_sourceLocation) {
  if !condition { Issue.record("an invariant does not hold", sourceLocation: sourceLocation) }
}

/// A generator with a known sequence.
struct SplitMix {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
}

private struct RandomWalk {
  var random: SplitMix
  var database: AttributeDatabase
  var clientDatabase = AttributeDatabase()
  var client = GATTConnection(maximumMTU: 23)
  var server = GATTConnection(maximumMTU: 23)
  var now = Instant.zero
  /// Packets on their way, in order; the link delays and never reorders.
  var toServer: [[UInt8]] = []
  var toClient: [[UInt8]] = []
  /// Work that waits at either end; of the client's procedures the first one runs.
  var procedures: [(id: UInt64, procedure: GATTProcedure)] = []
  var indications: Set<UInt64> = []
  var questions: [(token: QuestionToken, isWrite: Bool)] = []
  /// Requests of the client without an answer.
  var unanswered = 0
  var lastID: UInt64 = 0
  var finished = 0
  var confirmed = 0
  var notified = 0
  var links = 0

  init(seed: UInt64) throws {
    random = SplitMix(state: seed)
    database = try sampleDatabase()
  }

  mutating func step() throws {
    var actions: [GATTAction] = []
    switch random.below(40) {
    case 0..<8 where procedures.count < 20:
      lastID += 1
      procedures.append((lastID, Self.procedure(&random)))
      if procedures.count == 1 { startNext() }
    case 8..<12: notify()
    case 12..<15:
      lastID += 1
      indications.insert(lastID)
      server.indicate([UInt8(random.below(256))], of: 8, id: IndicationID(lastID), now: now, actions: &actions)
      take(serverActions: actions)
    case 15: if random.below(30) == 0 { endLink() }
    case 16: if random.below(60) == 0 { pass() }
    case 17..<22: answer()
    case 22: if random.below(10) == 0 { changeDatabase() }
    default: deliver()
    }
  }

  /// Starts the procedure that is the first now.
  private mutating func startNext() {
    guard let (id, procedure) = procedures.first else { return }
    var actions: [GATTAction] = []
    client.start(procedure, id: ProcedureID(id), now: now, actions: &actions)
    take(clientActions: actions)
  }

  static func procedure(_ random: inout SplitMix) -> GATTProcedure {
    func handle() -> UInt16 { UInt16(random.below(24)) }
    func value(_ bound: Int) -> [UInt8] { (0..<random.below(bound)).map { UInt8(truncatingIfNeeded: $0) } }
    switch random.below(16) {
    case 0: return .exchangeMTU
    case 1: return .discoverServices(random.below(2) == 0 ? .primary : .secondary)
    case 2: return .discoverPrimaryServices(uuid: 0x180D)
    case 3: return .findIncludedServices(in: 1...24)
    case 4: return .discoverCharacteristics(in: 1...24)
    case 5: return .discoverDescriptors(in: 1...24)
    case 6: return .read(handle())
    case 7: return .readByUUID(0x2A38)
    case 8: return .readLong(handle())
    case 9: return .readMultiple([handle(), handle(), handle()])
    case 10: return .readMultipleVariable([handle(), handle()])
    case 11: return .write(handle(), value(25))
    case 12: return .writeWithoutResponse(handle(), value(25))
    case 13: return .writeLong(13, value(60))
    case 14: return .reliableWrite([AttributeWrite(handle: 13, value: value(30))])
    default: return .subscribe(descriptor: 9, ClientConfiguration(rawValue: UInt16(random.below(4))))
    }
  }

  private mutating func notify() {
    var actions: [GATTAction] = []
    let isWanted = server.subscription(of: 8).contains(.notification)
    check(server.notify([1, 2], of: 8, actions: &actions) == (isWanted ? .sent : .notSubscribed))
    take(serverActions: actions)
  }

  private mutating func answer() {
    guard !questions.isEmpty else { return }
    var actions: [GATTAction] = []
    let (token, isWrite) = questions.removeFirst()
    if isWrite {
      let error: ATTErrorCode? = random.below(4) == 0 ? .valueNotAllowed : nil
      server.answerWrite(token, error, now: now, database: &database, actions: &actions)
    } else {
      server.answerRead(
        token, .success([UInt8](0..<UInt8(random.below(30)))), now: now, database: &database, actions: &actions)
    }
    take(serverActions: actions)
  }

  private mutating func deliver() {
    var actions: [GATTAction] = []
    if !toServer.isEmpty, random.below(2) == 0 {
      server.received(toServer.removeFirst(), now: now, database: &database, actions: &actions)
      take(serverActions: actions)
    } else if !toClient.isEmpty {
      let packet = toClient.removeFirst()
      if ATTOpcode(rawValue: packet[0]).kind == .response { unanswered -= 1 }
      client.received(packet, now: now, database: &clientDatabase, actions: &actions)
      take(clientActions: actions)
    }
  }

  /// Half a minute without any delivery: requests to the peer time out, and the link is dropped.
  private mutating func pass() {
    now = now.advanced(by: .seconds(31))
    let isLate = unanswered > 0 || !indications.isEmpty
    var actions: [GATTAction] = []
    client.timePassed(now: now, actions: &actions)
    take(clientActions: actions)
    actions = []
    server.timePassed(now: now, actions: &actions)
    take(serverActions: actions)
    check((client.isOpen && server.isOpen) == !isLate)
    if isLate { endLink() }
  }

  private mutating func changeDatabase() {
    let extra = database.services.first { $0.uuid == 0x1234 }
    let range: ClosedRange<UInt16>
    if let extra, let removed = database.remove(service: extra.range.lowerBound) {
      range = removed
    } else if let added = try? database.add(ServiceDefinition(uuid: 0x1234)) {
      range = added.range
    } else {
      return
    }
    var actions: [GATTAction] = []
    server.databaseChanged(range, now: now, database: database, actions: &actions)
    take(serverActions: actions)
  }

  /// The link drops: afterwards nothing may be pending anywhere.
  mutating func endLink() {
    let reason = GAPError.disconnected.error("gone")
    var actions: [GATTAction] = []
    client.linkEnded(reason, actions: &actions)
    take(clientActions: actions)
    actions = []
    server.linkEnded(reason, actions: &actions)
    take(serverActions: actions)
    check(procedures.isEmpty && indications.isEmpty)
    check(client.deadline == nil && server.deadline == nil)
    toServer = []
    toClient = []
    questions = []
    unanswered = 0
    links += 1
    client = GATTConnection(maximumMTU: 23 + random.below(100))
    server = GATTConnection(maximumMTU: 23 + random.below(100))
  }

  private mutating func take(clientActions actions: [GATTAction]) {
    var hasFinished = false
    for action in actions {
      switch action {
      case .send(_, let packet):
        check(packet.count <= client.mtu)
        if ATTOpcode(rawValue: packet[0]).kind == .request {
          unanswered += 1
          // One request at a time.
          check(unanswered == 1)
        }
        toServer.append(packet)
      case .finished(let id, let result):
        // Each ends once, and in order.
        check(procedures.first?.id == id.value)
        procedures.removeFirst(min(1, procedures.count))
        finished += 1
        hasFinished = true
        if case .failure(.invalidResponse) = result { Issue.record("\(result)") }
      case .value(_, _, let isIndication): notified += isIndication ? 0 : 1
      default: break
      }
    }
    if hasFinished { startNext() }
  }

  private mutating func take(serverActions actions: [GATTAction]) {
    for action in actions {
      switch action {
      case .send(_, let packet):
        check(packet.count <= server.mtu)
        toClient.append(packet)
      case .read(let question): questions.append((question.token, false))
      case .write(let question): if let token = question.token { questions.append((token, true)) }
      case .indicationFinished(let id, let result):
        check(indications.remove(id.value) != nil)
        if case .success = result { confirmed += 1 }
      default: break
      }
    }
  }
}
