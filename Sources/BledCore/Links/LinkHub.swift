import ATT
import Adapter
import Bluetooth
import BluetoothCrypto
import GATT

/// One link: the GATT connection on it with its alarm, and whether its packets are read.
///
/// Each action of the connection concerns one role: what the device's server sends goes to `central`, what the device
/// asks of our server goes to `server`. Only the end, room for packets and packets that were dropped concern both.
final class LinkHub {
  let link: any Link
  let slot: AdapterSlot
  let peripheral: Peripheral
  /// Our client role on the link.
  private(set) lazy var central = roles.client.clientRole(on: self)
  /// Our server role on the link.
  private(set) lazy var server = roles.server.serverRole(on: self)
  /// The turns of packets that both roles send without being asked.
  private(set) lazy var room = LinkRoom(of: self)
  /// The enhanced ATT bearers beside the one that every link has.
  private(set) lazy var bearers = EnhancedBearers(of: self)
  /// False once the link has ended: all that was pending on it fails or has failed.
  private(set) var isOpen = true

  private let registry: LinkRegistry
  let database: ServerDatabase
  let scheduler: any Scheduler
  private let roles: LinkRoles

  private var connection: GATTConnection
  /// Whether what the device has set belongs to its bond: it has shown that it has the keys, or they were made here.
  private var isOfBond = false
  /// Whether it has not done so yet, though there is a bond.
  private var awaitsBond = false
  private var actions: [GATTAction] = []
  /// Whether what was sent has not reached the link yet.
  private(set) var isExecuting = false
  private var alarm: (time: Instant, work: any ScheduledWork)?
  private var brake = Brake()
  private var brakeAlarm: (any ScheduledWork)?
  var arbiter = ParameterArbiter()
  var improvement = LinkImprovement()
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
    connection.asksForSecurity = true
    connection.securityChanged(protection.security(of: self))
    link.onEvent = { [weak self] event in self?.handle(event) }
  }

  /// The ATT MTU in force, 23 to 517 octets.
  var mtu: Int { connection.mtu }

  private var protection: any LinkProtection { roles.protection }

  /// A session has disconnected from the device: its channels on the link end.
  func released(by session: Session) { roles.channels.released(self, by: session) }

  /// Ends the link; both roles are told when it has ended.
  func disconnect() { link.disconnect() }

  // MARK: The client role

  /// Starts a procedure on a bearer; `ClientRole.finished` is called with its result.
  func start(_ procedure: GATTProcedure, id: ProcedureID, on bearer: BearerID = .fixed) {
    withConnection { $0.start(procedure, id: id, on: bearer, now: scheduler.now, actions: &$1) }
  }

  /// The device's server asks for more security: the procedure is repeated if it can be had, or fails.
  private func raiseSecurity(for id: ProcedureID, on bearer: BearerID, _ error: ATTErrorCode) {
    protection.raise(self, after: error, for: central.session(asking: id)) { [weak self] isSecured in
      guard let self, isOpen else { return }
      withConnection { $0.resume(id, on: bearer, isSecured: isSecured, now: self.scheduler.now, actions: &$1) }
    }
  }

  /// How the link is protected changed, or what is known of it.
  func securityChanged() {
    connection.securityChanged(protection.security(of: self))
    if let bond = protection.provenBond(of: self), isOpen { giveBack(to: bond) }
    awaitsBond = !isOfBond && protection.bond(of: self) != nil
  }

  /// A packet came: where it matters, how the link is protected is asked again, as that is told a little late.
  func updateSecurity() {
    if awaitsBond || connection.lacksSecurity(for: database[slot.audience]) { securityChanged() }
  }

  // MARK: What belongs to a bond

  /// The device has the keys of its bond: it gets back what it had set, and is told what has changed since.
  private func giveBack(to bond: Bond) {
    if isOfBond {
      // The link may be secure enough now for values that had to wait.
      return serviceReturned(1...0xFFFF)
    }
    isOfBond = true
    if let state = protection.clients.state(of: bond) {
      withConnection { $0.restore(state, now: scheduler.now, database: &database[slot.audience], actions: &$1) }
    }
    keepClient()
  }

  /// The link is new, or there is another bond with its device, or none any more.
  /// - Parameter isMadeHere: whether its keys come from a pairing on this link: what the device has set here belongs
  ///   to it.
  func bondChanged(isMadeHere: Bool = false) {
    if isMadeHere {
      isOfBond = true
      keepClient()
    }
    takeSignatures()
    securityChanged()
  }

  /// A service is at these handles: a bonded device may have subscribed to it before.
  func serviceReturned(_ range: ClosedRange<UInt16>) {
    guard isOfBond, isOpen else { return }
    withConnection { $0.serviceReturned(range, database: database[slot.audience], actions: &$1) }
  }

  /// The Client Supported Features that the device was told, if it is bonded and knows that it is us; else nil.
  var toldFeatures: [UInt8]? {
    guard isOfBond, let bond = protection.bond(of: self) else { return nil }
    return protection.clients.toldFeatures(of: bond)
  }

  /// The device was told them: if it is bonded it keeps them (Core 5.4, Vol 3, Part G, 7.2).
  func told(_ features: [UInt8]) {
    guard isOfBond, let bond = protection.bond(of: self) else { return }
    protection.clients.keep(toldFeatures: features, of: bond)
  }

  private func keepClient() {
    guard isOfBond, let bond = protection.bond(of: self) else { return }
    let audience = slot.audience
    if database[audience].isHashed {
      protection.clients.keep(connection.clientState(database: &database[audience]), of: bond)
    } else {
      protection.clients.keepLater(of: bond) { [weak self] in
        self.map { $0.connection.clientState(database: &$0.database[audience]) }
      }
    }
  }

  /// A signature needs no encryption: it shows by itself who made it.
  private func takeSignatures() {
    let bond = protection.bond(of: self)
    guard let bond, let key = bond.peerSignatureKey.flatMap({ Key128(littleEndian: $0.value) }) else {
      return connection.takeSignatures(after: nil, nil)
    }
    connection.takeSignatures(after: protection.clients.signCounter(of: bond)) { ATTSignature.verify($0, key: key) }
  }

  /// A write whose origin the device can check without encryption; on an encrypted link nothing is signed (Core 5.4,
  /// Vol 3, Part C, 10.4.1).
  /// - Throws: `notPermitted` without a bond with a key of ours; `pairingFailed` if the counter is not on disk.
  func signedWrite(_ handle: UInt16, _ value: [UInt8]) throws(BluetoothError) -> GATTProcedure {
    guard protection.security(of: self).level <= 1 else { return .writeWithoutResponse(handle, value) }
    guard let bond = protection.bond(of: self), let key = bond.signatureKey.flatMap({ Key128(littleEndian: $0.value) })
    else {
      throw BledError.notPermitted.error(
        "a signed write needs a key that only pairing gives: pair with the device (peripheral.pair) first")
    }
    guard let counter = protection.clients.nextCounter(of: bond) else {
      throw GAPError.pairingFailed.error(
        "the counter of signed writes, which may never repeat, could not be stored: the daemon's log says why")
    }
    return .signedWrite(handle, value) { ATTSignature.sign($0, counter: counter, key: key) }
  }

  private func signatureTaken(_ counter: UInt32) {
    guard let bond = protection.bond(of: self) else { return }
    protection.clients.keep(signCounter: counter, of: bond)
  }

  // MARK: The server role

  /// The device's subscriptions.
  func subscription(of handle: UInt16) -> ClientConfiguration { connection.subscription(of: handle) }

  /// False while the device is change-unaware: it is sent no values until then
  /// (Core 5.4, Vol 3, Part G, 2.5.2.1).
  var isInSync: Bool { connection.isInSync }

  /// Notifies values, in one packet if that is possible; the link must have room.
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
    keepClient()
  }

  /// Fails the device's pending request to an owner that has ended.
  func ownerGone(_ owner: AttributeOwner) { withConnection { $0.ownerGone(owner, actions: &$1) } }

  // MARK: A reader that falls behind

  /// A value, notified or written, was handed to a session. If the session has too much to read by now and is alone on
  /// the link, the link is held until it has caught up.
  ///
  /// It is not alone if others use the device, or the device uses services of others: their requests and answers would
  /// be held back together with the values.
  func slowDown(for session: Session) {
    guard session.outbox.isCongested, hold(for: session) else { return }
    session.whenRelieved { [weak self] in self?.releaseBrake() }
  }

  /// Holds the link for a session that has too much to read, until `releaseBrake`.
  /// - Returns: false if it is held or has been already, or the session is not alone.
  func hold(for session: Session) -> Bool {
    guard brake.isOpen, session.isPresent, central.users.allSatisfy({ $0 === session }),
      server.served.isSubset(of: [session])
    else { return false }
    session.slowedLinks += 1
    perform(brake.overrun())
    brakeAlarm = scheduler.schedule(after: Brake.patience) { [weak self] in
      guard let self else { return }
      perform(brake.patienceEnded())
    }
    return true
  }

  /// The reader has caught up, has ended, or is no longer the only one.
  func releaseBrake() {
    guard !brake.isOpen else { return }
    brakeAlarm?.cancel()
    brakeAlarm = nil
    perform(brake.relieved())
  }

  private func perform(_ action: Brake.Action?) {
    switch action {
    case .hold: link.isReading = false
    case .release: link.isReading = true
    case nil: return
    }
    bearers.readingChanged()
  }

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
    case .writable: roomAgain()
    case .parametersChanged: parametersChanged()
    case .securityChanged:
      securityChanged()
      if isOpen, link.security != toldSecurity { tellParameters() }
      if isOpen { central.securityChanged() }
    case .channel(let channel):
      if channel.psm == EnhancedBearers.psm { bearers.take(channel) } else { roles.channels.opened(channel, on: self) }
    case .ended(let reason):
      end(reason)
    }
  }

  private func end(_ reason: BluetoothError) {
    isOpen = false
    alarm?.work.cancel()
    alarm = nil
    brakeAlarm?.cancel()
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

  /// Hands the connection to `body` and executes the actions that follow. An action may lead back here; the actions
  /// that this adds are executed after those that were there before.
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
    case .bearerEnded(.fixed, _): link.disconnect()
    case .bearerEnded(let bearer, _): bearers.ended(bearer)
    case .finished(let id, let result): central.finished(id, result)
    case .value(let handle, let value, _): central.received(value, of: handle)
    case .read(let question): server.asked(question)
    case .write(let question): server.asked(question)
    case .questionCancelled(let token): server.questionCancelled(token)
    case .subscriptionChanged(let handle, let configuration): server.subscriptionChanged(handle, configuration)
    case .indicationFinished(let id, _): server.indicationFinished(id)
    case .securityNeeded(let id, let bearer, let error): raiseSecurity(for: id, on: bearer, error)
    case .signatureTaken(let counter): signatureTaken(counter)
    case .clientStateChanged: keepClient()
    // The MTU itself is read where it is needed.
    case .mtuChanged(let mtu): if mtu != toldMTU { tellParameters() }
    case .stored: break
    }
  }

  /// Sets the alarm for the connection's deadline. An alarm that is already set and rings too early sets the next one,
  /// which costs less than one alarm for each request.
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

  /// The error of operations on a link that has ended.
  static var gone: BluetoothError { GAPError.disconnected.error("the connection has ended") }
}

extension SecurityState {
  init(_ security: LinkSecurity) {
    self.init(level: UInt8(clamping: security.level), keySize: UInt8(clamping: security.keySize))
  }
}
