import Adapter
import Bluetooth
import HCI
import OrderedCollections

/// A controller's only initiator, shared by all pending connections: they are in the filter accept list, and the first
/// one received is connected.
///
/// | State       | Input                          | Outcome                                                      |
/// |-------------|--------------------------------|--------------------------------------------------------------|
/// | idle        | the list differs from the set  | clear, remove and add devices                                |
/// | idle        | the list is the set            | (extended) create connection: creating                       |
/// | creating    | the set changed                | create connection cancel: cancelling                         |
/// | creating    | the parameters changed         | the same                                                     |
/// | creating    | the list is not known          | the same                                                     |
/// | creating    | Connection Complete            | idle; `attach` the link, or disconnect it if it is unwanted  |
/// | creating    | Connection Complete with error | idle; `attemptFailed`, the device backs off                  |
/// | cancelling  | Connection Complete, any       | as above; "unknown connection" is the cancellation           |
/// | cancelling  | no Connection Complete in time | idle                                                         |
/// | idle        | Connection Complete            | as above; an unwanted link is another program's if there can be any |
/// | any         | `doubt`                        | doubtful: create connection cancel: cancelling, or idle      |
///
/// A device leaves the set while it backs off, while a link to it exists or is being attached, and when it is no longer
/// wanted. While connecting has no turn the set is empty, and the list remains unchanged. After `pause` the set is
/// empty, but a link to a wanted device is attached. A device not tried for 10 s is reported as `connectWaiting`, once
/// per reason; not while a scan listens for it (`AbsentDevices`).
struct InitiatorMachine<Family: RadioFamily> {
  private enum State: Hashable {
    case idle
    case creating(Set<DeviceAddress>)
    case cancelling(Set<DeviceAddress>, deadline: Instant)
    /// The controller may be connecting, to these among others.
    case doubtful(Set<DeviceAddress>)
  }

  private enum Step: Hashable {
    case clear
    case add(DeviceAddress)
    case remove(DeviceAddress)
    case create(Set<DeviceAddress>)
    case cancel
  }

  private struct PendingConnection {
    var parameters: ConnectionParameters
    var backOff = BackOff(first: .milliseconds(250), limit: .seconds(5))
    /// The new link, which is getting its ATT socket.
    var attaching: UInt16?
    /// The start of its wait for an attempt; nil if it does not wait.
    var idleSince: Instant?
    /// The reason for the last attempt's failure.
    var lastError: BluetoothError?
    /// The last error reported to the waiting sessions.
    var told: BluetoothError?
  }

  private let profile: ControllerProfile
  private var pending: OrderedDictionary<DeviceAddress, PendingConnection> = [:]
  private var state = State.idle
  private var step: Step?
  /// The parameters for the last create connection.
  private var created = ConnectionParameters()
  /// The controller's list; nil if unknown.
  private var listed: OrderedSet<DeviceAddress>?
  /// Linked devices, whichever side initiated the link.
  private var linked: Set<DeviceAddress> = []
  /// For errors that do not concern a single device.
  private var backOff = BackOff(first: .milliseconds(250), limit: .seconds(5))
  private var grant = ActivityTurns.Grant.now
  private var isPaused = false
  /// True if a scan listens for the devices meanwhile.
  private var isListening = false

  init(profile: ControllerProfile, wanted: OrderedDictionary<DeviceAddress, ConnectionParameters>) {
    self.profile = profile
    for (address, parameters) in wanted { pending[address] = PendingConnection(parameters: parameters) }
  }

  /// The devices with pending connections.
  var addresses: [DeviceAddress] { Array(pending.keys) }

  /// True if nothing is to be initiated, the controller does not initiate, and its list is empty.
  var isQuiet: Bool { isIdling && state == .idle && step == nil && (listed ?? []).isEmpty }

  /// True if there is anything to initiate.
  var isWanted: Bool { !isPaused && pending.contains { isOpen($0.key, $0.value) } }

  /// True if there is no request, or all requests wait for a pause's end.
  private var isIdling: Bool { isPaused || pending.isEmpty }

  /// True if the controller initiates, as far as known.
  var isRunning: Bool { state != .idle }

