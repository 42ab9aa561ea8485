import ATT
import Bluetooth
import Fuzzing
import GATT

/// A client, a server that can answer it, and what is known of the client from what it did.
struct ClientRun {
  private let maximumMTU: Int
  private var client: GATTConnection
  private var ownDatabase = AttributeDatabase()
  private var server: GATTConnection
  private var database = AttributeDatabase.fuzzed
  private var now = Instant.zero
  /// The client's request that has no response yet.
  private var request: [UInt8]?
  /// That of the packet before, which the current packet may have answered.
  private var answered: [UInt8]?
  /// The procedure that waits for more security.
  private var refused: ProcedureID?
  private var procedures: [UInt64: GATTProcedure] = [:]
  private var lastID: UInt64 = 0
  private var confirms = false

  init(maximumMTU: Int) {
    self.maximumMTU = maximumMTU
    client = GATTConnection(maximumMTU: maximumMTU)
    server = GATTConnection(maximumMTU: maximumMTU)
  }

  mutating func step(_ input: inout FuzzInput) {
    switch input.octet() & 15 {
    case 0, 1: start(.fuzzed(&input))
    case 2...6: relay(&input)
    case 7...10: receive(input.packet())
    case 11: resume(isSecured: input.octet() & 1 == 0)
    case 12: pass(seconds: Int64(input.octet() % 40))
    case 13:
      let security = SecurityState(&input)
      client.securityChanged(security)
      server.securityChanged(security)
    case 14: client.asksForSecurity = input.octet() & 1 == 0
    default:
      endLink()
      client = GATTConnection(maximumMTU: maximumMTU)
      server = GATTConnection(maximumMTU: maximumMTU)
    }
  }

  private mutating func start(_ procedure: GATTProcedure) {
    lastID += 1
    let id = ProcedureID(lastID)
    procedures[lastID] = procedure
    perform { client, _, actions, now in client.start(procedure, id: id, now: now, actions: &actions) }
    invariant(procedures.count <= 1, "two procedures at once")
  }

  private mutating func resume(isSecured: Bool) {
    guard let id = refused else { return }
    refused = nil
    perform { client, _, actions, now in client.resume(id, isSecured: isSecured, now: now, actions: &actions) }
  }

  private mutating func pass(seconds: Int64) {
    now = now.advanced(by: .seconds(seconds))
    guard let deadline = client.deadline, deadline <= now else { return }
    perform { client, database, actions, now in
      client.timePassed(now: now, actions: &actions)
    }
    invariant(client.deadline ?? .init(nanoseconds: .max) > now, "a deadline that passed is still there")
  }

  /// Afterwards nothing may be open, and what is started fails at once.
  mutating func endLink() {
    perform { client, _, actions, _ in
      client.linkEnded(GAPError.disconnected.error("gone"), actions: &actions)
    }
    invariant(!client.isOpen, "still open")
    start(.read(3))
  }

  // MARK: - Packets

  /// Lets the server answer the request; about half of the answers are changed on their way.
  private mutating func relay(_ input: inout FuzzInput) {
    guard let request else { return }
    var answer = serverAnswer(to: request)
    let change = input.octet()
    switch change {
    case ..<128: break
    case ..<240:
      let place = Int(input.octet())
      if !answer.isEmpty { answer[place % answer.count] = input.octet() }
    case ..<248: answer.removeLast(min(answer.count, Int(change) - 239))
    default: answer += input.octets(Int(change) - 247)
    }
    receive(answer)
  }

  private mutating func serverAnswer(to request: [UInt8]) -> [UInt8] {
    var answer: [UInt8] = []
    var actions: [GATTAction] = []
    server.received(request, now: now, database: &database, actions: &actions)
    while !actions.isEmpty {
      var next: [GATTAction] = []
      for action in actions {
        switch action {
        case .send(_, let packet): answer = packet
        case .read(let question):
          server.answerRead(question.token, .success([1, 2, 3]), now: now, database: &database, actions: &next)
        case .write(let question):
          guard let token = question.token else { break }
          server.answerWrite(token, nil, now: now, database: &database, actions: &next)
        default: break
        }
      }
      actions = next
    }
    return answer
  }

  private mutating func receive(_ packet: [UInt8]) {
    switch ATTOpcode(rawValue: packet.first ?? 0).kind {
    case .response: (answered, request) = (request, nil)
    case .indication: confirms = true
    default: break
    }
    perform { client, database, actions, now in
      client.received(packet, now: now, database: &database, actions: &actions)
    }
    confirms = false
  }

  // MARK: - What it does

  private mutating func perform(
    _ call: (inout GATTConnection, inout AttributeDatabase, inout [GATTAction], Instant) -> Void
  ) {
    var actions: [GATTAction] = []
    let mtu = client.mtu
    call(&client, &ownDatabase, &actions, now)
    let longest = max(mtu, client.mtu)
    for action in actions {
      switch action {
      case .send(_, let packet):
        invariant(packet.count <= longest, "\(packet.count) octets, and the MTU is \(longest)")
        take(sent: packet)
      case .finished(let id, let result):
        guard let procedure = procedures.removeValue(forKey: id.value) else {
          return invariant(false, "procedure \(id.value) ended twice")
        }
        if refused == id { refused = nil }
        if case .success(let found) = result { procedure.check(found) }
      case .securityNeeded(let id, _, _):
        invariant(refused == nil && procedures[id.value] != nil && client.asksForSecurity, "nobody is to be asked")
        refused = id
      case .bearerEnded: invariant(!client.isOpen, "failed, but open")
      // The request is still pending: that was no answer to it.
      case .strayAnswer(_, let opcode): if opcode.kind == .response { request = answered }
      case .mtuChanged(let mtu): invariant(mtu == client.mtu && mtu >= 23 && mtu <= 517, "MTU \(mtu)")
      default: break
      }
    }
    if client.isOpen {
      invariant(procedures.isEmpty || request != nil || refused != nil, "a procedure waits for nothing")
    } else {
      invariant(procedures.isEmpty && client.deadline == nil && refused == nil, "something is pending after the end")
      request = nil
    }
  }

  private mutating func take(sent packet: [UInt8]) {
    switch ATTOpcode(rawValue: packet.first ?? 0).kind {
    case .request:
      invariant(request == nil && refused == nil, "two requests at once")
      request = packet
    case .command: break
    case .confirmation:
      invariant(confirms, "nothing was to be confirmed")
      confirms = false
    case .response:
      // The server's part: it has no attributes, but it answers.
      break
    case .notification, .indication: invariant(false, "a client sent \(packet)")
    }
  }
}
