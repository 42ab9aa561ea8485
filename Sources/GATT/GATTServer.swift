import ATT
import Bluetooth

// The server of one link (Core 5.4, Vol 3, Part F, 3.4, and Part G, 4).
//
// State                 Holds                                       Leaves it
// idle                  nothing                                     a request
// asking                a question to an owner, what to do next     `answerRead` · `answerWrite` · 25 s · owner gone ·
//                                                                   link end
// beside it             prepared writes                             execute · cancel · link end
//                       indications, one of them on its way         confirmation · link end
//                       what the client subscribed to, its features, whether it knows the database
//
// What is asked and prepared is that of one bearer; `exchange` brings that of another one.
//
// Inputs: `handle` (a request or command), answers, `notify`, `indicate`, `confirmed`, `databaseChanged`, `timePassed`,
// `end`. Outputs: `GATTAction`.

/// The GATT server of one link.
struct GATTServer: Sendable {
  /// How long an owner may take to answer: less than the 30 s after which the client gives the bearer up.
  static let questionTimeout: Duration = .seconds(25)
  /// How many prepared writes are kept, and how many octets of them.
  static let preparedLimit = 128
  static let preparedOctetLimit = 8192
  /// How many indications may wait.
  static let indicationLimit = 64

  /// A question that an owner has not answered yet, and what comes after the answer.
  struct Question {
    enum Purpose {
      /// Read and Read Blob.
      case read(ATTOpcode, UInt16)
      /// Read By Type, whose first element the answer becomes.
      case readByType(handle: UInt16)
      /// Read Multiple; the answer is the value of the first of the handles that are left.
      case readMultiple(MultipleRead)
      /// Write.
      case write(UInt16)
      /// Execute Write; the answer is for the first of the groups that are left.
      case execute(ExecuteWrite)
    }
    let token: QuestionToken
    let owner: AttributeOwner
    let deadline: Instant
    let purpose: Purpose
  }

  /// What the client has under way on a bearer that is not the one being served.
  struct Transaction {
    var question: Question?
    var prepared: [AttributeWrite] = []
    var preparedOctets = 0
    /// The last change of the database that its client was told of on it, or read the hash after.
    var informedOf: UInt64 = 0
  }

  var security: SecurityState
  var signatureVerifier: SignatureVerifier?
  /// The counter of the last signed write that was taken.
  var lastSignCounter: UInt32?
  var subscriptions: [UInt16: ClientConfiguration] = [:]
  /// The subscriptions of a bonded client that are not in force: their service is not there, or the link not secure
  /// enough.
  var dormant: [UInt16: GATTClientState.Subscription] = [:]
  /// The values whose subscription the client wrote on this link.
  var configured: Set<UInt16> = []
  var features: [UInt8] = []
  var awareness = Awareness.aware
  /// How often the client has become change-unaware.
  var changes: UInt64 = 0
  var informedOf: UInt64 = 0
  var knownHash: [UInt8]?
  var prepared: [AttributeWrite] = []
  var preparedOctets = 0
  var question: Question?
  var indications: [PendingIndication] = []
  var indicationInFlight: PendingIndication?
  private var lastToken: UInt64 = 0

  init(security: SecurityState) { self.security = security }

  /// When `timePassed` must be called, unless the state changes before.
  var deadline: Instant? { question?.deadline }

  /// Takes a request or a command of the client.
  mutating func handle(
    _ pdu: ATTPDU, now: Instant, bearer: inout Bearer, database: inout AttributeDatabase, actions: inout [GATTAction]
  ) {
    switch pdu {
    case .readRequest(let handle):
      guard isInSync(pdu, handle, &bearer, &actions) else { return }
      read(.readRequest, handle, offset: 0, now, &bearer, &database, &actions)
    case .readBlobRequest(let handle, let offset):
      guard isInSync(pdu, handle, &bearer, &actions) else { return }
      read(.readBlobRequest, handle, offset: offset, now, &bearer, &database, &actions)
    case .writeRequest(let handle, let value):
      guard isInSync(pdu, handle, &bearer, &actions) else { return }
      write(handle, value, now, &bearer, &database, &actions)
    case .writeCommand(let handle, let value):
      writeCommand(handle, value, &database, &actions)
    case .signedWriteCommand(let handle, let value, let signature):
      signedWrite(handle, value, signature, &database, &actions)
    case .readMultipleRequest(let handles):
      guard isInSync(pdu, handles.word(at: 0), &bearer, &actions) else { return }
      let read = MultipleRead(handles: handles, isVariable: false)
      readMultiple(read, now, &bearer, &database, &actions)
    case .readMultipleVariableRequest(let handles):
      guard isInSync(pdu, handles.word(at: 0), &bearer, &actions) else { return }
      let read = MultipleRead(handles: handles, isVariable: true)
      readMultiple(read, now, &bearer, &database, &actions)
    case .prepareWriteRequest(let handle, let offset, let value):
      guard isInSync(pdu, handle, &bearer, &actions) else { return }
      prepareWrite(handle, offset, value, &bearer, database, &actions)
    case .executeWriteRequest(let execute):
      noteRequest(&actions)
      executeWrite(execute, now, &bearer, &database, &actions)
    case .readByTypeRequest(let start, let end, let type):
      // Discovery and searches through all handles rely on none that could have changed its meaning (Part G, 2.5.2.1).
      if type == .include || type == .characteristic || (start == 1 && end == .max) {
        noteRequest(&actions)
      } else {
        guard isInSync(pdu, start, &bearer, &actions) else { return }
      }
      readByType(start, end, type, now, &bearer, &database, &actions)
    case .readByGroupTypeRequest(let start, let end, let type):
      noteRequest(&actions)
      readByGroupType(start, end, type, &bearer, database, &actions)
    case .findInformationRequest(let start, let end):
      noteRequest(&actions)
      findInformation(start, end, &bearer, database, &actions)
    case .findByTypeValueRequest(let start, let end, let type, let value):
      noteRequest(&actions)
      findByTypeValue(start, end, BluetoothUUID(type), value, &bearer, database, &actions)
    default:
      // The bearer hands requests and commands over, and those are all.
      break
    }
  }