  /// The devices without a link, wherever they are.
  var devices: Set<DeviceAddress> { Set(pending.lazy.filter { isOpen($0.key, $0.value) }.map(\.key)) }

  /// The PHYs for listening to them.
  var phys: Set<PHY> { pending.values.reduce(into: []) { $0.formUnion($1.parameters.phys) } }

  /// The devices the controller tries to connect, as far as known.
  var tried: Set<DeviceAddress> { if case .creating(let set) = state { set } else { [] } }

  /// Sets the permission to initiate, from now on.
  /// - Parameter isListening: true if a scan listens for the devices instead.
  mutating func permit(_ grant: ActivityTurns.Grant, isListening: Bool = false) {
    (self.grant, self.isListening) = (grant, isListening)
  }

  /// True if the device has neither a link nor one being attached.
  private func isOpen(_ address: DeviceAddress, _ connection: PendingConnection) -> Bool {
    connection.attaching == nil && !linked.contains(address)
  }

  mutating func want(_ address: DeviceAddress, _ parameters: ConnectionParameters) {
    pending[address, default: PendingConnection(parameters: parameters)].parameters = parameters
  }

  /// - Returns: the command to end a link that is just being attached.
  mutating func unwant(_ address: DeviceAddress) -> CommandPacket? {
    guard let connection = pending.removeValue(forKey: address), let handle = connection.attaching else { return nil }
    return .disconnect(handle)
  }

  /// Nothing more is initiated. A link established all the same is attached if its device is wanted.
  mutating func pause() {
    isPaused = true
    for address in pending.keys { pending[address]?.idleSince = nil }
  }

  /// Continues the former requests after a pause; one may have its link.
  mutating func goOn(from former: Self) {
    for (address, old) in former.pending {
      pending[address]?.attaching = old.attaching
      pending[address]?.backOff = old.backOff
    }
  }

  func deadline(after now: Instant) -> Instant? {
    var deadlines = pending.values.compactMap { $0.backOff.deadline(after: now) }
    if case .cancelling(_, let deadline) = state { deadlines.append(deadline) }
    if !pending.isEmpty, let deadline = backOff.deadline(after: now) { deadlines.append(deadline) }
    if pending.count > profile.acceptListSize {
      deadlines.append(Instant(nanoseconds: (now.nanoseconds / Self.turn + 1) * Self.turn))
    }
    deadlines += pending.values.compactMap { $0.idleSince?.advanced(by: Self.timeout) }
    return deadlines.min()
  }

  /// The turn of devices in the list when more are wanted than it holds.
  private static var turn: Int64 { 5_000_000_000 }

  /// The devices to connect now, in request order; in turns if the list does not hold all.
  private func set(at now: Instant) -> OrderedSet<DeviceAddress> {
    guard !isPaused else { return [] }
    let eligible = pending.filter { address, connection in
      isOpen(address, connection) && connection.backOff.allows(at: now)
    }.keys
    let size = max(1, profile.acceptListSize)
    guard eligible.count > size else { return eligible }
    let first = Int(now.nanoseconds / Self.turn % Int64(eligible.count)) * size % eligible.count
    return OrderedSet((0..<size).map { eligible[(first + $0) % eligible.count] })
  }

  /// Ends the wait for Connection Complete: a silent controller had nothing to cancel.
  mutating func expire(at now: Instant) {
    if case .cancelling(_, let deadline) = state, deadline <= now { state = .idle }
  }

