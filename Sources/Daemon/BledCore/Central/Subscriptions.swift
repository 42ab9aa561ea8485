import BledRPC
import Bluetooth
import GATT

/// One characteristic of a device with a subscription that sessions share: the sessions that receive its values, and
/// the configuration last written. A session that joins is a member at once, and the device is told when its turn on
/// the link has come; from then on the session is a receiver.
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

  /// The sessions that are subscribed, or are about to be.
  private(set) var members: [Who] = []
  /// The members that receive values, in the order of their turns.
  private(set) var receivers: [Who] = []
  /// Whether a change is enqueued that tells the device when there are no members left.
  var isBeingEnded = false
  private var state = State.off
  /// The members' choice.
  private(set) var choice = ClientConfiguration.notification
  /// The configuration that the device was told last.
  private var told: ClientConfiguration = []

  /// Whether it can be forgotten.
  var isIdle: Bool { members.isEmpty && state == .off }

  /// - Parameters:
  ///   - choice: the kind of values it wants; nil for the choice of the others.
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

  /// The turn of one that joined has come.
  mutating func begin(_ who: Who) {
    if members.contains(who), !receivers.contains(who) { receivers.append(who) }
  }

  /// Whether the device has to be told, at the turn of one that joined (`on`) or left.
  func mustSwitch(on: Bool) -> Bool {
    on ? state != .on || told != choice : members.isEmpty && state != .off
  }

  /// The device is told.
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

/// A change of a subscription by a session, or by the daemon, when its turn on the link has come.
struct SubscriptionChange {
  let handle: UInt16
  let on: Bool
  /// Nil if the daemon ends a subscription by itself.
  let reply: Reply<AttributeFound>?
  /// Whether the device was told.
  fileprivate(set) var isWritten = false

  init(_ handle: UInt16, on: Bool, _ reply: Reply<AttributeFound>?) {
    self.handle = handle
    self.on = on
    self.reply = reply
  }
}

/// The subscriptions of all sessions to the characteristics of one device.
struct Subscriptions {
  /// By handle of the value.
  private var machines: [UInt16: SubscriptionMachine<Session>] = [:]
  /// The calls of receivers, while the device has not answered yet.
  private var unanswered: [Unanswered] = []

  /// A call for which the device has not done everything.
  struct Unanswered {
    fileprivate let handle: UInt16
    let reply: Reply<AttributeFound>
    let found: AttributeFound
  }

  /// The sessions that are subscribed to this handle, or are about to be.
  func members(of handle: UInt16) -> [Session] { machines[handle]?.members ?? [] }

  /// The sessions that values of this handle go to, in the order of their turns.
  func receivers(of handle: UInt16) -> [Session] { machines[handle]?.receivers ?? [] }

  /// The calls that a value answers, which is sent after the answers: it shows that the device has switched, whether or
  /// not it has answered. To be answered by the caller, when the access to this value is over.
  mutating func answered(by handle: UInt16) -> [Unanswered] {
    guard unanswered.contains(where: { $0.handle == handle }) else { return [] }
    defer { unanswered.removeAll { $0.handle == handle } }
    return unanswered.filter { $0.handle == handle }
  }

  /// All sessions that are subscribed to something.
  var members: Set<Session> { machines.values.reduce(into: []) { $0.formUnion($1.members) } }

  /// The handles that are subscribed to or were and are not forgotten yet, in order.
  var handles: [UInt16] { machines.keys.sorted() }

  /// The handles that a session is subscribed to, in order.
  func handles(of session: Session) -> [UInt16] {
    machines.filter { $0.value.members.contains(session) }.keys.sorted()
  }

  /// The handles that a session receives indications of, in order.
  func indications(of session: Session) -> [UInt16] {
    handles(of: session).filter { machines[$0]?.choice == .indication }
  }

  /// - Parameters:
  ///   - choice: the kind of values the session wants; nil for the choice of the others.
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

  /// Ends the subscription of a session that did not ask for that.
  /// - Returns: whether a change is to be enqueued that tells the device.
  mutating func end(_ handle: UInt16, of session: Session) -> Bool {
    machines[handle]?.leave(session)
    forgetIfIdle(handle)
    guard let machine = machines[handle], machine.mustSwitch(on: false), !machine.isBeingEnded else { return false }
    machines[handle]?.isBeingEnded = true
    return true
  }

  /// Forgets a subscription with a handle that the device invalidated.
  /// - Returns: the sessions that values went to.
  mutating func remove(_ handle: UInt16) -> [Session] { machines.removeValue(forKey: handle)?.members ?? [] }

  /// Returns the next procedure of a change at its turn: to configure the characteristic, or before
  /// that for the descriptors.
  /// - Parameters:
  ///   - hasAnswered: whether the device has executed the earlier request.
  ///   - session: the session of the change.
  ///   - found: the answer to the call.
  ///   - watched: the handle of a value that the daemon itself is subscribed to.
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
  /// - Returns: whether the session had a subscription, by its call's answer, that it loses by this.
  mutating func failed(_ change: SubscriptionChange, of session: Session?, _ error: BluetoothError) -> Bool {
    // Any other error tells nothing about the device: it may have executed the write.
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

  /// A session that has unsubscribed in the meantime, or with a handle that is now invalid, has no subscription to
  /// report.
  private func checkMember(_ session: Session, of handle: UInt16, _ known: KnownAttributes) throws {
    guard machines[handle]?.members.contains(session) != true else { return }
    _ = try known.characteristic(at: handle)
    throw GAPError.cancelled.error("the subscription was cancelled")
  }

  private mutating func forgetIfIdle(_ handle: UInt16) {
    if machines[handle]?.isIdle == true { machines[handle] = nil }
  }
}
