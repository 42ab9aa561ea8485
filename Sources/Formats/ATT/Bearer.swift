import Bluetooth

// One ATT bearer: flow control, and the timeouts (Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3).
//
// State        Holds                                        Leaves it
// open         our request pending, or not                  its response · timeout
//              our indication pending, or not               its confirmation · timeout
//              the peer's request to be answered, or not    `answered()` · a second request
// ended        why                                          never
//
// Inputs: `receive`, `send(request:)`, `send(indication:)`, `answered`, `timePassed`, `end`. Output: `Event`,
// `deadline`.

/// The rules for one ATT bearer: the MTU, one request and one indication pending each way, 30 s for each.
///
/// Enhanced bearers (3.2.11) have the same rules, except for the MTU: it is their channel's and is not exchanged.
public struct Bearer: Sendable {
  /// Maximum wait for the answer to a request or an indication.
  public static let transactionTimeout: Duration = .seconds(30)
  /// The MTU before the exchange, in octets.
  public static let defaultMTU = 23

  /// A received packet's meaning.
  public enum Event: Hashable, Sendable {
    /// A request from the peer; call `answered()` when the response was sent.
    case request(ATTPDU)
    /// A command from the peer, without a response.
    case command(ATTPDU)
    /// The response to our request, possibly an Error Response.
    case response(ATTPDU)
    /// A malformed response to our request.
    case malformedResponse(ATTDecodingError)
    /// A notification, with one or several values.
    case notification(ATTPDU)
    /// An indication, and the confirmation to send.
    case indication(ATTPDU, confirmation: [UInt8])
    /// Our indication was confirmed.
    case confirmation
    /// Send this: the response to an MTU exchange or to a malformed request.
    case answer([UInt8])
    /// An answer to nothing: a second one to a request, or one to another request. It changes nothing; pending requests
    /// stay pending.
    case stray(ATTOpcode)
    /// There is nothing to do.
    case ignored
    /// The bearer ended; drop the link.
    case failed(BearerError)
  }

  private struct Request {
    let opcode: ATTOpcode
    let deadline: Instant
  }

  /// The largest packet we accept, 23 to 517 octets.
  public let maximumMTU: Int
  /// The largest packet on this bearer in octets, 23 before the exchange. It never decreases: packets of that length
  /// may be in transit already.
  public private(set) var mtu = Bearer.defaultMTU
  /// The reason for the bearer's end; nil while it is open.
  public private(set) var error: BearerError?
  private let exchangesMTU: Bool
  private var request: Request?
  private var indicationDeadline: Instant?
  private var answering = false

  /// Opens a bearer.
  /// - Parameter maximumMTU: the largest packet the link carries; clamped to 23 to 517 octets.
  public init(maximumMTU: Int) {
    self.maximumMTU = min(max(maximumMTU, Bearer.defaultMTU), 517)
    exchangesMTU = true
  }

  /// Opens an enhanced bearer.
  /// - Parameter enhancedMTU: the longest packet accepted by both ends of its channel, 64 or more octets; clamped to
  ///   517.
  public init(enhancedMTU: Int) {
    maximumMTU = min(max(enhancedMTU, Bearer.defaultMTU), 517)
    exchangesMTU = false
    mtu = maximumMTU
  }

  /// True if a request may be sent now.
  public var canRequest: Bool { request == nil && error == nil }
  /// True if an indication may be sent now.
  public var canIndicate: Bool { indicationDeadline == nil && error == nil }
  /// When `timePassed` must be called, unless the state changes before.
  public var deadline: Instant? {
    guard let first = request?.deadline else { return indicationDeadline }
    guard let second = indicationDeadline else { return first }
    return min(first, second)
  }

  /// Records that this request is being sent.
  /// - Returns: false, and nothing is recorded, if another is pending or the bearer ended.
  public mutating func send(request packet: [UInt8], now: Instant) -> Bool {
    guard canRequest, let opcode = packet.first else { return false }
    request = Request(opcode: ATTOpcode(rawValue: opcode), deadline: now.advanced(by: Bearer.transactionTimeout))
    return true
  }

  /// Records that an indication is being sent.
  /// - Returns: false, and nothing is recorded, if another is pending or the bearer ended.
  public mutating func sendIndication(now: Instant) -> Bool {
    guard canIndicate else { return false }
    indicationDeadline = now.advanced(by: Bearer.transactionTimeout)
    return true
  }

  /// Records that the peer's request was answered.
  public mutating func answered() { answering = false }

  /// Ends the bearer. The first reason is kept.
  public mutating func end(_ reason: BearerError) {
    if error == nil { error = reason }
    request = nil
    indicationDeadline = nil
    answering = false
  }

