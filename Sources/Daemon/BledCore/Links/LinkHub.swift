import ATT
import Adapter
import Bluetooth
import GATT

/// A link: its GATT connection with its alarm.
///
/// Each action of the connection concerns one role: packets from the device's server go to `central`, its requests to
/// our server go to `server`. Only the end, room and dropped packets concern both.
final class LinkHub {
  let link: any Link
  let slot: AdapterSlot
  let peripheral: Peripheral
  /// Our client role on the link.
  private(set) lazy var central = roles.client.clientRole(on: self)
  /// Our server role on the link.
  private(set) lazy var server = roles.server.serverRole(on: self)
  /// The turns for packets sent by both roles on their own initiative.
  private(set) lazy var room = LinkRoom(of: self)
  /// The enhanced ATT bearers beside the fixed one.
  private(set) lazy var bearers = EnhancedBearers(of: self)
  /// The state belonging to the bond with the device.
  private(set) lazy var bond = LinkBond(on: self, protection)
  /// Holds the link for a slow reader.
  private(set) lazy var brake = ReaderBrake(of: self)
  /// False once the link has ended: everything pending on it fails or has failed.
  private(set) var isOpen = true
  /// Our reason for ending the link, if there is more to say.
  private var failure: BluetoothError?

  private let registry: LinkRegistry
  let database: ServerDatabase
  let scheduler: any Scheduler
  private let roles: LinkRoles

  private var connection: GATTConnection
  private var actions: [GATTAction] = []
  /// True while sent packets have not reached the link yet.
  private(set) var isExecuting = false
  private var alarm: (time: Instant, work: any ScheduledWork)?
  var arbiter = ParameterArbiter()
  var improvement = LinkImprovement()
  var pace = LinkPace()
  /// Rings when the pace may change.
  var paceAlarm: (any ScheduledWork)?
  /// The MTU as the sessions know it.
  var toldMTU = 23
  /// The protection as they know it.
  var toldSecurity = LinkSecurity.none

  init(
    _ link: any Link, on slot: AdapterSlot, to peripheral: Peripheral, in registry: LinkRegistry,
    scheduler: any Scheduler, roles: LinkRoles
  ) {
    self.link = link
    self.slot = slot
    self.peripheral = peripheral
    self.registry = registry
    database = registry.database
    self.scheduler = scheduler
    self.roles = roles
    connection = GATTConnection(maximumMTU: link.maximumMTU)
    connection.securityChanged(protection.security(of: self))
    link.onEvent = { [weak self] event in self?.handle(event) }
  }

  /// The next value's serial number.
  func nextSerial() -> Int { registry.nextSerial() }

  /// The ATT MTU in force, 23 to 517 octets.
  var mtu: Int { connection.mtu }

  private var protection: any LinkProtection { roles.protection }

  /// A session has disconnected from the device: its channels on the link end.
  func released(by session: Session) { roles.channels.released(self, by: session) }

  /// Ends the link; both roles are notified when it has ended.
  /// - Parameter reason: the reason, appended to the adapter's; nil if a program requested it.
  func disconnect(because reason: BluetoothError? = nil) {
    failure = failure ?? reason
    link.disconnect()
  }

  // MARK: Encryption with the bond's keys

  /// The link's level by the bond's keys, 2 to 4; nil without any.
  var bondLevel: Int? { protection.bond(of: self)?.level(as: link.role) }

  /// True if the link has that level by these keys.
  var isProven: Bool {
    protection.provenBond(of: self)?.level(as: link.role).map { link.security.level >= $0 } ?? false
  }

  /// Encrypts the link with its bond's keys.
  /// - Parameter done: called once with why it is not, unless the link ends.
  func encrypt(_ level: Int, _ done: @escaping (BluetoothError?) -> Void) {
    protection.encrypt(self, to: level) { [weak self] error in
      if self?.isOpen == true { done(error) }
    }
  }

  /// The device has proven to lack its bond's keys.
  func keysLost() { protection.keysLost(self) }

  // MARK: The client role

  /// Starts a procedure on a bearer; `ClientRole.finished` is called with its result.
  func start(_ procedure: GATTProcedure, id: ProcedureID, on bearer: BearerID = .fixed) {
    withConnection { $0.start(procedure, id: id, on: bearer, now: scheduler.now, actions: &$1) }
  }