  mutating func nextCommand(at now: Instant) -> FamilyCommand<Family>? {
    guard step == nil else { return nil }
    let set = set(at: now)
    switch state {
    case .creating(let current):
      // The list cannot be changed while the controller initiates: it was changed just before, and need not be the set.
      guard current != Set(set) || grant != .now || listed == nil || merged(set) != created else { return nil }
      step = .cancel
      return FamilyCommand(LECreateConnectionCancel())
    case .doubtful:
      step = .cancel
      return FamilyCommand(LECreateConnectionCancel())
    case .cancelling: return nil
    case .idle:
      guard grant == .now || isIdling else { return nil }
      guard let list = listed else {
        guard !set.isEmpty else { return nil }
        step = .clear
        return FamilyCommand(LEClearFilterAcceptList())
      }
      guard let first = set.first else {
        guard !list.isEmpty else { return nil }
        step = .clear
        return FamilyCommand(LEClearFilterAcceptList())
      }
      if let superfluous = list.first(where: { !set.contains($0) }) {
        step = .remove(superfluous)
        return FamilyCommand(LERemoveDeviceFromFilterAcceptList { $0.device = HCIAddress(superfluous) })
      }
      if let missing = set.first(where: { !list.contains($0) }) {
        step = .add(missing)
        return FamilyCommand(LEAddDeviceToFilterAcceptList { $0.device = HCIAddress(missing) })
      }
      guard backOff.allows(at: now) else { return nil }
      step = .create(Set(set))
      created = merged(set)
      return Family.createConnection(first: HCIAddress(first), created, own: profile.ownAddressType)
    }
  }

  /// Takes the answer to the last command of `nextCommand`.
  /// - Parameter conflict: the controller's other activities, in words, for the message when it refuses to initiate.
  mutating func answered(_ status: HCIStatus, conflict: String?, at now: Instant) -> [RadioAction] {
    guard let step else { return [] }
    self.step = nil
    switch step {
    case .clear: listed = []
    case .add(let address): if status.isSuccess { listed?.append(address) }
    case .remove(let address): if status.isSuccess { listed?.remove(address) }
    case .create(let set):
      if status.isSuccess {
        state = .creating(set)
        return []
      }
      return refused(set, status, conflict, at: now)
    case .cancel:
      let set: Set<DeviceAddress>
      switch state {
      case .creating(let current), .doubtful(let current): set = current
      case .idle, .cancelling: return []
      }
      guard status.isSuccess || !set.isEmpty else {
        state = .idle
        return []
      }
      // Command Disallowed: the connection was complete, or had failed, before the cancellation; its event follows.
      state = .cancelling(set, deadline: now.advanced(by: status.isSuccess ? .seconds(2) : .milliseconds(200)))
      return []
    }
    guard !status.isSuccess else { return [] }
    listed = nil
    backOff.fail(at: now)
    return [.log("the controller refused a change to its filter accept list: \(status)")]
  }

  /// A link was established or failed; not for links initiated by other programs.
  mutating func connectionComplete(
    status: HCIStatus, handle: UInt16, peer: DeviceAddress?, at now: Instant
  ) -> [RadioAction] {
    let set: Set<DeviceAddress>
    switch state {
    case .creating(let current), .cancelling(let current, _), .doubtful(let current): set = current
    case .idle: if case .create(let current) = step { set = current } else { set = [] }
    }
    let isOurs = profile.isExclusive || state != .idle || step != nil
    state = .idle
    if status.isSuccess {
      backOff.reset()
      guard let peer else { return [] }
      linked.insert(peer)
      guard pending[peer] != nil else { return isOurs ? [.send(.disconnect(handle))] : [] }
      pending[peer]?.attaching = handle
      return [.attach(handle: handle, peer, attempts: (pending[peer]?.backOff.failures ?? 0) + 1)]
    }
    // Our own cancellation.
    guard status.code != .unknownConnectionIdentifier, !set.isEmpty else { return [] }
    if let peer, set.contains(peer) { return failed([peer], status.error(Self.words(peer)), at: now) }
    if set.count == 1, let peer = set.first { return failed([peer], status.error(Self.words(peer)), at: now) }
    backOff.fail(at: now)
    return [.log("an attempt to connect failed: \(status)")]
  }

  /// The link got its ATT socket: the pending connection is established.
  mutating func attached(_ address: DeviceAddress) { pending[address] = nil }

  /// The link got no ATT socket.
  mutating func attachFailed(_ address: DeviceAddress, _ error: BluetoothError, at now: Instant) -> [RadioAction] {
    guard pending[address]?.attaching != nil else { return [] }
    pending[address]?.attaching = nil
    return failed([address], error, at: now)
  }

  /// A link to this device exists.
  mutating func linkUp(_ address: DeviceAddress) { linked.insert(address) }

  /// The last link to this device has ended.
  mutating func linkDown(_ address: DeviceAddress) { linked.remove(address) }

