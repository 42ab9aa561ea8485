import ATT
import Bluetooth
import GATT
import Testing

/// One end of a link that is spoken to in hex.
struct LinkScript {
  var database: AttributeDatabase
  var connection: GATTConnection
  var now = Instant.zero
  /// The other actions than packets, in order, one word each with its essential values.
  var events: [String] = []
  var reads: [ReadQuestion] = []
  var writes: [WriteQuestion] = []
  private var sent: [String] = []

  init(_ database: AttributeDatabase, maximumMTU: Int = 23, security: SecurityState = .none) {
    self.database = database
    connection = GATTConnection(maximumMTU: maximumMTU, security: security)
  }

  /// Passes a packet on and compares the response; nil expects none.
  mutating func exchange(
    _ request: String, _ answer: String?, sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let packet = try #require(Hex.decode(request), sourceLocation: sourceLocation)
    perform { connection, database, actions, now in
      connection.received(packet, now: now, database: &database, actions: &actions)
    }
    expect(answer, sourceLocation: sourceLocation)
  }

  /// Expects that the packets sent since the last call are this one, or none.
  mutating func expect(_ answer: String?, sourceLocation: SourceLocation = #_sourceLocation) {
    #expect(sent == (answer.map { [$0] } ?? []), sourceLocation: sourceLocation)
    sent = []
  }

  /// The packets sent since the last call.
  mutating func takeSent() -> [String] {
    defer { sent = [] }
    return sent
  }

  /// Returns the events since the last call.
  mutating func takeEvents() -> [String] {
    defer { events = [] }
    return events
  }

  mutating func perform(
    _ call: (inout GATTConnection, inout AttributeDatabase, inout [GATTAction], Instant) -> Void
  ) {
    var actions: [GATTAction] = []
    call(&connection, &database, &actions, now)
    for action in actions { note(action) }
  }

  private mutating func note(_ action: GATTAction) {
    switch action {
    case .send(.fixed, let packet): sent.append(Hex.encode(packet))
    case .send(let id, let packet): events.append("on \(id.value): \(Hex.encode(packet))")
    case .bearerEnded(.fixed, _): events.append("failed")
    case .bearerEnded(let id, _): events.append("ended \(id.value)")
    case .mtuChanged(let mtu): events.append("mtu \(mtu)")
    case .strayAnswer(let id, let opcode): events.append("stray \(id.value) \(opcode)")
    case .finished(let id, .success(let result)): events.append("finished \(id.value) \(result)")
    case .finished(let id, .failure(let error)): events.append("finished \(id.value) \(error)")
    case .value(let handle, let value, let isIndication):
      events.append("\(isIndication ? "indicated" : "notified") \(handle) \(Hex.encode(value))")
    case .securityNeeded(let id, let bearer, let error):
      events.append("security \(id.value)\(bearer == .fixed ? "" : " on \(bearer.value)") \(error.name)")
    case .read(let question):
      reads.append(question)
      events.append("read \(question.owner.value) \(question.handle) \(question.offset)")
    case .write(let question):
      writes.append(question)
      let pieces = question.writes.map { "\($0.handle)+\($0.offset)=\(Hex.encode($0.value))" }.joined(separator: " ")
      events.append("\(question.token == nil ? "command" : "write") \(question.owner.value) \(pieces)")
    case .questionCancelled: events.append("cancelled")
    case .stored(let handle): events.append("stored \(handle)")
    case .subscriptionChanged(let handle, let configuration):
      events.append("subscribed \(handle) \(configuration.rawValue)")
    case .indicationFinished(let id, .success): events.append("confirmed \(id.value)")
    case .indicationFinished(let id, .failure(let error)): events.append("unconfirmed \(id.value) \(error)")
    case .signatureAccepted(let counter): events.append("signed \(counter)")
    case .clientStateChanged: events.append("state")
    }
  }
}

extension LinkScript {
  /// A client without a server of its own.
  init(maximumMTU: Int = 23) { self.init(AttributeDatabase(), maximumMTU: maximumMTU) }

  /// Starts a procedure; `request` is the packet that must be sent at once.
  mutating func start(
    _ procedure: GATTProcedure, id: UInt64 = 1, _ request: String?, sourceLocation: SourceLocation = #_sourceLocation
  ) {
    perform { connection, _, actions, now in
      connection.start(procedure, id: ProcedureID(id), now: now, actions: &actions)
    }
    expect(request, sourceLocation: sourceLocation)
  }

  mutating func resume(id: UInt64 = 1, on bearer: BearerID = .fixed, isSecured: Bool) {
    perform { connection, _, actions, now in
      connection.resume(ProcedureID(id), on: bearer, isSecured: isSecured, now: now, actions: &actions)
    }
  }

  mutating func answer(_ answer: Result<[UInt8], ATTErrorCode>) throws {
    let question = reads.removeFirst()
    perform { connection, database, actions, now in
      connection.answerRead(question.token, answer, now: now, database: &database, actions: &actions)
    }
  }

  mutating func answerWrite(_ error: ATTErrorCode?) throws {
    let token = try #require(writes.removeFirst().token)
    perform { connection, database, actions, now in
      connection.answerWrite(token, error, now: now, database: &database, actions: &actions)
    }
  }

  mutating func indicate(_ value: [UInt8], of handle: UInt16, id: UInt64) {
    perform { connection, _, actions, now in
      connection.indicate(value, of: handle, id: IndicationID(id), now: now, actions: &actions)
    }
  }

  mutating func notify(_ value: [UInt8], of handle: UInt16) -> NotifyOutcome {
    var actions: [GATTAction] = []
    let outcome = connection.notify(value, of: handle, actions: &actions)
    perform { _, _, all, _ in all = actions }
    return outcome
  }

  mutating func pass(seconds: Int64) {
    now = now.advanced(by: .seconds(seconds))
    perform { connection, database, actions, now in
      connection.timePassed(now: now, actions: &actions)
    }
  }

  mutating func serviceReturned(_ range: ClosedRange<UInt16>) {
    perform { connection, database, actions, _ in
      connection.serviceReturned(range, database: database, actions: &actions)
    }
  }

  mutating func endLink() {
    perform { connection, _, actions, _ in
      connection.linkEnded(GAPError.disconnected.error("gone"), actions: &actions)
    }
  }
}

/// A small database: GAP at 1–5, a heart rate service at 6–13 and a service of an owner at 14–20.
func sampleDatabase() throws -> AttributeDatabase {
  var database = AttributeDatabase()
  _ = try database.add(.genericAccess(name: "bled", appearance: 0x0340))
  _ = try database.add(
    ServiceDefinition(
      uuid: 0x180D,
      characteristics: [
        CharacteristicDefinition(uuid: 0x2A37, properties: [.notify, .indicate], value: .stored([0, 60])),
        CharacteristicDefinition(uuid: 0x2A38, properties: [.read], value: .stored([1])),
        CharacteristicDefinition(
          uuid: 0x2A39, properties: [.read, .write, .writeWithoutResponse], value: .stored([7]), maximumLength: 40),
      ]))
  _ = try database.add(
    ServiceDefinition(
      uuid: BluetoothUUID(high: 0x0011_2233_4455_6677, low: 0x8899_AABB_CCDD_EEFF),
      characteristics: [
        CharacteristicDefinition(uuid: 0x2AF0, properties: [.read], value: .owner),
        CharacteristicDefinition(uuid: 0x2AF1, properties: [.read, .write, .writeWithoutResponse], value: .owner),
        CharacteristicDefinition(uuid: 0x2AF2, properties: [.write], value: .owner, maximumLength: 4),
      ]), owner: AttributeOwner(9))
  return database
}
