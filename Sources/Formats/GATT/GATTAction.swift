import ATT
import Bluetooth

/// An action from a `GATTConnection`. Execute actions in order.
public enum GATTAction: Sendable {
  /// Send this packet on this bearer.
  case send(BearerID, [UInt8])
  /// This bearer ended: disconnect if it is the fixed one, otherwise close its channel; the link stays. Its pending
  /// operations fail next.
  case bearerEnded(BearerID, BearerError)
  /// The largest packet changed, in octets.
  case mtuChanged(Int)
  /// The peer sent an answer to no request. It changed nothing.
  case strayAnswer(BearerID, ATTOpcode)

  /// A procedure ended. Emitted exactly once for each started one.
  case finished(ProcedureID, Result<GATTResult, GATTError>)
  /// The peer's server sent a value. An indication has been confirmed already.
  case value(handle: UInt16, [UInt8], isIndication: Bool)
  /// The peer's server requires more security. The procedure waits; call `resume`. Only where `asksForSecurity` is set.
  case securityNeeded(ProcedureID, on: BearerID, ATTErrorCode)

  /// The peer reads an owner's value: call `answerRead`.
  case read(ReadQuestion)
  /// The peer writes an owner's value: call `answerWrite` if there is a token.
  case write(WriteQuestion)
  /// A request is cancelled: an answer would be ignored.
  case questionCancelled(QuestionToken)
  /// The peer wrote a value stored in the database.
  case stored(handle: UInt16)
  /// The peer changed its subscription to the value at this handle, or disconnected.
  case subscriptionChanged(handle: UInt16, ClientConfiguration)
  /// An indication was confirmed, or failed. Emitted exactly once for each.
  case indicationFinished(IndicationID, Result<Void, GATTError>)
  /// Accepted a signed write; later ones with this counter or a lower one are replays.
  case signatureAccepted(counter: UInt32)
  /// `clientState` changed: keep it if the peer is bonded.
  case clientStateChanged
}

/// A bearer, unique on one link: the caller's number for an enhanced one, 1 or more.
public struct BearerID: Hashable, Sendable {
  /// Every link's bearer, on L2CAP's fixed channel 4.
  public static let fixed = BearerID(0)

  /// The number.
  public let value: Int
  /// Makes an identifier from a number.
  public init(_ value: Int) { self.value = value }
}

/// The request that an answer belongs to; unique on one connection.
public struct QuestionToken: Hashable, Sendable {
  let bearer: BearerID
  let value: UInt64
}

/// The caller's number for an indication.
public struct IndicationID: Hashable, Sendable {
  /// The number.
  public let value: UInt64
  /// Makes an identifier from a number.
  public init(_ value: UInt64) { self.value = value }
}

/// A read to be answered by a value's owner.
public struct ReadQuestion: Hashable, Sendable {
  /// For the answer.
  public let token: QuestionToken
  /// The owner in question.
  public let owner: AttributeOwner
  /// The attribute.
  public let handle: UInt16
  /// The offset in the value, 0 to 512.
  public let offset: UInt16
}

/// A write to be accepted or refused as a whole by the values' owner.
public struct WriteQuestion: Hashable, Sendable {
  /// For the answer; nil for a command, which has none.
  public let token: QuestionToken?
  /// The owner in question.
  public let owner: AttributeOwner
  /// The values, in order.
  public let writes: [AttributeWrite]
}