  /// The obstacle behind the last refusals has ended.
  mutating func retry() {
    backOff.reset()
    for address in pending.keys { pending[address]?.backOff.reset() }
  }

  /// Another program changed the list or initiated.
  mutating func disturbed() { listed = nil }

  /// Neither the controller's state nor its list is known.
  mutating func doubt() {
    listed = nil
    switch state {
    case .idle: state = .doubtful([])
    case .creating(let set): state = .doubtful(set)
    case .cancelling, .doubtful: break
    }
  }

  /// The controller was reset: all its activities have ended.
  mutating func wasReset() {
    state = .idle
    step = nil
    listed = nil
    linked = []
    for address in pending.keys { pending[address]?.attaching = nil }
  }

  private mutating func refused(
    _ set: Set<DeviceAddress>, _ status: HCIStatus, _ conflict: String?, at now: Instant
  ) -> [RadioAction] {
    let error: BluetoothError
    switch status.code {
    case .unspecifiedError:
      // So ends a command without an answer, too: it may have been executed.
      state = .doubtful(set)
      error = status.error("the adapter cannot connect")
    case .connectionLimitExceeded, .memoryCapacityExceeded:
      error = GAPError.connectionLimitReached.error(
        "the adapter cannot hold another connection; it has \(linked.count)")
    case .commandDisallowed:
      error = status.error("the adapter cannot connect" + (conflict.map { " while it is \($0)" } ?? " now"))
    default: error = status.error("the adapter cannot connect")
    }
    backOff.fail(at: now)
    return failed(Array(set), error, at: now)
  }

  private mutating func failed(
    _ addresses: [DeviceAddress], _ error: BluetoothError, at now: Instant
  ) -> [RadioAction] {
    addresses.compactMap { address in
      guard pending[address] != nil else { return nil }
      // A link that failed at once (0x3E) shows the device to be present.
      let isThere = error.domain == .hci && error.code == Int(HCIErrorCode.connectionFailedToBeEstablished.rawValue)
      pending[address]?.backOff.fail(at: now, atMost: isThere ? .seconds(1) : nil)
      pending[address]?.lastError = error
      return .attemptFailed(address, error)
    }
  }

  // MARK: - Waiting

  /// The time until an untried device is reported.
  private static var timeout: Duration { .seconds(10) }

  /// Reports devices untried for too long, and the reason.
  mutating func overdue(at now: Instant) -> [RadioAction] {
    guard !isPaused else { return [] }
    var actions: [RadioAction] = []
    for (address, connection) in pending {
      guard !isListening, !tried.contains(address), isOpen(address, connection) else {
        pending[address]?.idleSince = nil
        continue
      }
      guard let since = connection.idleSince else {
        pending[address]?.idleSince = now
        continue
      }
      guard since.advanced(by: Self.timeout) <= now else { continue }
      // The next reason has its own ten seconds.
      pending[address]?.idleSince = now
      let reason = reason(for: connection)
      guard connection.told != reason else { continue }
      pending[address]?.told = reason
      actions.append(.connectWaiting(address, reason))
    }
    return actions
  }

  private func reason(for connection: PendingConnection) -> BluetoothError {
    if grant == .heldBack {
      return GAPError.notSupported.error("the adapter cannot connect while it holds a link")
    }
    if let error = connection.lastError { return error }
    if pending.count > profile.acceptListSize {
      return GAPError.connectionLimitReached.error(
        "\(pending.count) devices are waited for in turns: the adapter looks for \(profile.acceptListSize) at once")
    }
    return GAPError.connectionFailed.error("the adapter is busy")
  }

  /// A single set of parameters for all; slower ones, and subrating, are requested once the device's link is
  /// established.
  private func merged(_ set: OrderedSet<DeviceAddress>) -> ConnectionParameters {
    var best = ConnectionParameters.best(of: set.compactMap { pending[$0]?.parameters }) ?? ConnectionParameters()
    best.phys.formIntersection(Family.primaryPHYs(of: profile))
    if best.phys.isEmpty { best.phys = [.le1M] }
    (best.subrate, best.continuation) = (1...1, 0)
    return best
  }

  private static func words(_ address: DeviceAddress) -> String { "no connection to \(address)" }
}
