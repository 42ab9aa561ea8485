import Adapter
import Bluetooth

/// The signalling channel of one link (Core 5.4, Vol 3, Part A, 4).
///
/// | Input                                        | Actions                                                         |
/// |----------------------------------------------|-----------------------------------------------------------------|
/// | a parameter update request, we are central   | accepted and `update`; refused if it has impossible values      |
/// | the same, we are peripheral                  | rejected as not understood                                      |
/// | a request for a channel                      | the offer for its number: `accepted`, or refused                |
/// | a request for enhanced channels              | refused: there is no such listener                              |
/// | a request to close a channel                 | `closed`; rejected if there is no such channel                  |
/// | the same, and we are closing the channel     | accepted: both requests have crossed                            |
/// | another command, or none                     | rejected as not understood                                      |
/// | a longer frame than the channel takes        | rejected with the longest length                                |
/// | credits of a channel                         | `credited`                                                      |
/// | a response that nothing waits for            | none                                                            |
/// | `open`                                       | `send`; the response or 30 s without it: `opened`, `refused`    |
/// | `close`                                      | `send`                                                          |
/// | `request`, as peripheral                     | `send`; the response or 30 s without it: `settled`              |
/// | `request` while one is outstanding           | none                                                            |
package struct SignallingMachine {
  package enum Action: Hashable {
    /// Send this on the signalling channel.
    case send(SignallingPacket)
    /// The device asked for other parameters, and was told that it gets them.
    case update(ConnectionParameters)
    /// Our request was answered.
    case settled(Outcome)
    /// The device has opened the channel that we asked for, which has this number here.
    case opened(UInt16, ChannelEnd)
    /// The device has not opened it, for this reason.
    case refused(UInt16, Refusal)
    /// The device opened a channel to a listener of ours, which has this number here.
    case accepted(UInt16, psm: UInt16, ChannelEnd)
    /// The device takes so many more pieces on a channel.
    case credited(UInt16, UInt16)
    /// The device closed a channel.
    case closed(UInt16)
  }

  /// Why there is no channel.
  package enum Refusal: Hashable, Sendable {
    /// The device's result (4.23).
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

  /// The longest frame that we take.
  private static let longest = 255
  /// How long a response may take (6.2.1: 1 to 60 s).
  private static let timeout = Duration.seconds(30)
  /// Reasons of a reject (4.1).
  private enum Reason {
    static let notUnderstood: UInt16 = 0x0000
    static let tooLong: UInt16 = 0x0001
    static let invalidChannel: UInt16 = 0x0002
  }
  /// Results of a request for channels (4.23, 4.26).
  private enum ResultCode {
    static let noListener: UInt16 = 0x0002
    static let noRoom: UInt16 = 0x0004
    static let invalidNumber: UInt16 = 0x0009
    static let numberInUse: UInt16 = 0x000A
    static let invalidParameters: UInt16 = 0x000B
  }

  private let role: LinkRole
  private var lastIdentifier: UInt8 = 0
  /// The request for parameters that waits for its response.
  private var outstanding: (identifier: UInt8, until: Instant)?
  private var channels = ChannelTable()
  /// When `tick` is due.
  package var deadline: Instant? { [outstanding?.until, channels.deadline].compactMap { $0 }.min() }

  /// - Parameter role: ours.
  package init(role: LinkRole) { self.role = role }

  /// Asks the central for other parameters.
  package mutating func request(_ wanted: ConnectionParameters, at now: Instant) -> [Action] {
    guard outstanding == nil else { return [] }
    let identifier = nextIdentifier()
    outstanding = (identifier, now.advanced(by: Self.timeout))
    return request(SignallingPacket.Code.parameterUpdateRequest, identifier, ParameterUpdate(wanted).words)
  }

  private mutating func nextIdentifier() -> UInt8 {
    repeat {
      lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
    } while lastIdentifier == outstanding?.identifier || channels.isWaiting(lastIdentifier)
    return lastIdentifier
  }

  private func request(_ code: UInt8, _ identifier: UInt8, _ words: [UInt16]) -> [Action] {
    [.send(SignallingPacket(code: code, identifier: identifier, words: words))]
  }

  // MARK: - Channels

  /// Asks for a channel to a listener of the device.
  /// - Parameter end: our end, whose number does not count.
  /// - Returns: its number, and the actions; nil if all numbers are taken.
  package mutating func open(_ psm: UInt16, _ end: ChannelEnd, at now: Instant) -> (number: UInt16, actions: [Action])?
  {
    guard let number = channels.free else { return nil }
    let identifier = nextIdentifier()
    channels.ask(number, identifier, until: now.advanced(by: Self.timeout))
    let words = [psm, number, end.packet, end.piece, end.credits]
    return (number, request(SignallingPacket.Code.creditBasedRequest, identifier, words))
  }

  /// Closes a channel; nothing more is told of it.
  package mutating func close(_ number: UInt16, at now: Instant) -> [Action] {
    guard let remote = channels.remote(of: number) else { return [] }
    let identifier = nextIdentifier()
    channels.close(number, identifier, until: now.advanced(by: Self.timeout))
    return request(SignallingPacket.Code.disconnectionRequest, identifier, [remote, number])
  }

  /// Lets the device send so many more pieces.
  package mutating func give(_ credits: UInt16, on number: UInt16) -> [Action] {
    guard channels.remote(of: number) != nil else { return [] }
    return request(SignallingPacket.Code.credits, nextIdentifier(), [number, credits])
  }

  // MARK: - The device

  /// Takes the payload of a frame.
  /// - Parameter offer: our answer to a request for a channel to this listener.
  package mutating func receive(_ payload: [UInt8], at now: Instant, offer: (UInt16) -> ChannelOffer) -> [Action] {
    guard payload.count <= Self.longest else {
      return reject(identifier: payload[1], Reason.tooLong, [UInt16(Self.longest)])
    }
    guard let packet = SignallingPacket(decoding: payload) else {
      // Without an identifier there is nothing to reject.
      return payload.count >= 2 ? reject(identifier: payload[1], Reason.notUnderstood) : []
    }
    switch packet.code {
    case SignallingPacket.Code.reject:
      if let number = channels.rejected(packet.identifier) { return [.refused(number, .notUnderstood)] }
      return answered(packet, .notUnderstood)
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
    case SignallingPacket.Code.enhancedRequest:
      return respond(packet, SignallingPacket.Code.enhancedResponse, [0, 0, 0, ResultCode.noListener])
    case SignallingPacket.Code.enhancedResponse, SignallingPacket.Code.reconfigureResponse: return []
    default: return reject(packet)
    }
  }

  package mutating func tick(at now: Instant) -> [Action] {
    let refused = channels.expire(at: now).map { Action.refused($0, .noAnswer) }
    guard let outstanding, outstanding.until <= now else { return refused }
    return refused + settle(.noAnswer)
  }

  /// The device asks for a channel.
  private mutating func requested(_ packet: SignallingPacket, _ offer: (UInt16) -> ChannelOffer) -> [Action] {
    guard let words = packet.words(5) else { return reject(packet) }
    let end = ChannelEnd(number: words[1], packet: words[2], piece: words[3], credits: words[4])
    guard end.hasNumber else { return refuse(packet, ResultCode.invalidNumber) }
    guard !channels.isUsed(end.number) else { return refuse(packet, ResultCode.numberInUse) }
    switch offer(words[0]) {
    case .refused(let result): return refuse(packet, result)
    case .granted(let own):
      guard end.hasSizes else { return refuse(packet, ResultCode.invalidParameters) }
      guard let number = channels.free else { return refuse(packet, ResultCode.noRoom) }
      channels.open(number, end.number)
      let answer = [number, own.packet, own.piece, own.credits, 0]
      return respond(packet, SignallingPacket.Code.creditBasedResponse, answer)
        + [.accepted(number, psm: words[0], end)]
    }
  }

  private func refuse(_ packet: SignallingPacket, _ result: UInt16) -> [Action] {
    respond(packet, SignallingPacket.Code.creditBasedResponse, [0, 0, 0, 0, result])
  }

  /// The device answered a request for a channel.
  private mutating func responded(_ packet: SignallingPacket, at now: Instant) -> [Action] {
    guard let words = packet.words(5), let number = channels.answered(packet.identifier) else { return [] }
    guard words[4] == 0 else { return [.refused(number, .result(words[4]))] }
    let end = ChannelEnd(number: words[0], packet: words[1], piece: words[2], credits: words[3])
    guard end.hasNumber, !channels.isUsed(end.number) else {
      // Nothing that we could close has this number.
      return [.refused(number, .result(ResultCode.invalidNumber))]
    }
    channels.open(number, end.number)
    guard end.hasSizes else {
      return close(number, at: now) + [.refused(number, .result(ResultCode.invalidParameters))]
    }
    return [.opened(number, end)]
  }

  /// The device closes a channel.
  private mutating func closed(_ packet: SignallingPacket, local: UInt16, remote: UInt16) -> [Action] {
    let open = channels.remote(of: local)
    guard let known = open ?? channels.closingRemote(of: local) else {
      return reject(identifier: packet.identifier, Reason.invalidChannel, [local, remote])
    }
    // With the number of another channel it is ignored (4.6).
    guard known == remote else { return [] }
    channels.free(local)
    // No piece may follow the response.
    return (open == nil ? [] : [.closed(local)])
      + respond(packet, SignallingPacket.Code.disconnectionResponse, [local, remote])
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
    guard let update = ParameterUpdate(words) else {
      return respond(packet, SignallingPacket.Code.parameterUpdateResponse, [1])
    }
    return respond(packet, SignallingPacket.Code.parameterUpdateResponse, [0]) + [.update(update.parameters)]
  }

  private func respond(_ packet: SignallingPacket, _ code: UInt8, _ words: [UInt16]) -> [Action] {
    [.send(SignallingPacket(code: code, identifier: packet.identifier, words: words))]
  }

  private func reject(_ packet: SignallingPacket) -> [Action] {
    reject(identifier: packet.identifier, Reason.notUnderstood)
  }

  /// No command has identifier 0, so none is answered.
  private func reject(identifier: UInt8, _ reason: UInt16, _ data: [UInt16] = []) -> [Action] {
    guard identifier != 0 else { return [] }
    return [
      .send(SignallingPacket(code: SignallingPacket.Code.reject, identifier: identifier, words: [reason] + data))
    ]
  }
}