  /// The device's server requires more security.
  /// - Parameters:
  ///   - session: the session whose procedure it refused; nil for the daemon itself.
  ///   - done: called once, possibly from inside the call, with whether to repeat the procedure; never after the end.
  func raiseSecurity(after error: ATTErrorCode, for session: Session?, _ done: @escaping (Bool) -> Void) {
    protection.raise(self, after: error, for: session) { [weak self] isSecured in
      if self?.isOpen == true { done(isSecured) }
    }
  }

  /// The link's protection changed, or our knowledge of it.
  func securityChanged() {
    connection.securityChanged(protection.security(of: self))
    bond.securityChanged()
    if isOpen { central.mayBeProven() }
  }

  /// Rereads the security level before a packet that needs it: the encryption event may arrive after the packet.
  func updateSecurity() {
    if bond.isAwaited || connection.lacksSecurity(for: database[slot.audience]) { securityChanged() }
  }

  /// The link is new, or the bond with its device was replaced or removed.
  /// - Parameter isMadeHere: true if its keys come from a pairing on this link.
  func bondChanged(isMadeHere: Bool = false) {
    bond.changed(isMadeHere: isMadeHere)
    securityChanged()
    guard isMadeHere else { return }
    // The adapter has stored the bond only after reporting it.
    scheduler.schedule(after: .zero) { [weak self] in
      if let self, isOpen { central.bondMade() }
    }
  }

  // MARK: The server role

  /// All settings made by the device.
  var clientState: GATTClientState { connection.clientState(database: &database[slot.audience]) }

  /// Restores the device's settings from an earlier link, and reports the changes since.
  func restore(_ state: GATTClientState) {
    withConnection { $0.restore(state, now: scheduler.now, database: &database[slot.audience], actions: &$1) }
  }

  /// A service is at these handles: the device may have subscribed to it before.
  func serviceReturned(_ range: ClosedRange<UInt16>) {
    withConnection { $0.serviceReturned(range, database: database[slot.audience], actions: &$1) }
  }

  /// Accepts signed writes from the device; without `verify` none.
  /// - Parameter counter: the last write's counter; nil before the first.
  func acceptSignatures(after counter: UInt32?, _ verify: SignatureVerifier?) {
    connection.acceptSignatures(after: counter, verify)
  }

  /// The device's subscriptions.
  func subscription(of handle: UInt16) -> ClientConfiguration { connection.subscription(of: handle) }

  /// False while the device is change-unaware: it is sent no values until then
  /// (Core 5.4, Vol 3, Part G, 2.5.2.1).
  var isInSync: Bool { connection.isInSync }

  /// Notifies values, in one packet if possible; the link must have room.
  func notify(_ values: [(handle: UInt16, value: [UInt8])]) {
    withConnection { _ = $0.notify(values, actions: &$1) }
  }

  /// Queues an indication; `ServerRole.indicationFinished` is called when it is confirmed or has failed.
  func indicate(_ value: [UInt8], of handle: UInt16, id: IndicationID) {
    withConnection { $0.indicate(value, of: handle, id: id, now: scheduler.now, actions: &$1) }
  }

  func answerRead(_ token: QuestionToken, _ result: Result<[UInt8], ATTErrorCode>) {
    withConnection {
      $0.answerRead(token, result, now: scheduler.now, database: &database[slot.audience], actions: &$1)
    }
  }

  func answerWrite(_ token: QuestionToken, _ error: ATTErrorCode?) {
    withConnection {
      $0.answerWrite(token, error, now: scheduler.now, database: &database[slot.audience], actions: &$1)
    }
  }

  /// Indicates to the device, if it has subscribed, that attributes were added or removed.
  func databaseChanged(_ range: ClosedRange<UInt16>) {
    withConnection { $0.databaseChanged(range, now: scheduler.now, database: database[slot.audience], actions: &$1) }
    bond.storeSettings()
  }

  /// Fails the device's pending request to an ended owner.
  func ownerGone(_ owner: AttributeOwner) { withConnection { $0.ownerGone(owner, actions: &$1) } }

  // MARK: The connection and its actions