  /// Ends what waits too long for an owner.
  mutating func timePassed(now: Instant, bearer: inout Bearer, actions: inout [GATTAction]) {
    guard let question, question.deadline <= now else { return }
    fail(question, &bearer, &actions)
  }

  /// Ends the questions to an owner that is gone.
  mutating func ownerGone(_ owner: AttributeOwner, bearer: inout Bearer, actions: inout [GATTAction]) {
    guard let question, question.owner == owner else { return }
    fail(question, &bearer, &actions)
  }

  /// Turns to another bearer: what is under way on it comes, what was under way on this one goes.
  mutating func exchange(_ other: inout Transaction) {
    swap(&question, &other.question)
    swap(&prepared, &other.prepared)
    swap(&preparedOctets, &other.preparedOctets)
    swap(&informedOf, &other.informedOf)
  }

  /// Ends everything that waits; the bearer is at its end.
  mutating func end(_ reason: BearerError, actions: inout [GATTAction]) {
    endTransaction(&actions)
    endIndications(reason, &actions)
    // They stay, for `clientState`; nothing is sent any more.
    for handle in subscriptions.keys.sorted() { actions.append(.subscriptionChanged(handle: handle, [])) }
  }

  /// Ends what is under way on a bearer that has ended.
  mutating func endTransaction(_ actions: inout [GATTAction]) {
    if let question { actions.append(.questionCancelled(question.token)) }
    question = nil
    prepared = []
    preparedOctets = 0
  }

  // MARK: - Questions and answers

  private mutating func nextToken() -> QuestionToken {
    lastToken &+= 1
    return QuestionToken(value: lastToken)
  }

  mutating func ask(_ purpose: Question.Purpose, owner: AttributeOwner, now: Instant) -> QuestionToken {
    let token = nextToken()
    question = Question(
      token: token, owner: owner, deadline: now.advanced(by: Self.questionTimeout), purpose: purpose)
    return token
  }

  private mutating func fail(_ question: Question, _ bearer: inout Bearer, _ actions: inout [GATTAction]) {
    self.question = nil
    actions.append(.questionCancelled(question.token))
    respond(error: .unlikelyError, to: question.request, at: question.handle, &bearer, &actions)
  }

  /// Sends the answer to the client's request.
  func respond(_ packet: [UInt8], _ bearer: inout Bearer, _ actions: inout [GATTAction]) {
    bearer.answered()
    actions.append(.send(packet))
  }

  /// Refuses the client's request.
  func respond(
    error: ATTErrorCode, to request: ATTOpcode, at handle: UInt16, _ bearer: inout Bearer, _ actions: inout [GATTAction]
  ) {
    respond(ATTPDU.errorResponse(request: request, handle: handle, error: error).encoded, &bearer, &actions)
  }
}

extension GATTServer.Question {
  /// The request that waits for the answer.
  var request: ATTOpcode {
    switch purpose {
    case .read(let opcode, _): opcode
    case .readByType: .readByTypeRequest
    case .readMultiple(let read): read.opcode
    case .write: .writeRequest
    case .execute: .executeWriteRequest
    }
  }

  /// The attribute that was asked for.
  var handle: UInt16 {
    switch purpose {
    case .read(_, let handle), .readByType(let handle), .write(let handle): handle
    case .readMultiple(let read): read.next ?? 0
    case .execute(let execute): execute.groups.first?.writes.first?.handle ?? 0
    }
  }
}
