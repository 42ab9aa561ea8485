import ATT
import Bluetooth

// The client of one link (Core 5.4, Vol 3, Part G, 4). It runs one procedure at a time; a queue is up to the caller.
//
// State      Holds                                       Leaves it
// idle       nothing                                     `start`
// asking     the procedure, a request on its way         its answer: the next request, or the end
// waiting    the procedure, refused for want of security `resume`: the request once more, or the end
//
// Inputs: `start`, `handle` (a response), `deliver` (a notification or indication), `resume`, `end`. Output:
// `GATTAction`.

/// The GATT client of one link.
struct GATTClient: Sendable {
  /// Whether a refusal for lack of security is reported to the caller.
  var asksForSecurity = false
  /// Whether the link is encrypted: then nothing is signed (Core 5.4, Vol 3, Part C, 10.4.1).
  var isEncrypted = false
  private var running: RunningProcedure?
  /// The refusal that waits for `resume`.
  private var refusal: ATTPDU?
  private var hasExchangedMTU = false

  /// Starts a procedure; one with requests fails while another runs.
  mutating func start(
    _ procedure: GATTProcedure, id: ProcedureID, now: Instant, bearer: inout Bearer, actions: inout [GATTAction]
  ) {
    if let error = bearer.error { return actions.append(.finished(id, .failure(.bearer(error)))) }
    switch procedure {
    case .writeWithoutResponse(let handle, let value):
      command(.writeCommand(handle, value: value[...]), id, bearer, &actions)
    case .signedWrite(let handle, let value, _) where isEncrypted:
      command(.writeCommand(handle, value: value[...]), id, bearer, &actions)
    case .signedWrite(let handle, let value, let sign):
      let signature = sign(ATTPDU.signedWriteCommand(handle, value: value[...], signature: []).encoded)
      guard signature.count == 12 else { return actions.append(.finished(id, .failure(.invalidParameter))) }
      command(.signedWriteCommand(handle, value: value[...], signature: signature[...]), id, bearer, &actions)
    default:
      guard running == nil, bearer.canRequest else { return actions.append(.finished(id, .failure(.busy))) }
      begin(procedure, id, now, &bearer, &actions)
    }
  }

  /// Handles the response to the pending request.
  mutating func handle(_ pdu: ATTPDU, now: Instant, bearer: inout Bearer, actions: inout [GATTAction]) {
    if asksForSecurity, case .errorResponse(_, _, let error) = pdu, error.isAboutSecurity,
      let id = running?.id, running?.wasRepeated == false
    {
      refusal = pdu
      return actions.append(.securityNeeded(id, error))
    }
    follow(pdu, now, &bearer, &actions)
  }

  /// Handles a malformed response.
  mutating func handleMalformed(_ packet: [UInt8], actions: inout [GATTAction]) {
    let opcode = ATTOpcode(rawValue: packet.first ?? 0)
    finish(.failure(.invalidResponse(opcode, .malformed)), &actions)
  }

  /// Repeats what was refused for lack of security, or fails it.
  mutating func resume(
    _ id: ProcedureID, isSecured: Bool, now: Instant, bearer: inout Bearer, actions: inout [GATTAction]
  ) {
    guard running?.id == id, let refused = refusal else { return }
    refusal = nil
    running?.wasRepeated = true
    // If the MTU has become smaller, the request may not fit any more.
    if isSecured, let packet = running?.packet, packet.count <= bearer.mtu {
      send(packet, now, &bearer, &actions)
    } else {
      follow(refused, now, &bearer, &actions)
    }
  }

  /// Passes on a notification or indication of the server.
  func deliver(_ pdu: ATTPDU, actions: inout [GATTAction]) {
    switch pdu {
    case .handleValueNotification(let handle, let value):
      actions.append(.value(handle: handle, [UInt8](value), isIndication: false))
    case .handleValueIndication(let handle, let value):
      actions.append(.value(handle: handle, [UInt8](value), isIndication: true))
    case .multipleHandleValueNotification(let list):
      for (handle, value) in HandleLengthValueList(list) {
        actions.append(.value(handle: handle, [UInt8](value), isIndication: false))
      }
    default: break
    }
  }

  /// Ends the running procedure; the bearer ended.
  mutating func end(_ reason: BearerError, actions: inout [GATTAction]) {
    refusal = nil
    finish(.failure(.bearer(reason)), &actions)
  }

  // MARK: - The procedure

  private mutating func follow(
    _ pdu: ATTPDU, _ now: Instant, _ bearer: inout Bearer, _ actions: inout [GATTAction]
  ) {
    // Taken out and put back so that what it has collected is not copied.
    guard var current = running.take() else { return }
    let step = current.take(pdu, mtu: bearer.mtu)
    running = current
    switch step {
    case .send(let request):
      running?.wasRepeated = false
      send(request.encoded, now, &bearer, &actions)
    case .finish(let result):
      if case .success(.mtu) = result { hasExchangedMTU = true }
      finish(result, &actions)
    }
  }

  private mutating func finish(_ result: Result<GATTResult, GATTError>, _ actions: inout [GATTAction]) {
    guard let id = running?.id else { return }
    running = nil
    actions.append(.finished(id, result))
  }

  private mutating func begin(
    _ procedure: GATTProcedure, _ id: ProcedureID, _ now: Instant, _ bearer: inout Bearer,
    _ actions: inout [GATTAction]
  ) {
    // The MTU is exchanged once on a bearer (Part F, 3.4.2).
    if case .exchangeMTU = procedure, hasExchangedMTU {
      return actions.append(.finished(id, .success(.mtu(bearer.mtu))))
    }
    var next = RunningProcedure(id: id, procedure: procedure)
    switch next.begin(mtu: bearer.mtu, maximumMTU: bearer.maximumMTU) {
    case .finish(let result): actions.append(.finished(id, result))
    case .send(let request):
      running = next
      send(request.encoded, now, &bearer, &actions)
    }
  }

  private mutating func send(
    _ packet: [UInt8], _ now: Instant, _ bearer: inout Bearer, _ actions: inout [GATTAction]
  ) {
    guard bearer.send(request: packet, now: now) else { return }
    running?.packet = packet
    actions.append(.send(packet))
  }

  private func command(_ pdu: ATTPDU, _ id: ProcedureID, _ bearer: Bearer, _ actions: inout [GATTAction]) {
    let packet = pdu.encoded
    guard packet.count <= bearer.mtu else {
      // A signature adds 12 octets.
      let overhead = if case .signedWriteCommand = pdu { 15 } else { 3 }
      return actions.append(.finished(id, .failure(.valueTooLong(maximum: bearer.mtu - overhead))))
    }
    actions.append(.send(packet))
    actions.append(.finished(id, .success(.done)))
  }
}