  private func handle(_ event: LinkEvent) {
    guard isOpen else { return }
    switch event {
    case .received(let packet):
      updateSecurity()
      withConnection { $0.received(packet, now: scheduler.now, database: &database[slot.audience], actions: &$1) }
    case .lost(let count):
      central.packetsDropped(count)
      server.packetsDropped(count)
    case .writable:
      roomAgain()
      if isOpen { central.roomAgain() }
    case .parametersChanged: parametersChanged()
    case .securityChanged:
      securityChanged()
      if isOpen, link.security != toldSecurity { reportParameters() }
      if isOpen { central.securityChanged() }
    case .channel(let channel):
      if channel.psm == EnhancedBearers.psm {
        bearers.accept(channel)
      } else {
        roles.channels.opened(channel, on: self)
      }
    case .ended(let reason):
      end(reason)
    }
  }

  private func end(_ reason: BluetoothError) {
    isOpen = false
    let reason = failure.map(reason.because) ?? reason
    central.linkEnds(reason)
    alarm?.work.cancel()
    alarm = nil
    paceAlarm?.cancel()
    brake.end()
    let error = GAPError.disconnected.error("the connection ended: \(reason)")
    withConnection { $0.linkEnded(error, actions: &$1) }
    protection.clients.readStates()
    registry.remove(self)
    protection.linkEnded(self)
    central.linkEnded(error, reason)
    server.linkEnded(error)
    improvement.linkEnded().forEach { $0() }
    roles.server.roomAgain(for: room.end())
  }

  /// The link has room for packets, or for indications.
  func roomAgain() { roles.server.roomAgain(for: room.again()) }

  /// Passes the connection to `body` and executes the resulting actions. An action may lead back here; the actions
  /// added by this are executed after the earlier ones.
  func withConnection(_ body: (inout GATTConnection, inout [GATTAction]) -> Void) {
    body(&connection, &actions)
    guard !isExecuting else { return }
    isExecuting = true
    var next = 0
    while next < actions.count {
      let action = actions[next]
      next += 1
      execute(action)
    }
    actions.removeAll(keepingCapacity: true)
    isExecuting = false
    setAlarm()
    room.actionsExecuted()
  }

  private func execute(_ action: GATTAction) {
    switch action {
    case .send(let bearer, let packet):
      server.sends(packet)
      if bearer == .fixed { link.send(packet) } else { bearers.send(packet, on: bearer) }
    case .bearerEnded(.fixed, let error):
      failure = error.bluetoothError
      link.disconnect()
    case .bearerEnded(let bearer, _): bearers.ended(bearer)
    case .strayAnswer(_, let opcode): central.ignored(opcode)
    case .finished(let id, let result): central.finished(id, result)
    case .value(let handle, let value, _): central.received(value, of: handle)
    case .read(let question): server.asked(question)
    case .write(let question): server.asked(question)
    case .questionCancelled(let token): server.questionCancelled(token)
    case .subscriptionChanged(let handle, let configuration): server.subscriptionChanged(handle, configuration)
    case .indicationFinished(let id, let result): server.indicationFinished(id, result)
    case .signatureAccepted(let counter): bond.signatureAccepted(counter)
    case .clientStateChanged:
      bond.storeSettings()
      // Queued values may have waited for a device that is in sync.
      room.give()
    // The MTU itself is read where it is needed.
    case .mtuChanged(let mtu): if mtu != toldMTU { reportParameters() }
    // The operations themselves ask for security.
    case .stored, .securityNeeded: break
    }
  }

  /// Sets the alarm for the connection's deadline. An existing alarm that fires too early sets the next one, which
  /// costs less than one alarm per request.
  private func setAlarm() {
    guard isOpen, let deadline = Self.deadline(of: &connection) else { return }
    if let alarm {
      guard deadline < alarm.time else { return }
      alarm.work.cancel()
    }
    let work = scheduler.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      alarm = nil
      withConnection { $0.timePassed(now: self.scheduler.now, actions: &$1) }
    }
    alarm = (deadline, work)
  }

  /// The connection's deadline, read where it lies: passed by value, the whole connection would be copied.
  private static func deadline(of connection: inout GATTConnection) -> Instant? { connection.deadline }

  /// The error for operations on an ended link.
  static var gone: BluetoothError { GAPError.disconnected.error("the connection has ended") }
}

extension BluetoothError {
  /// Our disconnection, with its reason.
  fileprivate func because(_ reason: BluetoothError) -> BluetoothError {
    BluetoothError(domain: domain, code: code, name: name, message: "\(message): \(reason.message)")
  }
}

extension SecurityState {
  init(_ security: LinkSecurity) {
    self.init(level: UInt8(clamping: security.level), keySize: UInt8(clamping: security.keySize))
  }
}
