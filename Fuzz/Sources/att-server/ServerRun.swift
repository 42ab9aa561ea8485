import ATT
import Bluetooth
import Fuzzing
import GATT

/// One client after the other at one database, and what is known of the server from what it did.
struct ServerRun {
  private var database = AttributeDatabase.fuzzed
  private var connection: GATTConnection
  private let maximumMTU: Int
  private var now = Instant.zero
  /// The client's request that has no response yet.
  private var request: ATTOpcode?
  private var question: (token: QuestionToken, isWrite: Bool)?
  private var tokens: Set<QuestionToken> = []
  private var indications: Set<UInt64> = []
  private var isIndicating = false
  private var confirms = false
  private var lastID: UInt64 = 0

  init(maximumMTU: Int) {
    self.maximumMTU = maximumMTU
    connection = Self.connection(maximumMTU)
  }

  private static func connection(_ maximumMTU: Int) -> GATTConnection {
    var connection = GATTConnection(maximumMTU: maximumMTU)
    connection.acceptSignatures(after: nil) { $0.last.flatMap { $0 & 1 == 0 ? UInt32($0) : nil } }
    return connection
  }

  mutating func step(_ input: inout FuzzInput) {
    switch input.octet() & 15 {
    case 0...5: receive(input.packet())
    case 6: answerRead(.success(input.filler()))
    case 7: answerRead(.failure(ATTErrorCode(rawValue: input.octet())))
    case 8: answerWrite(nil)
    case 9: answerWrite(ATTErrorCode(rawValue: input.octet()))
    case 10: pass(seconds: Int64(input.octet() % 40))
    case 11: notify(&input)
    case 12: indicate(&input)
    case 13: connection.securityChanged(SecurityState(&input))
    case 14: changeDatabase(&input)
    default: comeAgain()
    }
  }

  // MARK: - The client

  private mutating func receive(_ packet: [UInt8]) {
    let opcode = ATTOpcode(rawValue: packet.first ?? 0)
    let wasOpen = connection.isOpen
    let isSecondRequest = request != nil
    if wasOpen, !packet.isEmpty {
      switch opcode.kind {
      case .request: request = request ?? opcode
      case .confirmation where packet.count == 1: isIndicating = false
      case .indication: confirms = true
      default: break
      }
    }
    let sent = perform { connection, database, actions, now in
      connection.received(packet, now: now, database: &database, actions: &actions)
    }
    confirms = false
    if !wasOpen { invariant(sent.isEmpty, "a bearer that ended has sent \(sent)") }
    if opcode.kind == .request, !packet.isEmpty, isSecondRequest {
      invariant(!connection.isOpen, "two requests at once")
    }
    if sent == [[ATTOpcode.writeResponse.rawValue]],
      case .writeRequest(let handle, let value)? = try? ATTPDU(decoding: packet),
      let stored = database.value(of: handle)
    {
      invariant(stored == Array(value), "what was written is not there")
    }
  }

  /// The link drops, and the client comes back with what was kept of it.
  private mutating func comeAgain() {
    endLink()
    let state = connection.clientState(database: &database)
    connection = Self.connection(maximumMTU)
    tokens = []
    perform { connection, database, actions, now in
      connection.restore(state, now: now, database: &database, actions: &actions)
    }
    for service in database.services {
      for characteristic in service.characteristics {
        let wanted = connection.subscription(of: characteristic.valueHandle)
        invariant(
          wanted.isSubset(of: state.subscriptions[characteristic.valueHandle]?.configuration ?? []),
          "a subscription out of nothing")
      }
    }
  }

  /// Afterwards nothing may be open, and nothing may happen any more.
  mutating func endLink() {
    perform { connection, _, actions, _ in
      connection.linkEnded(GAPError.disconnected.error("gone"), actions: &actions)
    }
    invariant(!connection.isOpen, "still open")
    receive([ATTOpcode.readRequest.rawValue, 3, 0])
  }

  // MARK: - The owner and the clock

  private mutating func answerRead(_ answer: Result<[UInt8], ATTErrorCode>) {
    guard let asked = question else { return }
    if !asked.isWrite || (try? answer.get()) == nil { question = nil }
    let answers = perform { connection, database, actions, now in
      connection.answerRead(asked.token, answer, now: now, database: &database, actions: &actions)
    }
    // The same answer again is one that nobody waits for.
    if question?.token != asked.token {
      let again = perform { connection, database, actions, now in
        connection.answerRead(asked.token, answer, now: now, database: &database, actions: &actions)
      }
      invariant(again.isEmpty, "one question, two answers: \(answers), \(again)")
    }
  }

  private mutating func answerWrite(_ error: ATTErrorCode?) {
    guard let asked = question else { return }
    if asked.isWrite { question = nil }
    perform { connection, database, actions, now in
      connection.answerWrite(asked.token, error, now: now, database: &database, actions: &actions)
    }
  }

  private mutating func pass(seconds: Int64) {
    now = now.advanced(by: .seconds(seconds))
    guard let deadline = connection.deadline, deadline <= now else { return }
    perform { connection, database, actions, now in
      connection.timePassed(now: now, actions: &actions)
    }
    invariant(connection.deadline ?? .init(nanoseconds: .max) > now, "a deadline that passed is still there")
  }

  // MARK: - The server's own

