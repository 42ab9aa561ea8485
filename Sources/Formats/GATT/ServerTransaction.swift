import ATT
import Bluetooth

/// The peer's request on one bearer, as far as it waits for an owner, and the writes prepared there.
struct ServerTransaction: Sendable {
  /// A question not answered by an owner yet, and the step after the answer.
  struct Question {
    enum Purpose {
      /// Read and Read Blob.
      case read(ATTOpcode, UInt16)
      /// Read By Type, whose first element the answer becomes.
      case readByType(handle: UInt16)
      /// Read Multiple; the answer is the value for the first remaining handle.
      case readMultiple(MultipleRead)
      /// Write.
      case write(UInt16)
      /// Execute Write; the answer is for the first remaining group.
      case execute(ExecuteWrite)
    }
    let token: QuestionToken
    let owner: AttributeOwner
    let deadline: Instant
    let purpose: Purpose
  }

  /// Maximum time for the owners to answer all questions of a request: less than the client's 30 s for the bearer (Core
  /// 5.4, Vol 3, Part F, 3.3.3).
  private static let requestTimeout: Duration = .seconds(25)
  /// Maximum prepared writes, and maximum octets.
  private static let preparedLimit = 128
  private static let preparedOctetLimit = 8192

  var question: Question?
  /// The last database change the client was notified of on this bearer, or read the hash after.
  var informedOf: UInt64 = 0
  private var prepared: [AttributeWrite] = []
  private var preparedOctets = 0
  /// The owners' deadline for the current request; nil while none was asked.
  private var deadline: Instant?
  private var lastToken: UInt64 = 0

  /// Opens a question.
  mutating func ask(
    _ purpose: Question.Purpose, on bearer: BearerID, owner: AttributeOwner, now: Instant
  ) -> QuestionToken {
    lastToken &+= 1
    let token = QuestionToken(bearer: bearer, value: lastToken)
    let deadline = deadline ?? now.advanced(by: Self.requestTimeout)
    self.deadline = deadline
    question = Question(token: token, owner: owner, deadline: deadline, purpose: purpose)
    return token
  }

  /// The current request was answered: the next one has its own time.
  mutating func answered() { deadline = nil }

  /// Adds a prepared write.
  /// - Returns: false if the queue is full.
  mutating func prepare(_ write: AttributeWrite) -> Bool {
    guard prepared.count < Self.preparedLimit, preparedOctets + write.value.count <= Self.preparedOctetLimit else {
      return false
    }
    prepared.append(write)
    preparedOctets += write.value.count
    return true
  }

  /// Empties the queue of prepared writes.
  mutating func removePrepared() -> [AttributeWrite] {
    defer { (prepared, preparedOctets) = ([], 0) }
    return prepared
  }
}

extension ServerTransaction.Question {
  /// The request waiting for the answer.
  var request: ATTOpcode {
    switch purpose {
    case .read(let opcode, _): opcode
    case .readByType: .readByTypeRequest
    case .readMultiple(let read): read.opcode
    case .write: .writeRequest
    case .execute: .executeWriteRequest
    }
  }

  /// The requested attribute.
  var handle: UInt16 {
    switch purpose {
    case .read(_, let handle), .readByType(let handle), .write(let handle): handle
    case .readMultiple(let read): read.next ?? 0
    case .execute(let execute): execute.groups.first?.writes.first?.handle ?? 0
    }
  }
}

extension BearerState {
  /// Asks an owner; the answer continues the request.
  mutating func ask(
    _ purpose: ServerTransaction.Question.Purpose, owner: AttributeOwner, now: Instant
  ) -> QuestionToken {
    transaction.ask(purpose, on: id, owner: owner, now: now)
  }

  /// Cancels the open question, if suitable, and refuses the request waiting for it.
  mutating func cancelQuestion(
    _ actions: inout [GATTAction], where isSuitable: (ServerTransaction.Question) -> Bool
  ) {
    guard let question = transaction.question, isSuitable(question) else { return }
    transaction.question = nil
    actions.append(.questionCancelled(question.token))
    respond(error: .unlikelyError, to: question.request, at: question.handle, &actions)
  }

  /// Sends the answer to the client's request.
  mutating func respond(_ packet: [UInt8], _ actions: inout [GATTAction]) {
    att.answered()
    transaction.answered()
    actions.append(.send(id, packet))
  }

  /// Answers Read or Read Blob with as much as the MTU holds.
  mutating func respond(value: ArraySlice<UInt8>, to request: ATTOpcode, _ actions: inout [GATTAction]) {
    let piece = value.prefix(mtu - 1)
    var packet: [UInt8] = []
    packet.reserveCapacity(1 + piece.count)
    packet.append(request.rawValue + 1)
    packet.append(contentsOf: piece)
    respond(packet, &actions)
  }

  /// Refuses the client's request.
  mutating func respond(
    error: ATTErrorCode, to request: ATTOpcode, at handle: UInt16, _ actions: inout [GATTAction]
  ) {
    respond(ATTPDU.errorResponse(request: request, handle: handle, error: error).encoded, &actions)
  }
}
