import ATT
import Bluetooth

/// An enhanced bearer (Core 5.4, Vol 3, Part F, 3.2.11) with what is under way on it, in both roles.
struct EnhancedBearer: Sendable {
  let id: BearerID
  var bearer: Bearer
  var client: GATTClient
  var transaction = GATTServer.Transaction()

  var deadline: Instant? { bearer.deadline.sooner(transaction.question?.deadline) }
}

/// Enhanced bearers of a link: beside the one that every link has, each carries a request in each direction of its own
/// (Part G, 5.3). What is pending on one that ends fails; the others go on.
extension GATTConnection {
  /// A channel for an enhanced bearer is open.
  /// - Parameter mtu: the longest packet that both its ends take, 64 or more octets.
  public mutating func openBearer(_ id: BearerID, mtu: Int) {
    guard isOpen, index(of: id) == nil else { return }
    var own = GATTClient()
    own.asksForSecurity = client.asksForSecurity
    own.isEncrypted = client.isEncrypted
    enhanced.append(EnhancedBearer(id: id, bearer: Bearer(enhancedMTU: mtu), client: own))
  }

  /// The channel of an enhanced bearer has ended.
  public mutating func bearerEnded(_ id: BearerID, _ reason: BluetoothError, actions: inout [GATTAction]) {
    if let index = index(of: id) { end(at: index, .linkEnded(reason), &actions) }
  }

  /// Handles one packet from an enhanced bearer.
  public mutating func received(
    _ packet: [UInt8], on id: BearerID, now: Instant, database: inout AttributeDatabase, actions: inout [GATTAction]
  ) {
    guard let index = index(of: id) else { return }
    var failure: BearerError?
    withEnhanced(index, &actions) { server, entry, actions in
      switch entry.bearer.receive(packet) {
      case .request(let pdu), .command(let pdu):
        server.handle(pdu, now: now, bearer: &entry.bearer, database: &database, actions: &actions)
      case .response(let pdu): entry.client.handle(pdu, now: now, bearer: &entry.bearer, actions: &actions)
      case .malformedResponse: entry.client.handleMalformed(packet, actions: &actions)
      case .notification(let pdu): entry.client.deliver(pdu, actions: &actions)
      case .indication(let pdu, let confirmation):
        actions.append(.send(confirmation))
        entry.client.deliver(pdu, actions: &actions)
      case .answer(let packet): actions.append(.send(packet))
      // Ours are not indicated here.
      case .confirmation, .ignored: break
      case .failed(let error): failure = error
      }
    }
    if let failure { end(at: index, failure, &actions) }
  }

  mutating func startEnhanced(
    _ procedure: GATTProcedure, _ id: ProcedureID, _ bearer: BearerID, _ now: Instant, _ actions: inout [GATTAction]
  ) {
    guard let index = index(of: bearer) else {
      let gone = GAPError.disconnected.error("The bearer has ended.")
      return actions.append(.finished(id, .failure(.bearer(.linkEnded(gone)))))
    }
    withEnhanced(index, &actions) { _, entry, actions in
      entry.client.start(procedure, id: id, now: now, bearer: &entry.bearer, actions: &actions)
    }
  }

  mutating func timePassedEnhanced(_ now: Instant, _ actions: inout [GATTAction]) {
    // From the last one on, as those that end leave.
    for index in enhanced.indices.reversed() {
      if let error = enhanced[index].bearer.timePassed(now: now) {
        end(at: index, error, &actions)
      } else {
        withEnhanced(index, &actions) { server, entry, actions in
          server.timePassed(now: now, bearer: &entry.bearer, actions: &actions)
        }
      }
    }
  }

  /// The link has ended, and all of them with it.
  mutating func endEnhanced(_ error: BearerError, _ actions: inout [GATTAction]) {
    while !enhanced.isEmpty { end(at: 0, error, &actions) }
  }

  /// Has each of them do something.
  mutating func forEachEnhanced(
    _ actions: inout [GATTAction], _ body: (inout GATTServer, inout EnhancedBearer, inout [GATTAction]) -> Void
  ) {
    for index in enhanced.indices { withEnhanced(index, &actions, body) }
  }

  private func index(of id: BearerID) -> Int? { enhanced.firstIndex { $0.id == id } }

  /// Has the server turn to an enhanced bearer meanwhile; packets that are to be sent leave on it.
  private mutating func withEnhanced(
    _ index: Int, _ actions: inout [GATTAction],
    _ body: (inout GATTServer, inout EnhancedBearer, inout [GATTAction]) -> Void
  ) {
    let first = actions.count
    server.exchange(&enhanced[index].transaction)
    body(&server, &enhanced[index], &actions)
    server.exchange(&enhanced[index].transaction)
    for new in first..<actions.count {
      if case .send(let packet) = actions[new] { actions[new] = .sendEnhanced(enhanced[index].id, packet) }
    }
  }

  private mutating func end(at index: Int, _ error: BearerError, _ actions: inout [GATTAction]) {
    // First that it is gone: nobody starts anything on it because of what fails.
    actions.append(.bearerEnded(enhanced[index].id, error))
    withEnhanced(index, &actions) { server, entry, actions in
      entry.bearer.end(error)
      entry.client.end(error, actions: &actions)
      server.endTransaction(&actions)
    }
    enhanced.remove(at: index)
  }
}

extension Instant? {
  /// The sooner of two deadlines.
  func sooner(_ other: Instant?) -> Instant? {
    guard let self else { return other }
    guard let other else { return self }
    return Swift.min(self, other)
  }
}
