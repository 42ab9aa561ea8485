import ATT
import Bluetooth

/// What a `GATTConnection` wants done. Execute actions in order.
public enum GATTAction: Sendable {
  /// Send this packet on the link.
  case send([UInt8])
  /// The bearer is at its end: drop the link. What was pending has failed already.
  case failed(BearerError)
  /// The largest packet changed, in octets.
  case mtuChanged(Int)

  /// A procedure ended. Comes exactly once for each that was started.
  case finished(ProcedureID, Result<GATTResult, GATTError>)
  /// The peer's server sent a value. An indication has been confirmed already.
  case value(handle: UInt16, [UInt8], isIndication: Bool)
  /// The peer's server wants more protection. The procedure waits; call `resume`. Only where `asksForSecurity` is set.
  case securityNeeded(ProcedureID, ATTErrorCode)

  /// The peer reads a value of the owner's: call `answerRead`.
  case read(ReadQuestion)
  /// The peer writes a value of the owner's: call `answerWrite` if there is a token.
  case write(WriteQuestion)
  /// A question is void: an answer would be ignored.
  case questionCancelled(QuestionToken)
  /// The peer wrote a value that the database holds.
  case stored(handle: UInt16)
  /// The peer changed what it wants to be sent of the value at this handle, or left.
  case subscriptionChanged(handle: UInt16, ClientConfiguration)
  /// An indication was confirmed, or failed. Comes exactly once for each.
  case indicationFinished(IndicationID, Result<Void, GATTError>)
  /// `clientState` changed: keep it if the peer is bonded.
  case clientStateChanged
}

/// Which question an answer belongs to; never the same twice on one connection.
public struct QuestionToken: Hashable, Sendable {
  let value: UInt64
}

/// The number under which the caller follows an indication; it chooses it.
public struct IndicationID: Hashable, Sendable {
  /// The number.
  public let value: UInt64
  /// Makes a number into an identifier.
  public init(_ value: UInt64) { self.value = value }
}

/// A read that the owner of a value is to answer.
public struct ReadQuestion: Hashable, Sendable {
  /// For the answer.
  public let token: QuestionToken
  /// Who is asked.
  public let owner: AttributeOwner
  /// The attribute.
  public let handle: UInt16
  /// From where on the value is wanted, 0 to 512.
  public let offset: UInt16
}

/// A write that the owner of the values is to take or refuse as a whole.
public struct WriteQuestion: Hashable, Sendable {
  /// For the answer; nil for a command, which has none.
  public let token: QuestionToken?
  /// Who is asked.
  public let owner: AttributeOwner
  /// What is written, in order.
  public let writes: [AttributeWrite]
}
