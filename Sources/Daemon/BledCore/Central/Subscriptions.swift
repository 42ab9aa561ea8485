import BledRPC
import Bluetooth
import GATT

/// One characteristic of a device with a shared subscription: the sessions that receive its values, and the
/// configuration last written. A joining session is a member at once; when its turn on the link has come, the device is
/// configured and the session becomes a receiver.
///
/// | State        | Input                                       | Outcome, next state      |
/// |--------------|---------------------------------------------|--------------------------|
/// | any          | join, leave                                 | a member, or none        |
/// | any          | turn of one that joined                     | a receiver, and as below |
/// | off, unknown | turn of one that joined                     | switch on → unknown; → on without a descriptor for that |
/// | on           | turn of one that joined                     | nothing to do            |
/// | on, unknown  | turn of one that left, without other members | switch off → unknown    |
/// | any          | turn of one that left, with other members   | nothing to do            |
/// | unknown      | the device has switched                     | → on, off                |
/// | unknown      | the device refuses                          | → off                    |
/// | on           | turn of one that joined, other choice       | switch on → unknown      |
///
/// Members share the choice between notifications and indications. A joining session may make another choice only when
/// alone.
struct SubscriptionMachine<Who: Hashable> {
  private enum State { case off, unknown, on }

  /// The sessions subscribed, or about to be.
  private(set) var members: [Who] = []
  /// The members that receive values, in turn order.
  private(set) var receivers: [Who] = []
  /// True if a change is queued that unsubscribes once there are no members left.
  var isBeingEnded = false
  private var state = State.off
  /// The members' choice.
  private(set) var choice = ClientConfiguration.notification
  /// The configuration last sent to the device.
  private var told: ClientConfiguration = []

  /// True if it can be forgotten.
  var isIdle: Bool { members.isEmpty && state == .off }

  /// - Parameters:
  ///   - choice: the requested kind of values; nil for the members' choice.
  ///   - preferred: the kind it receives then, if there are no others.
  /// - Returns: false if others have chosen otherwise.
  mutating func join(_ who: Who, as choice: ClientConfiguration?, else preferred: ClientConfiguration) -> Bool {
    let wanted = choice ?? (members.isEmpty ? preferred : self.choice)
    guard wanted == self.choice || members.allSatisfy({ $0 == who }) else { return false }
    self.choice = wanted
    if !members.contains(who) { members.append(who) }
    return true
  }

  mutating func leave(_ who: Who) {
    members.removeAll { $0 == who }
    receivers.removeAll { $0 == who }
  }

  /// A joining session has its turn.
  mutating func begin(_ who: Who) {
    if members.contains(who), !receivers.contains(who) { receivers.append(who) }
  }

  /// True if the device must be configured, at the turn of a session that joined (`on`) or left.
  func mustSwitch(on: Bool) -> Bool {
    on ? state != .on || told != choice : members.isEmpty && state != .off
  }

  /// The device is being configured.
  /// - Returns: the new configuration.
  mutating func switching(on: Bool) -> ClientConfiguration {
    state = .unknown
    told = on ? choice : []
    return told
  }

  /// The device has executed the write.
  mutating func switched(on: Bool) { state = on ? .on : .off }

  /// The device refuses the write.
  mutating func refused() { state = .off }
}

/// A subscription change by a session, or by the daemon, at its turn on the link.
struct SubscriptionChange {
  let handle: UInt16
  let on: Bool
  /// Nil if the daemon ends a subscription by itself.
  let reply: Reply<AttributeFound>?
  /// True once written to the device.
  fileprivate(set) var isWritten = false

  init(_ handle: UInt16, on: Bool, _ reply: Reply<AttributeFound>?) {
    self.handle = handle
    self.on = on
    self.reply = reply
  }
}

/// All sessions' subscriptions to one device's characteristics.
struct Subscriptions {
  /// By value handle.
  private var machines: [UInt16: SubscriptionMachine<Session>] = [:]
  /// The calls of receivers, while the device has not answered yet.
  private var unanswered: [Unanswered] = []

  /// A call whose requests the device has not all executed.
  struct Unanswered {
    fileprivate let handle: UInt16
    let reply: Reply<AttributeFound>
    let found: AttributeFound
  }

  /// The sessions subscribed to this handle, or about to be.
  func members(of handle: UInt16) -> [Session] { machines[handle]?.members ?? [] }

  /// The sessions receiving values of this handle, in turn order.
  func receivers(of handle: UInt16) -> [Session] { machines[handle]?.receivers ?? [] }

  /// The calls answered by a value, which is sent after their answers: it shows that the device has switched, whether
  /// or not it has responded. The caller answers them after the access to this value.
  mutating func answered(by handle: UInt16) -> [Unanswered] {
    guard unanswered.contains(where: { $0.handle == handle }) else { return [] }
    defer { unanswered.removeAll { $0.handle == handle } }
    return unanswered.filter { $0.handle == handle }
  }

  /// All sessions with a subscription.
  var members: Set<Session> { machines.values.reduce(into: []) { $0.formUnion($1.members) } }

  /// The handles with a subscription, or with one that is not forgotten yet, in order.
  var handles: [UInt16] { machines.keys.sorted() }