  private mutating func notify(_ input: inout FuzzInput) {
    let handle = UInt16(input.octet())
    let value = input.filler()
    let isWanted = connection.subscription(of: handle).contains(.notification)
    var outcome = NotifyOutcome.closed
    let sent = perform { connection, _, actions, _ in
      outcome = connection.notify(value, of: handle, actions: &actions)
    }
    invariant((outcome == .sent) == !sent.isEmpty, "\(outcome), but sent \(sent)")
    invariant(isWanted || outcome != .sent, "nobody wanted this")
    guard let next = UInt16(exactly: Int(handle) + 1) else { return }
    perform { connection, _, actions, _ in
      _ = connection.notify([(handle, value), (next, [1]), (handle, [2])], actions: &actions)
    }
  }

  private mutating func indicate(_ input: inout FuzzInput) {
    let handle = UInt16(input.octet())
    let value = input.filler()
    lastID += 1
    let id = IndicationID(lastID)
    indications.insert(lastID)
    perform { connection, _, actions, now in
      connection.indicate(value, of: handle, id: id, now: now, actions: &actions)
    }
    invariant(indications.count <= 65, "indications pile up")
  }

  private mutating func changeDatabase(_ input: inout FuzzInput) {
    let choice = input.octet()
    let services = database.services
    let changed: ClosedRange<UInt16>?
    switch choice & 3 {
    case 0 where services.count < 12:
      let characteristic = CharacteristicDefinition(
        uuid: BluetoothUUID(UInt16(choice)), properties: [.read, .notify, .indicate], value: .owner)
      changed = try? database.add(
        ServiceDefinition(uuid: 0x1235, includes: [1], characteristics: [characteristic]), owner: fuzzOwner
      ).range
    case 1:
      let own = database.services.filter { $0.owner == fuzzOwner }
      for service in own { database.remove(service: service.range.lowerBound) }
      changed = own.first?.range
      perform { connection, _, actions, _ in connection.ownerGone(fuzzOwner, actions: &actions) }
    default:
      changed =
        services.isEmpty
        ? nil : database.remove(service: services[Int(choice >> 2) % services.count].range.lowerBound)
    }
    guard let changed else { return }
    perform { connection, database, actions, now in
      connection.databaseChanged(changed, now: now, database: database, actions: &actions)
      connection.serviceReturned(changed, database: database, actions: &actions)
    }
  }

  // MARK: - What it does

  /// Calls the connection and takes what it wants done.
  /// - Returns: what it sent.
  @discardableResult
  private mutating func perform(
    _ call: (inout GATTConnection, inout AttributeDatabase, inout [GATTAction], Instant) -> Void
  ) -> [[UInt8]] {
    var actions: [GATTAction] = []
    let mtu = connection.mtu
    call(&connection, &database, &actions, now)
    invariant(actions.count <= 300, "\(actions.count) actions at once")
    let longest = max(mtu, connection.mtu)
    var sent: [[UInt8]] = []
    for action in actions {
      if case .send(_, let packet) = action {
        invariant(packet.count <= longest, "\(packet.count) octets, and the MTU is \(longest)")
        sent.append(packet)
      }
      take(action)
    }
    if connection.isOpen {
      invariant(
        request == nil || question != nil, "\(request.map { "\($0)" } ?? "") has no response and nobody was asked")
    } else {
      invariant(
        question == nil && indications.isEmpty && connection.deadline == nil, "something is pending after the end")
      request = nil
      isIndicating = false
    }
    return sent
  }

  private mutating func take(_ action: GATTAction) {
    switch action {
    case .send(_, let packet): take(sent: packet)
    case .read(let asked):
      invariant(question == nil && tokens.insert(asked.token).inserted, "two questions at once")
      invariant(database.attribute(asked.handle)?.source == .owner, "nobody owns \(asked.handle)")
      question = (asked.token, false)
    case .write(let asked):
      for write in asked.writes {
        invariant(database.attribute(write.handle)?.source == .owner, "nobody owns \(write.handle)")
        invariant(write.value.count <= Attribute.longestValue, "\(write.value.count) octets in one write")
      }
      guard let token = asked.token else { return }
      invariant(question == nil && tokens.insert(token).inserted, "two questions at once")
      question = (token, true)
    case .questionCancelled(let token):
      invariant(question?.token == token, "a question that was not open is cancelled")
      question = nil
    case .stored(let handle):
      invariant(database.value(of: handle).map { $0.count <= 512 } ?? false, "nothing is stored at \(handle)")
    case .indicationFinished(let id, _):
      invariant(indications.remove(id.value) != nil, "indication \(id.value) ended twice")
    case .bearerEnded: invariant(!connection.isOpen, "failed, but open")
    case .mtuChanged(let mtu): invariant(mtu == connection.mtu && mtu >= 23 && mtu <= 517, "MTU \(mtu)")
    case .subscriptionChanged(let handle, let configuration):
      invariant(connection.isOpen || configuration.isEmpty, "subscribed to \(handle) after the end")
    case .finished, .securityNeeded: invariant(false, "nobody started a procedure")
    case .value, .strayAnswer, .signatureAccepted, .clientStateChanged: break
    }
  }

  private mutating func take(sent packet: [UInt8]) {
    let opcode = ATTOpcode(rawValue: packet.first ?? 0)
    switch opcode.kind {
    case .response:
      guard let asked = request else { return invariant(false, "a response \(packet) to nothing") }
      let isRefusal = opcode == .errorResponse && packet.count == 5 && packet[1] == asked.rawValue
      invariant(isRefusal || opcode.rawValue == asked.rawValue &+ 1, "\(packet) is no response to \(asked)")
      request = nil
    case .indication:
      invariant(!isIndicating, "two indications at once")
      isIndicating = true
    case .confirmation:
      invariant(confirms, "nothing was to be confirmed")
      confirms = false
    case .notification: break
    case .request, .command: invariant(false, "a server sent \(packet)")
    }
  }
}
