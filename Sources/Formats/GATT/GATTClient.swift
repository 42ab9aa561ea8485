import ATT
import Bluetooth

// The client on one bearer (Core 5.4, Vol 3, Part G, 4). It runs one procedure at a time; a queue is up to the caller.
//
// State      Holds                                       Leaves it
// idle       nothing                                     `start`
// asking     the procedure, a request on its way         its answer: the next request, or the end
// waiting    the procedure, refused for want of security `resume`: the request once more, or the end
//
// Inputs: `start`, `handle` (a response), `resume`, `endProcedure`. Output: `GATTAction`.

/// The GATT client on one bearer.
struct GATTClient: Sendable {
  fileprivate var running: RunningProcedure?
  /// The refusal waiting for `resume`.
  fileprivate var refusal: ATTPDU?
  fileprivate var hasExchangedMTU = false
}

extension BearerState {
  /// Starts a procedure; one with requests fails while another runs.
  /// - Parameter isEncrypted: true on an encrypted link: then nothing is signed (Core 5.4, Vol 3, Part C, 10.4.1).
  mutating func start(
    _ procedure: GATTProcedure, id: ProcedureID, isEncrypted: Bool, now: Instant, actions: inout [GATTAction]
  ) {
    if let error = att.error { return actions.append(.finished(id, .failure(.bearer(error)))) }
    switch procedure {
    case .writeWithoutResponse(let handle, let value):
      command(.writeCommand(handle, value: value[...]), id, &actions)
    case .signedWrite(let handle, let value, _) where isEncrypted:
      command(.writeCommand(handle, value: value[...]), id, &actions)
    case .signedWrite(let handle, let value, let sign):
      let signature = sign(ATTPDU.signedWriteCommand(handle, value: value[...], signature: []).encoded)
      guard signature.count == 12 else { return actions.append(.finished(id, .failure(.invalidParameter))) }
      command(.signedWriteCommand(handle, value: value[...], signature: signature[...]), id, &actions)
    default:
      guard client.running == nil, att.canRequest else { return actions.append(.finished(id, .failure(.busy))) }
      begin(procedure, id, now, &actions)
    }
  }

  /// Handles the response to the pending request.
  /// - Parameter asksForSecurity: true to report a refusal for lack of security to the caller.
  mutating func handle(response pdu: ATTPDU, asksForSecurity: Bool, now: Instant, actions: inout [GATTAction]) {
    if asksForSecurity, case .errorResponse(_, _, let error) = pdu, error.isAboutSecurity,
      let id = client.running?.id, client.running?.wasRepeated == false
    {
      client.refusal = pdu
      return actions.append(.securityNeeded(id, on: self.id, error))
    }
    follow(pdu, now, &actions)
  }

  /// Handles a malformed response.
  mutating func handle(malformedResponse packet: [UInt8], actions: inout [GATTAction]) {
    let opcode = ATTOpcode(rawValue: packet.first ?? 0)
    finish(.failure(.invalidResponse(opcode, .malformed)), &actions)
  }

  /// Repeats a request refused for lack of security, or fails it.
  mutating func resume(_ id: ProcedureID, isSecured: Bool, now: Instant, actions: inout [GATTAction]) {
    guard client.running?.id == id, let refused = client.refusal else { return }
    client.refusal = nil
    client.running?.wasRepeated = true
    if isSecured, let packet = client.running?.packet {
      send(packet, now, &actions)
    } else {
      follow(refused, now, &actions)
    }
  }

  /// Ends the running procedure; the bearer ended.
  mutating func endProcedure(_ reason: BearerError, _ actions: inout [GATTAction]) {
    client.refusal = nil
    finish(.failure(.bearer(reason)), &actions)
  }

  // MARK: - The procedure

  private mutating func follow(_ pdu: ATTPDU, _ now: Instant, _ actions: inout [GATTAction]) {
    let mtu = mtu
    // In its place, so that its collected values are not copied.
    guard let step = client.running?.receive(pdu, mtu: mtu) else { return }
    switch step {
    case .send(let request):
      client.running?.wasRepeated = false
      send(request.encoded, now, &actions)
    case .finish(let result):
      if case .success(.mtu) = result { client.hasExchangedMTU = true }
      finish(result, &actions)
    }
  }

  private mutating func finish(_ result: Result<GATTResult, GATTError>, _ actions: inout [GATTAction]) {
    guard let id = client.running?.id else { return }
    client.running = nil
    actions.append(.finished(id, result))
  }

  private mutating func begin(
    _ procedure: GATTProcedure, _ id: ProcedureID, _ now: Instant, _ actions: inout [GATTAction]
  ) {
    // The MTU is exchanged once on a bearer (Part F, 3.4.2).
    if case .exchangeMTU = procedure, client.hasExchangedMTU {
      return actions.append(.finished(id, .success(.mtu(mtu))))
    }
    var next = RunningProcedure(id: id, procedure: procedure)
    switch next.begin(mtu: mtu, maximumMTU: att.maximumMTU) {
    case .finish(let result): actions.append(.finished(id, result))
    case .send(let request):
      client.running = consume next
      send(request.encoded, now, &actions)
    }
  }

  private mutating func send(_ packet: [UInt8], _ now: Instant, _ actions: inout [GATTAction]) {
    guard att.send(request: packet, now: now) else { return }
    client.running?.packet = packet
    client.running?.askedMTU = att.mtu
    actions.append(.send(id, packet))
  }

  private func command(_ pdu: ATTPDU, _ id: ProcedureID, _ actions: inout [GATTAction]) {
    let packet = pdu.encoded
    guard packet.count <= mtu else {
      // A signature adds 12 octets.
      let overhead = if case .signedWriteCommand = pdu { 15 } else { 3 }
      return actions.append(.finished(id, .failure(.valueTooLong(maximum: mtu - overhead))))
    }
    actions.append(.send(self.id, packet))
    actions.append(.finished(id, .success(.done)))
  }
}
