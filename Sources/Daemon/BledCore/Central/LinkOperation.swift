import BledRPC
import Bluetooth
import GATT

/// An operation in a link's queue: one GATT procedure, several in a row, or a Write Command.
struct LinkOperation {
  enum Task {
    case exchangeMTU
    case read(Reply<GATTRead.Result>)
    case write(Reply<AttributeFound>)
    /// A Write Command: it waits for room on the link instead of a response from the device.
    case command(handle: UInt16, [UInt8], isSigned: Bool, Reply<AttributeFound>)
    /// A Write Command of a program that writes through a socket.
    case acquiredCommand(AcquiredCharacteristic, [UInt8])
    /// Answers a program that is about to do so, after its earlier operations.
    case acquisition(Reply<AttributeFound>)
    indirect case discovery(DiscoveryRequest, DiscoveryMachine)
    indirect case subscription(SubscriptionChange)
    /// Any other procedure.
    case procedure(Completion)
    /// Discovers the attributes an operation names by UUIDs; the operation then continues in its place.
    indirect case lookup(Lookup)
    /// Discovers a preserved session's services after its link is back, and restores its subscriptions.
    indirect case restoration(RestoredState.Peripheral, DiscoveryMachine)
    /// Finds the device's Service Changed characteristic and subscribes to it.
    indirect case serviceWatch(DiscoveryMachine)
    /// Subscribes to it.
    case serviceSubscription
    /// Asks whether the services changed between the discovery and that.
    case serviceCheck
    /// Asks which ones.
    indirect case serviceComparison(ServiceComparison)
    /// Reads the features of the device's server.
    case serverFeatures
    /// Writes our client's features to the device.
    case clientFeatures(UInt8)
    /// Reads whether the device's controller resolves private addresses.
    case addressResolution
    /// The operation was abandoned: the device's response is ignored.
    case unawaited
  }

  /// The handler of a procedure's outcome.
  struct Completion {
    let succeed: (GATTResult) throws -> Void
    let fail: (BluetoothError) -> Void
  }

  /// Attributes to search for.
  struct Lookup {
    var machine: DiscoveryMachine
    /// The operation for the attributes, when everything it needs is known.
    let operation: () throws -> LinkOperation
    /// Answers that an attribute was not found.
    let fail: (BluetoothError) -> Void
  }

  /// The requesting session; nil for the daemon itself.
  let session: Session?
  var task: Task
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

  init(_ session: Session?, _ task: Task, _ procedure: GATTProcedure? = nil) {
    self.session = session
    self.task = task
    self.procedure = procedure
  }

  var isCommand: Bool {
    switch task {
    case .command, .acquiredCommand: true
    default: false
    }
  }

  var isUnawaited: Bool { if case .unawaited = task { true } else { false } }

  /// True if it continues when the program disconnects and the session is preserved.
  var outlastsProgram: Bool { isSubscription }

  /// True for the discovery with this clock.
  func isDiscovery(with clock: DiscoveryClock) -> Bool {
    if case .discovery(.everything(_, let own), _) = task { own === clock } else { false }
  }

  /// True if a discovery reads a descriptor's value, which no session requested: no reason to pair.
  var isExtra: Bool {
    switch (task, procedure) {
    case (.discovery, .read), (.restoration, .read): true
    default: false
    }
  }

  /// True if it uses handles known when it was made.
  var goesByHandle: Bool {
    switch task {
    case .read, .write, .command, .acquiredCommand, .procedure, .serverFeatures, .clientFeatures: true
    default: false
    }
  }

  /// The attributes whose handles were known when it was made.
  var handles: [UInt16] {
    switch task {
    case .command(let handle, _, _, _): [handle]
    case .acquiredCommand(let characteristic, _): [characteristic.handle]
    default: goesByHandle ? procedure?.handles ?? [] : []
    }
  }

  private var isSubscription: Bool { if case .subscription = task { true } else { false } }

  /// True if its session's Write Commands stay behind it. A subscription may still have to discover its descriptor; a
  /// lookup may become a Write Command.
  var delaysCommands: Bool { if case .lookup = task { true } else { isSubscription } }
}

/// Operations that may run beside others, on a bearer of their own.
extension LinkOperation {
  /// True if it reads one value: repeating it changes nothing.
  var isRead: Bool { if case .read = task { true } else { false } }

  /// True if it may use an enhanced bearer with this MTU: one value is read, or written with one request. All other
  /// operations depend on earlier requests on the same bearer, or on a longer packet.
  func fits(enhancedMTU mtu: Int) -> Bool {
    switch (task, procedure) {
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
      .subscribe(let handle, _):
      [handle]
    case .readMultiple(let handles), .readMultipleVariable(let handles): handles
    case .reliableWrite(let writes): writes.map(\.handle)
    default: []
    }
  }
}