  /// Ends the bearer if a pending transaction has timed out.
  /// - Returns: the reason for its end, once.
  public mutating func timePassed(now: Instant) -> BearerError? {
    guard error == nil else { return nil }
    if let request, request.deadline <= now { return fail(.timeout(request.opcode)) }
    if let indicationDeadline, indicationDeadline <= now { return fail(.timeout(.handleValueIndication)) }
    return nil
  }

  /// Handles one packet from the link.
  public mutating func receive(_ packet: [UInt8]) -> Event {
    guard error == nil, let first = packet.first else { return .ignored }
    let opcode = ATTOpcode(rawValue: first)
    let pdu: ATTPDU
    do {
      pdu = try ATTPDU(decoding: packet)
    } catch {
      return refuse(opcode, error)
    }
    switch opcode.kind {
    case .request:
      // The peer may send no more than the MTU (3.2.8), and the answer to Prepare Write is as long as the request.
      return packet.count <= mtu ? receive(request: pdu, opcode) : refuse(opcode, .malformed(opcode))
    case .response: return receive(response: pdu, opcode)
    case .command: return .command(pdu)
    case .notification: return .notification(pdu)
    case .indication: return .indication(pdu, confirmation: ATTPDU.handleValueConfirmation.encoded)
    case .confirmation:
      guard indicationDeadline != nil else { return .stray(opcode) }
      indicationDeadline = nil
      return .confirmation
    }
  }

  private mutating func receive(request pdu: ATTPDU, _ opcode: ATTOpcode) -> Event {
    guard !answering else { return .failed(fail(.requestWhilePending(opcode))) }
    if case .exchangeMTURequest(let theirs) = pdu {
      guard exchangesMTU else {
        return .answer(ATTPDU.errorResponse(request: opcode, handle: 0, error: .requestNotSupported).encoded)
      }
      exchanged(theirs)
      return .answer(ATTPDU.exchangeMTUResponse(UInt16(maximumMTU)).encoded)
    }
    answering = true
    return .request(pdu)
  }

  private mutating func receive(response pdu: ATTPDU, _ opcode: ATTOpcode) -> Event {
    guard let pending = request, pdu.answers(pending.opcode) else { return .stray(opcode) }
    if case .exchangeMTUResponse(let theirs) = pdu { exchanged(theirs) }
    request = nil
    return .response(pdu)
  }

  /// The event for octets that are not a packet.
  private mutating func refuse(_ opcode: ATTOpcode, _ reason: ATTDecodingError) -> Event {
    switch opcode.kind {
    case .request:
      guard !answering else { return .failed(fail(.requestWhilePending(opcode))) }
      let error: ATTErrorCode = if case .unknownOpcode = reason { .requestNotSupported } else { .invalidPDU }
      return .answer(ATTPDU.errorResponse(request: opcode, handle: 0, error: error).encoded)
    case .response:
      guard let pending = request, opcode.answers(pending.opcode) || opcode == .errorResponse else {
        return .stray(opcode)
      }
      request = nil
      return .malformedResponse(reason)
    case .command, .notification, .indication, .confirmation: return .ignored
    }
  }

  /// The other side sent its maximum MTU. Each side may request once (3.4.2.1); a repeated request is answered.
  private mutating func exchanged(_ theirs: UInt16) { mtu = max(mtu, min(maximumMTU, Int(theirs))) }

  private mutating func fail(_ reason: BearerError) -> BearerError {
    end(reason)
    return reason
  }
}

extension ATTPDU {
  /// True if this answers `request`: its response, or an Error Response that names it.
  fileprivate func answers(_ request: ATTOpcode) -> Bool {
    if case .errorResponse(let failed, _, _) = self { return failed == request }
    return opcode.answers(request)
  }
}

extension ATTOpcode {
  /// True if this is the response to `request`: the following opcode (3.4.8).
  func answers(_ request: ATTOpcode) -> Bool { rawValue == request.rawValue &+ 1 }
}

/// The reason for a bearer's end (Core 5.4, Vol 3, Part F, 3.3.2 and 3.3.3). Nothing can be sent or received after it.
public enum BearerError: Error, Hashable, Sendable {
  /// The peer left a request or an indication unanswered for 30 s.
  case timeout(ATTOpcode)
  /// The peer sent a request while its last one was unanswered.
  case requestWhilePending(ATTOpcode)
  /// The link ended.
  case linkEnded(BluetoothError)

  /// As a `BluetoothError`.
  public var bluetoothError: BluetoothError {
    switch self {
    case .timeout(let opcode):
      GAPError.timeout.error("the device did not answer the ATT packet \(opcode) within 30 s")
    case .requestWhilePending(let opcode):
      BledError.protocolViolation.error("the device sent the ATT request \(opcode) before its last one was answered")
    case .linkEnded(let reason): reason
    }
  }
}
