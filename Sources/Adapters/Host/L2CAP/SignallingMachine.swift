import Adapter
import Bluetooth

/// A link's signalling channel (Core 5.4, Vol 3, Part A, 4).
///
/// | Input                                        | Actions                                                         |
/// |----------------------------------------------|-----------------------------------------------------------------|
/// | a parameter update request, we are central   | accepted and `update`; refused if it has impossible values, or  |
/// |                                              | only longer intervals than `longestInterval` allows             |
/// | the same, we are peripheral                  | rejected as not understood                                      |
/// | a request for a channel                      | the offer for its number: `accepted`, or refused                |
/// | a request for up to five enhanced channels   | the offer for its number: `accepted` as far as numbers are left |
/// | a request for more of them                   | refused                                                         |
/// | a request for other sizes of its ends        | `resized`; refused if they are smaller than allowed             |
/// | a request to close a channel                 | `closed`; rejected if there is no such channel                  |
/// | the same, and we are closing the channel     | accepted: both requests have crossed                            |
/// | another command, or none                     | rejected as not understood                                      |
/// | a longer frame than the channel takes        | rejected with the longest length                                |
/// | a command with identifier 0                  | none                                                            |
/// | credits of a channel                         | `credited`                                                      |
/// | a response that nothing waits for            | none                                                            |
/// | `open`                                       | `send`; the response or 30 s without it: `opened`, `refused`    |
/// | a response with a number of another channel  | the new one is refused, the other one `closed` at both ends     |
/// | a response that grants a channel after 30 s  | the channel is closed, for up to 5 minutes                      |
/// | `close`                                      | `send`                                                          |
/// | `request`, as peripheral                     | `send`; the response or 30 s without it: `settled`              |
/// | the same while one is outstanding            | none                                                            |
package struct SignallingMachine {
  package enum Action: Hashable {
    /// Send this on the signalling channel.
    case send(SignallingPacket)
    /// The device requested other parameters, which were granted.
    case update(ConnectionParameters)
    /// Our request was answered.
    case settled(Outcome)
    /// The device has opened the requested channel, which has this number here.
    case opened(UInt16, ChannelEnd)
    /// The device has not opened it, for this reason.
    case refused(UInt16, Refusal)
    /// The device opened a channel to a listener of ours, which has this number here.
    case accepted(UInt16, psm: UInt16, ChannelMode, ChannelEnd)
    /// The device takes packets and pieces of other sizes on a channel, from our response on.
    case resized(UInt16, packet: UInt16, piece: UInt16)
    /// The device accepts this many more pieces on a channel.
    case credited(UInt16, UInt16)
    /// The device closed a channel.
    case closed(UInt16)
  }

  /// The reason why there is no channel.
  package enum Refusal: Hashable, Sendable {
    /// The device's result (4.23, 4.26).
    case result(UInt16)
    /// The device does not know the request.
    case notUnderstood
    case noAnswer
  }

  /// The outcome of a request for other parameters.
  package enum Outcome: Hashable, Sendable {
    case accepted
    case refused
    /// The device does not know the request.
    case notUnderstood
    case noAnswer
  }

  /// The longest accepted frame, in octets.
  private static let longest = 255
  /// Maximum time for a response (6.2.1: 1 to 60 s).
  static let timeout = Duration.seconds(30)
  /// Reject reasons (4.1).
  enum Reason {
    static let notUnderstood: UInt16 = 0x0000
    static let tooLong: UInt16 = 0x0001
    static let invalidChannel: UInt16 = 0x0002
  }

  private let role: LinkRole
  private var lastIdentifier: UInt8 = 0
  /// The pending request for parameters.
  private var outstanding: (identifier: UInt8, until: Instant)?
  var channels = ChannelTable()
  /// The answers to a device requesting other parameters.
  package var policy = ParameterPolicy()
  /// When `tick` is due.
  package var deadline: Instant? {
    [outstanding?.until, channels.deadline].compactMap { $0 }.min()
  }

  /// - Parameter role: ours.
  package init(role: LinkRole) { self.role = role }

  /// Asks the central for other parameters.
  package mutating func request(_ wanted: ConnectionParameters, at now: Instant) -> [Action] {
    guard outstanding == nil else { return [] }
    let identifier = nextIdentifier()
    outstanding = (identifier, now.advanced(by: Self.timeout))
    return request(SignallingPacket.Code.parameterUpdateRequest, identifier, ParameterUpdate(wanted).words)
  }

  mutating func nextIdentifier() -> UInt8 {
    repeat {
      lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
    } while outstanding?.identifier == lastIdentifier || channels.isWaiting(lastIdentifier)
    return lastIdentifier
  }

  func request(_ code: UInt8, _ identifier: UInt8, _ words: [UInt16]) -> [Action] {
    [.send(SignallingPacket(code: code, identifier: identifier, words: words))]
  }

  // MARK: - The device

  /// Handles a frame's payload.
  /// - Parameter offer: our answer to a request for channels to this listener.
  package mutating func receive(
    _ payload: [UInt8], at now: Instant, offer: (UInt16, ChannelMode) -> ChannelOffer
  ) -> [Action] {
    guard payload.count <= Self.longest else {
      return reject(identifier: payload[1], Reason.tooLong, [UInt16(Self.longest)])
    }
    guard let packet = SignallingPacket(decoding: payload) else {
      // Without an identifier there is nothing to reject.
      return payload.count >= 2 ? reject(identifier: payload[1], Reason.notUnderstood) : []
    }
    // No command has this identifier (4).
    guard packet.identifier != 0 else { return [] }
    switch packet.code {
    case SignallingPacket.Code.reject:
      return channels.rejected(packet.identifier).map { .refused($0, .notUnderstood) }
        + answered(packet, .notUnderstood)
    case SignallingPacket.Code.parameterUpdateResponse:
      guard let result = packet.words(1)?.first else { return [] }
      return answered(packet, result == 0 ? .accepted : .refused)
    case SignallingPacket.Code.parameterUpdateRequest where role == .central: return update(packet)
    case SignallingPacket.Code.disconnectionRequest:
      guard let ends = packet.words(2) else { return reject(packet) }
      return closed(packet, local: ends[0], remote: ends[1])
    case SignallingPacket.Code.creditBasedRequest: return requested(packet, offer)
    case SignallingPacket.Code.creditBasedResponse: return responded(packet, at: now)
    case SignallingPacket.Code.credits:
      guard let words = packet.words(2), let number = channels.local(of: words[0]), words[1] > 0 else { return [] }
      return [.credited(number, words[1])]
    case SignallingPacket.Code.disconnectionResponse:
      if let ends = packet.words(2) { channels.closeAnswered(packet.identifier, local: ends[1], remote: ends[0]) }
      return []
    case SignallingPacket.Code.enhancedRequest: return requestedEnhanced(packet, offer)
    case SignallingPacket.Code.enhancedResponse: return respondedEnhanced(packet, at: now)
    case SignallingPacket.Code.reconfigureRequest: return resized(packet)
    // No request of ours waits for it.
    case SignallingPacket.Code.reconfigureResponse: return []
    default: return reject(packet)
    }
  }

  package mutating func tick(at now: Instant) -> [Action] {
    var actions = channels.expire(at: now).map { Action.refused($0, .noAnswer) }
    if let outstanding, outstanding.until <= now { actions += settle(.noAnswer) }
    return actions
  }

  private mutating func answered(_ packet: SignallingPacket, _ outcome: Outcome) -> [Action] {
    guard packet.identifier == outstanding?.identifier else { return [] }
    return settle(outcome)
  }

  private mutating func settle(_ outcome: Outcome) -> [Action] {
    outstanding = nil
    return [.settled(outcome)]
  }

  private func update(_ packet: SignallingPacket) -> [Action] {
    guard let words = packet.words(4) else { return reject(packet) }
    guard let asked = ParameterUpdate(words), let update = policy.granted(asked) else {
      return respond(packet, SignallingPacket.Code.parameterUpdateResponse, [1])
    }
    return respond(packet, SignallingPacket.Code.parameterUpdateResponse, [0]) + [.update(update.parameters)]
  }

  func respond(_ packet: SignallingPacket, _ code: UInt8, _ words: [UInt16]) -> [Action] {
    [.send(SignallingPacket(code: code, identifier: packet.identifier, words: words))]
  }

  func reject(_ packet: SignallingPacket) -> [Action] {
    reject(identifier: packet.identifier, Reason.notUnderstood)
  }

  /// A command without an identifier is not answered.
  func reject(identifier: UInt8, _ reason: UInt16, _ data: [UInt16] = []) -> [Action] {
    guard identifier != 0 else { return [] }
    return [
      .send(SignallingPacket(code: SignallingPacket.Code.reject, identifier: identifier, words: [reason] + data))
    ]
  }
}
