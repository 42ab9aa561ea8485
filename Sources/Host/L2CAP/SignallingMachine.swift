import Adapter
import Bluetooth

/// The signalling channel of one link (Core 5.4, Vol 3, Part A, 4).
///
/// | Input                                        | Actions                                                         |
/// |----------------------------------------------|-----------------------------------------------------------------|
/// | a parameter update request, we are central   | accepted and `update`; refused if it has impossible values      |
/// | the same, we are peripheral                  | rejected as not understood                                      |
/// | a request for channels                       | refused: there is no such listener                              |
/// | a request to close a channel                 | rejected: there is no such channel                              |
/// | another command, or none                     | rejected as not understood                                      |
/// | a longer frame than the channel takes        | rejected with the longest length                                |
/// | credits, a response that nothing waits for   | none                                                            |
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
  /// The result of a request for channels when there is no listener (4.23, 4.26).
  private static let noListener: UInt16 = 0x0002

  private let role: LinkRole
  private var lastIdentifier: UInt8 = 0
  /// The request that waits for its response.
  private var outstanding: UInt8?
  /// When `tick` is due.
  package private(set) var deadline: Instant?

  /// - Parameter role: ours.
  package init(role: LinkRole) { self.role = role }

  /// Asks the central for other parameters.
  package mutating func request(_ wanted: ConnectionParameters, at now: Instant) -> [Action] {
    guard outstanding == nil else { return [] }
    lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
    outstanding = lastIdentifier
    deadline = now.advanced(by: Self.timeout)
    let words = ParameterUpdate(wanted).words
    return [
      .send(
        SignallingPacket(code: SignallingPacket.Code.parameterUpdateRequest, identifier: lastIdentifier, words: words))
    ]
  }

  /// Takes the payload of a frame.
  package mutating func receive(_ payload: [UInt8]) -> [Action] {
    guard payload.count <= Self.longest else {
      return reject(identifier: payload[1], Reason.tooLong, [UInt16(Self.longest)])
    }
    guard let packet = SignallingPacket(decoding: payload) else {
      // Without an identifier there is nothing to reject.
      return payload.count >= 2 ? reject(identifier: payload[1], Reason.notUnderstood) : []
    }
    switch packet.code {
    case SignallingPacket.Code.reject: return answered(packet, .notUnderstood)
    case SignallingPacket.Code.parameterUpdateResponse:
      guard let result = packet.words(1)?.first else { return [] }
      return answered(packet, result == 0 ? .accepted : .refused)
    case SignallingPacket.Code.parameterUpdateRequest where role == .central: return update(packet)
    case SignallingPacket.Code.disconnectionRequest:
      guard let channels = packet.words(2) else { return reject(packet) }
      return reject(identifier: packet.identifier, Reason.invalidChannel, channels)
    case SignallingPacket.Code.creditBasedRequest:
      return respond(packet, SignallingPacket.Code.creditBasedResponse, [0, 0, 0, 0, Self.noListener])
    case SignallingPacket.Code.enhancedRequest:
      return respond(packet, SignallingPacket.Code.enhancedResponse, [0, 0, 0, Self.noListener])
    case SignallingPacket.Code.disconnectionResponse, SignallingPacket.Code.creditBasedResponse,
      SignallingPacket.Code.credits, SignallingPacket.Code.enhancedResponse, SignallingPacket.Code.reconfigureResponse:
      return []
    default: return reject(packet)
    }
  }

  package mutating func tick(at now: Instant) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    return settle(.noAnswer)
  }

  private mutating func answered(_ packet: SignallingPacket, _ outcome: Outcome) -> [Action] {
    guard packet.identifier == outstanding else { return [] }
    return settle(outcome)
  }

  private mutating func settle(_ outcome: Outcome) -> [Action] {
    outstanding = nil
    deadline = nil
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
