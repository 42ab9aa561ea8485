import ATT
import Bluetooth

// A link's server (Core 5.4, Vol 3, Part F, 3.4, and Part G, 4).
//
// State       Holds                                       Leaves it
// idle        nothing                                     a request
// asking      a question to an owner, the next step       `answerRead` · `answerWrite` · 25 s · owner gone ·
//                                                         bearer end
// beside it   prepared writes                             execute · cancel · bearer end
//             indications, one of them on its way         confirmation · link end
//             the client's subscriptions, its features, whether it knows the database
//
// The state, the question and the prepared writes belong to one bearer (`ServerTransaction`); each input names its
// bearer. The rest is the client's, on all bearers.
//
// Inputs: `handle` (a request or command), answers, `notify`, `indicate`, `confirmed`, `databaseChanged`, `end`.
// Outputs: `GATTAction`.

/// A link's GATT server.
struct GATTServer: Sendable {
  /// Maximum queued indications.
  static let indicationLimit = 64

  var security: SecurityState
  var signatureVerifier: SignatureVerifier?
  /// The last accepted signed write's counter.
  var lastSignCounter: UInt32?
  var subscriptions: [UInt16: ClientConfiguration] = [:]
  /// A bonded client's inactive subscriptions: their service is absent, or the link not secure enough.
  var dormant: [UInt16: GATTClientState.Subscription] = [:]
  /// The values subscribed to by the client on this link.
  var configured: Set<UInt16> = []
  var features: [UInt8] = []
  var awareness = Awareness.aware
  /// The number of times the client has become change-unaware.
  var changes: UInt64 = 0
  var knownHash: [UInt8]?
  var indications: [PendingIndication] = []
  var indicationInFlight: PendingIndication?

  init(security: SecurityState) { self.security = security }

  /// Handles a client's request or command.
  mutating func handle(
    _ pdu: ATTPDU, now: Instant, bearer: inout BearerState, database: inout AttributeDatabase,
    actions: inout [GATTAction]
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
      requestReceived(bearer, &actions)
      executeWrite(execute, now, &bearer, &database, &actions)
    case .readByTypeRequest(let start, let end, let type):
      // Discovery and searches through all handles rely on no handle that could have changed its meaning (Part G,
      // 2.5.2.1).
      if type == .include || type == .characteristic || (start == 1 && end == .max) {
        requestReceived(bearer, &actions)
      } else {
        guard isInSync(pdu, start, &bearer, &actions) else { return }
      }
      readByType(start, end, type, now, &bearer, &database, &actions)
    case .readByGroupTypeRequest(let start, let end, let type):
      requestReceived(bearer, &actions)
      readByGroupType(start, end, type, &bearer, database, &actions)
    case .findInformationRequest(let start, let end):
      requestReceived(bearer, &actions)
      findInformation(start, end, &bearer, database, &actions)
    case .findByTypeValueRequest(let start, let end, let type, let value):
      requestReceived(bearer, &actions)
      findByTypeValue(start, end, BluetoothUUID(type), value, &bearer, database, &actions)
    default:
      // The bearer passes requests and commands only.
      break
    }
  }

  /// Ends indications and other state without a bearer; the link has ended.
  mutating func end(_ reason: BearerError, actions: inout [GATTAction]) {
    endIndications(reason, &actions)
    // They stay, for `clientState`; nothing more is sent.
    for handle in subscriptions.keys.sorted() { actions.append(.subscriptionChanged(handle: handle, [])) }
  }
}
