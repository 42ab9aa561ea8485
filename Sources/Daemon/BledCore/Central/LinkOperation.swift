import BledRPC
import Bluetooth
import GATT

/// An operation in a link's queue: one GATT procedure, several in a row, or a Write Command. It stands in one place at
/// a time, and is an object because copies of its parts would cost more.
final class LinkOperation {
  /// The part of an operation that decides about its turns.
  enum Kind {
    /// Reads one value: repeating it changes nothing.
    case read
    /// Writes one value.
    case write
    /// A Write Command: it waits for room on the link instead of a response from the device.
    case command(isSigned: Bool)
    /// Any other procedure by handle.
    case procedure
    /// Changes a subscription; it may still have to discover its descriptor.
    case subscription
    /// Discovers attributes: everything, if it has a clock.
    case discovery(DiscoveryClock?)
    /// Discovers the attributes an operation names by UUIDs; the operation then continues in its place.
    case lookup
    /// Uses no handle known to a program.
    case other
    /// The operation was abandoned: the device's response is ignored.
    case unawaited
  }

  typealias Outcome = Result<GATTResult, GATTError>

  /// The handler of an operation's outcome.
  struct Completion {
    /// Handles the outcome of the last procedure; nil at the turn of an operation without one, and for a command.
    /// - Returns: the next procedure; nil if the operation has ended.
    let next: (inout LinkOperation, Outcome?) throws -> GATTProcedure?
    /// Ends the operation with an error, also with one thrown by `next`.
    var fail: (BluetoothError) -> Void = { _ in }
  }

  /// The requesting session; nil for the daemon itself.
  let session: Session?
  let kind: Kind
  var completion: Completion
  /// The answer's attribute, if named by UUIDs.
  var found = AttributeFound()
  /// True if the link was secured for its current procedure.
  var wasSecured = false
  /// True after a lookup of its attributes.
  var wasLookedUp = false
  /// The note of its call for recordings; nil without a recording at that time.
  var annotation: CallAnnotation?
  /// True for a Write Command that waits for its session's earlier operations.
  var isBehindOthers = false
  /// The next procedure; nil if it is decided at the operation's turn.
  var procedure: GATTProcedure?

  init(_ session: Session?, _ kind: Kind, _ completion: Completion, _ procedure: GATTProcedure? = nil) {
    self.session = session
    self.kind = kind
    self.completion = completion
    self.procedure = procedure
  }

  /// Handles the outcome of the last procedure, and ends the operation if that is an error for it.
  /// - Parameter operation: this one; another one may continue in its place.
  /// - Returns: the next procedure; nil if the operation has ended.
  static func next(_ operation: inout LinkOperation, _ outcome: Outcome?) -> GATTProcedure? {
    let completion = operation.completion
    do {
      return try completion.next(&operation, outcome)
    } catch {
      completion.fail(error.asBluetoothError)
      return nil
    }
  }

  /// The one in its place when the device's response is no longer of interest.
  var abandoned: LinkOperation {
    let other = LinkOperation(session, .unawaited, Completion(next: { _, _ in nil }), procedure)
    (other.wasLookedUp, other.annotation) = (wasLookedUp, annotation)
    return other
  }

  var isCommand: Bool { if case .command = kind { true } else { false } }

  var isUnawaited: Bool { if case .unawaited = kind { true } else { false } }

  /// True if it continues when the program disconnects and the session is preserved.
  var outlastsProgram: Bool { if case .subscription = kind { true } else { false } }

  /// True for the discovery with this clock.
  func isDiscovery(with clock: DiscoveryClock) -> Bool {
    if case .discovery(let own) = kind { own === clock } else { false }
  }

  /// True if a discovery reads a descriptor's value, which no session requested: no reason to pair.
  var isExtra: Bool { if case (.discovery, .read) = (kind, procedure) { true } else { false } }

  /// The attributes whose handles were known when it was made.
  var handles: [UInt16] { goesByHandle ? procedure?.handles ?? [] : [] }

  /// True if it uses handles known when it was made.
  var goesByHandle: Bool {
    switch kind {
    case .read, .write, .command, .procedure: true
    case .subscription, .discovery, .lookup, .other, .unawaited: false
    }
  }

  /// True if its session's Write Commands stay behind it. A lookup may become a Write Command.
  var delaysCommands: Bool {
    switch kind {
    case .lookup, .subscription: true
    default: false
    }
  }
}

extension LinkOperation.Completion {
  /// The completion of one procedure.
  /// - Parameter ended: called with the outcome; an error that it throws is passed to `fail`.
  init(_ ended: @escaping (LinkOperation.Outcome) throws -> Void, fail: @escaping (BluetoothError) -> Void = { _ in }) {
    next = { _, outcome in
      if let outcome { try ended(outcome) }
      return nil
    }
    self.fail = fail
  }

  /// Answers with the operation's attribute.
  init(_ reply: Reply<AttributeFound>) {
    next = { operation, outcome in
      _ = try outcome?.orBluetoothError()
      reply.succeed(operation.found)
      return nil
    }
    fail = { reply.fail($0) }
  }
}

/// Operations that may run beside others, on a bearer of their own.
extension LinkOperation {
  var isRead: Bool { if case .read = kind { true } else { false } }

  /// True if it may use an enhanced bearer with this MTU: one value is read, or written with one request. All other
  /// operations depend on earlier requests on the same bearer, or on a longer packet.
  func fits(enhancedMTU mtu: Int) -> Bool {
    switch (kind, procedure) {
    case (.read, .readLong): true
    case (.write, .write(_, let value)): value.count <= mtu - 3
    default: false
    }
  }

  /// True if it has to wait for the end of the other operation: one of the same session, unless both read, or one for
  /// the same attribute.
  func isBehind(_ other: LinkOperation) -> Bool {
    if session == other.session, !(isRead && other.isRead) { return true }
    guard let procedure, let handles = other.procedure?.handles else { return false }
    return procedure.handles.contains(where: handles.contains)
  }
}

extension GATTProcedure {
  /// The attributes it addresses by handle.
  fileprivate var handles: [UInt16] {
    switch self {
    case .read(let handle), .readLong(let handle, _), .write(let handle, _), .writeLong(let handle, _, _),
      .writeWithoutResponse(let handle, _), .subscribe(let handle, _):
      [handle]
    case .readMultiple(let handles), .readMultipleVariable(let handles): handles
    case .reliableWrite(let writes): writes.map(\.handle)
    default: []
    }
  }
}