  /// A session's subscribed handles, in order.
  func handles(of session: Session) -> [UInt16] {
    machines.filter { $0.value.members.contains(session) }.keys.sorted()
  }

  /// The handles with indications to a session, in order.
  func indications(of session: Session) -> [UInt16] {
    handles(of: session).filter { machines[$0]?.choice == .indication }
  }

  /// - Parameters:
  ///   - choice: the requested kind of values; nil for the members' choice.
  ///   - preferred: the kind it receives then, if there are no others.
  mutating func join(
    _ session: Session, to handle: UInt16, as choice: ClientConfiguration?, else preferred: ClientConfiguration
  ) throws {
    guard machines[handle, default: SubscriptionMachine()].join(session, as: choice, else: preferred) else {
      let (taken, wanted) =
        choice == .indication ? ("notifications", "indications") : ("indications", "notifications")
      throw BledError.alreadyInProgress.error(
        """
        other sessions have subscribed to the \(taken) of characteristic \(handle.handleText), which all share: leave \
        "indications" out to receive these, or subscribe to the \(wanted) when the others have unsubscribed
        """)
    }
  }

  mutating func leave(_ session: Session, from handle: UInt16) { machines[handle]?.leave(session) }

  /// Ends a session's subscription without its request.
  /// - Returns: true if a change must be queued that configures the device.
  mutating func end(_ handle: UInt16, of session: Session) -> Bool {
    machines[handle]?.leave(session)
    forgetIfIdle(handle)
    guard let machine = machines[handle], machine.mustSwitch(on: false), !machine.isBeingEnded else { return false }
    machines[handle]?.isBeingEnded = true
    return true
  }

  /// Forgets the subscription of an invalidated handle.
  /// - Returns: the sessions that received its values.
  mutating func remove(_ handle: UInt16) -> [Session] { machines.removeValue(forKey: handle)?.members ?? [] }

  /// Returns a change's next procedure at its turn: the configuration, or before that the discovery of the descriptors.
  /// - Parameters:
  ///   - hasAnswered: true if the device has executed the earlier request.
  ///   - session: the session with the change.
  ///   - found: the answer to the call.
  ///   - watched: the value handle of the daemon's own subscription.
  /// - Returns: nil when there is nothing more to do.
  mutating func proceed(
    _ change: inout SubscriptionChange, hasAnswered: Bool, for session: Session?, _ found: AttributeFound,
    known: KnownAttributes, watched: UInt16?
  ) throws -> GATTProcedure? {
    let handle = change.handle
    if hasAnswered, change.isWritten { machines[handle]?.switched(on: change.on) }
    if change.on, let session {
      try checkMember(session, of: handle, known)
      machines[handle]?.begin(session)
      awaitAnswer(change, found)
    }
    guard !change.isWritten, machines[handle]?.mustSwitch(on: change.on) == true else { return nil }
    if let descriptor = known.configuration(of: handle) {
      // The daemon keeps its own subscription.
      if !change.on, handle == watched { return nil }
      change.isWritten = true
      return .subscribe(descriptor: descriptor, machines[handle]?.switching(on: change.on) ?? [])
    }
    if known.descriptors(of: handle) == nil, let range = try known.descriptorRange(of: handle) {
      return .discoverDescriptors(in: range)
    }
    // Key finders and scales have no such descriptor, and send values unasked.
    _ = machines[handle]?.switching(on: change.on)
    machines[handle]?.switched(on: change.on)
    return nil
  }

  /// From its turn on a change may be answered by a value.
  private mutating func awaitAnswer(_ change: SubscriptionChange, _ found: AttributeFound) {
    guard let reply = change.reply, !unanswered.contains(where: { $0.reply === reply }), reply.isOpen else { return }
    unanswered.append(Unanswered(handle: change.handle, reply: reply, found: found))
  }

  /// A change is complete.
  mutating func ended(_ change: SubscriptionChange, of session: Session?) {
    unanswered.removeAll { $0.reply === change.reply }
    if session == nil { machines[change.handle]?.isBeingEnded = false }
    forgetIfIdle(change.handle)
  }

  /// A change has failed, or was abandoned.
  /// - Returns: true if the session loses a subscription that its call's answer has confirmed.
  mutating func failed(_ change: SubscriptionChange, of session: Session?, _ error: BluetoothError) -> Bool {
    // Any other error says nothing about the device: it may have executed the write.
    if change.isWritten, error.domain == .att { machines[change.handle]?.refused() }
    var isLost = false
    if change.on, let session {
      let isAnswered = change.reply?.isOpen == false
      isLost = isAnswered && members(of: change.handle).contains(session)
      machines[change.handle]?.leave(session)
    }
    ended(change, of: session)
    return isLost
  }

  /// A session that has unsubscribed meanwhile, or with a handle now invalid, has no subscription to report.
  private func checkMember(_ session: Session, of handle: UInt16, _ known: KnownAttributes) throws {
    guard machines[handle]?.members.contains(session) != true else { return }
    _ = try known.characteristic(at: handle)
    throw GAPError.cancelled.error("the subscription was cancelled")
  }

  private mutating func forgetIfIdle(_ handle: UInt16) {
    if machines[handle]?.isIdle == true { machines[handle] = nil }
  }
}
