import Adapter
import BledRPC
import Bluetooth

/// The trains of periodic advertisements followed by sessions; followers of the same train share it.
///
/// | Train is       | Input                            | Effect                                                      |
/// |----------------|----------------------------------|-------------------------------------------------------------|
/// | (none)         | sync                             | the adapter is asked, and scans → sought                    |
/// | sought         | sync                             | one more waits                                              |
/// | sought         | synchronised                     | waiting sessions are answered, the others notified → on     |
/// | sought         | the time of a call is over       | that call fails; without any follower → (none)              |
/// | on             | sync                             | answered at once                                            |
/// | on             | it has subevents                 | those of all followers are chosen, then as above            |
/// | on             | a follower joins or leaves       | the subevents are chosen again                              |
/// | on             | the controller refuses subevents | the followers that requested them are refused               |
/// | on             | a report                         | each follower that chose its subevent gets it               |
/// | on             | lost, or the adapter is away     | the followers are notified, the adapter scans → sought      |
/// | any            | failed                           | waiting sessions are refused, the others notified → (none)  |
/// | any            | stop, a program has ended        | no follower is left: the adapter lets it go → (none)        |
/// | (none), sought | a device transferred it          | its receivers follow it, waiting sessions are answered → on |
final class PeriodicBroker {
  private struct Key: Hashable {
    let slot: AdapterSlot
    let train: PeriodicTrain
  }

  /// A session sending a response to a train.
  private struct Responder: Hashable {
    let session: Session
    let key: Key
  }

  /// Maximum responses of a user's sessions in progress: the controller handles them one by one, before all other
  /// commands.
  private static let maximumResponses = 16

  private let receivers: TrainReceivers
  private let scans: ScanBroker
  private let adapters: AdapterRegistry
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler
  private var trains: [Key: FollowedTrain] = [:]
  /// The responses in progress.
  private var responding: Set<Responder> = []
  private var lastNumber = 0

  init(adapters: AdapterRegistry, directory: PeripheralDirectory, scans: ScanBroker, scheduler: any Scheduler) {
    receivers = TrainReceivers(scheduler: scheduler)
    self.scans = scans
    self.adapters = adapters
    self.directory = directory
    self.scheduler = scheduler
  }

  // MARK: - Requests of sessions

  func sync(_ params: PeriodicSync.Params, for session: Session, _ reply: Reply<PeriodicSync.Result>) throws {
    try Self.check(timeout: params.timeout)
    guard params.sid.map({ (0...15).contains($0) }) ?? true else {
      throw BledError.invalidParameter.error("\"sid\" must be 0 to 15")
    }
    let subevents = try PeriodicSync.Params.chosen(params.subevents)
    let (peripheral, slot) = try directory.find(
      DeviceReference(params.peripheral, kind: params.addressType), on: params.adapter, of: adapters)
    if let error = slot.unusable { throw error }
    let announced = peripheral.periodic
    guard let sid = params.sid.map(UInt8.init(clamping:)) ?? announced?.sid else {
      throw BledError.invalidParameter.error(
        "no train of that device was heard: scan until a report has \"periodicInterval\", or give \"sid\"")
    }
    if slot.adapter.state == .on, !slot.adapter.information.canSynchronise {
      throw GAPError.notSupported.error("the controller of adapter \(slot.id) cannot follow periodic advertising")
    }
    if slot.adapter.state == .on, subevents != nil, !slot.adapter.information.canRespond {
      throw GAPError.notSupported.error("the controller of adapter \(slot.id) cannot receive trains with subevents")
    }
    let key = Key(slot: slot, train: PeriodicTrain(address: slot.address(of: peripheral), sid: sid))
    if let train = trains[key], train.followers.contains(where: { $0.session == session }) {
      throw BledError.alreadyInProgress.error("this session follows that train, or waits for it")
    }
    try admit(session)
    let follower = TrainFollower(session, subevents: subevents)
    let train = trains[key] ?? add(key, peripheral)
    if let synced = train.synced, let error = follower.problem(with: synced.subevents) { throw error }
    train.followers.append(follower)
    follower.reply = reply
    guard train.synced == nil else { return choose(train, for: [follower]) }
    let interval = announced?.sid == sid ? announced?.interval : nil
    if train.followers.count == 1 { slot.adapter.setSync(key.train, .following(interval: interval)) }
    follower.alarm = params.timeout.map { time in
      scheduler.schedule(after: .seconds(time)) { [weak self] in self?.timeOver(follower, train, time) }
    }
    seek()
  }

  private static func check(timeout: Double?) throws(BluetoothError) {
    guard timeout.map({ $0 > 0 && $0 <= 86_400 }) ?? true else {
      throw BledError.invalidParameter.error("\"timeout\" must be more than 0 and at most 86400 seconds")
    }
  }

  /// A session may follow one more train, or wait for one.
  private func admit(_ session: Session) throws {
    func count(_ isMeant: (Session) -> Bool) -> Int {
      receivers.count(isMeant) + trains.values.reduce(0) { $0 + $1.followers.count { isMeant($0.session) } }
    }
    try session.rules.admit(
      .syncs, of: session, own: count { $0 == session }, all: count { $0.user == session.user })
  }

  /// Waits for a train transferred by a link's device.
  func receive(
    _ params: PeriodicReceive.Params, over link: any Link, with device: Peripheral, on slot: AdapterSlot,
    for session: Session, _ reply: Reply<PeriodicReceive.Result>
  ) throws {
    try Self.check(timeout: params.timeout)
    let subevents = try PeriodicSync.Params.chosen(params.subevents)
    try admit(session)
    try receivers.receive(
      over: link, with: device, on: slot, timeout: params.timeout, for: TrainFollower(session, subevents: subevents),
      reply
    ) { [unowned self] in adopt($0, for: $1, on: $2) }
  }

  /// Sessions follow a train with which an adapter is synchronised.
  private func adopt(
    _ received: ReceivedTrain, for followers: [TrainFollower], on slot: AdapterSlot
  ) -> PeriodicSync.Result {
    let key = Key(slot: slot, train: received.train)
    let synced = FollowedTrain.Synced(interval: received.interval, phy: received.phy, subevents: received.subevents)
    let train = trains[key] ?? add(key, directory.peripheral(at: received.train.address, on: slot))
    let added = followers.filter { new in !train.followers.contains { $0.session == new.session } }
    for follower in added { follower.isSynced = true }
    train.followers += added
    let result = train.result(train.synced ?? synced)
    if train.followers.isEmpty {
      letGo(train)
    } else if train.synced == nil {
      synchronised(train, synced)
    } else {
      admit(added, to: train)
    }
    return result
  }

  /// Sends a response to a train's packet.
  func respond(_ params: PeriodicRespond.Params, for session: Session, _ reply: Reply<Empty>) throws {
    let slot = try params.adapter.map { try adapters.find($0) }
    let train = try followed(params.peripheral, params.sid, by: session, on: slot)
    guard let synced = train.synced else {
      throw BledError.unknownHandle.error("the adapter is not synchronised with the train at present")
    }
    let response = try TrainResponse(params, within: synced.subevents)
    let responder = Responder(session: session, key: Key(slot: train.slot, train: train.name))
    guard !responding.contains(responder) else {
      throw BledError.alreadyInProgress.error("the controller does not have this session's last response yet")
    }
    guard responding.count(where: { $0.session.user == session.user }) < Self.maximumResponses else {
      throw BledError.limitReached.error("\(Self.maximumResponses) responses of this user are in progress")
    }
    responding.insert(responder)
    train.slot.adapter.respond(response, to: train.name) { [weak self] error in
      self?.responding.remove(responder)
      if let error { reply.fail(error) } else { reply.succeed(Empty()) }
    }
  }

  /// The train followed by a session on an adapter.
  func train(_ named: PeriodicTransfer.Train, of session: Session, on slot: AdapterSlot) throws -> PeriodicTrain {
    try followed(named.peripheral, named.sid, by: session, on: slot).name
  }

  private func followed(
    _ device: String, _ sid: Int?, by session: Session, on slot: AdapterSlot?
  ) throws -> FollowedTrain {
    let peripheral = try directory.find(device)
    let followed = trains.values.filter { train in
      (slot == nil || train.slot == slot) && train.peripheral === peripheral
        && (sid == nil || sid == Int(train.name.sid)) && train.followers.contains { $0.session == session }
    }
    guard let first = followed.first else {
      throw BledError.unknownHandle.error(
        "this session follows no such train\(slot.map { " on adapter \($0.id)" } ?? "")")
    }
    guard followed.count == 1 else {
      let names = "\"sid\"\(slot == nil ? " and \"adapter\"" : "")"
      throw BledError.invalidParameter.error("this session follows several trains of that device: give \(names)")
    }
    return first
  }

  private func add(_ key: Key, _ peripheral: Peripheral) -> FollowedTrain {
    lastNumber -= FollowedTrain.numbers
    let phy = peripheral.advertisement?.primaryPHY ?? .le1M
    let train = FollowedTrain(key.train, of: peripheral, on: key.slot, number: lastNumber, phys: [phy])
    peripheral.references += 1
    trains[key] = train
    return train
  }

  func stop(_ params: PeriodicStop.Params, for session: Session) throws {
    let devices: [Peripheral?] =
      if let name = params.peripheral { try directory.known(DeviceReference(name, kind: nil)) } else { [nil] }
    guard !devices.isEmpty else { throw GAPError.unknownDevice.error("no device with that address is known") }
    let error = GAPError.cancelled.error("periodic.stop was called")
    for device in devices {
      if params.sid == nil { receivers.stop(session, of: device, error) }
      leave(session, error) { train in
        (device == nil || train.peripheral === device) && (params.sid == nil || params.sid == Int(train.name.sid))
      }
    }
  }

  /// The session's program has disconnected.
  func ended(_ session: Session) {
    let error = GAPError.cancelled.error("the session has ended")
    receivers.stop(session, of: nil, error)
    leave(session, error) { _ in true }
  }

  private func leave(_ session: Session, _ error: BluetoothError, _ isMeant: (FollowedTrain) -> Bool) {
    for train in trains.values where isMeant(train) {
      for follower in train.followers where follower.session == session { remove(follower, train, error) }
    }
  }

  private func timeOver(_ follower: TrainFollower, _ train: FollowedTrain, _ time: Double) {
    remove(
      follower, train,
      GAPError.timeout.error(
        "no packet of that train was received within \(time) s: see with a scan whether the device announces one"))
  }

  private func remove(_ follower: TrainFollower, _ train: FollowedTrain, _ error: BluetoothError) {
    guard let index = train.followers.firstIndex(where: { $0 === follower }) else { return }
    train.followers.remove(at: index)
    follower.alarm?.cancel()
    if train.followers.isEmpty { letGo(train) } else { choose(train, for: []) }
    follower.reply?.fail(error)
  }

  private func letGo(_ train: FollowedTrain) {
    trains[Key(slot: train.slot, train: train.name)] = nil
    train.peripheral.references -= 1
    train.slot.adapter.setSync(train.name, nil)
    seek()
  }

  // MARK: - Events

  /// An adapter reports a train's event.
  func handle(_ name: PeriodicTrain, _ event: PeriodicEvent, on slot: AdapterSlot) {
    guard let train = trains[Key(slot: slot, train: name)] else { return }
    switch event {
    case .synchronised(let interval, let phy, let subevents):
      synchronised(train, .init(interval: interval, phy: phy, subevents: subevents))
    case .received(let packet): deliver(packet, of: train)
    case .lost: lost(train)
    case .failed(let error): for follower in train.followers { refuse(follower, train, error) }
    }
  }

  private func synchronised(_ train: FollowedTrain, _ synced: FollowedTrain.Synced) {
    train.found(synced)
    seek()
    admit(train.followers, to: train)
  }

  /// Followers get their subevents, and waiting ones their answer, if the train has such subevents.
  private func admit(_ followers: [TrainFollower], to train: FollowedTrain) {
    var admitted: [TrainFollower] = []
    for follower in followers {
      if let error = follower.problem(with: train.synced?.subevents) {
        refuse(follower, train, error)
      } else {
        admitted.append(follower)
      }
    }
    choose(train, for: admitted)
  }

  /// The adapter receives the subevents of all followers; the given ones wait for them.
  private func choose(_ train: FollowedTrain, for followers: [TrainFollower]) {
    let wanted = train.wantedSubevents
    guard !wanted.isEmpty, !followers.isEmpty || wanted != train.chosen else {
      for follower in followers { report(follower, train) }
      return
    }
    train.chosen = wanted
    let finding = train.findings
    train.slot.adapter.setSubevents(wanted.sorted(), of: train.name) { [weak self] error in
      // If the train was lost meanwhile, they are chosen again when it is found.
      guard let self, train.synced != nil, train.findings == finding else { return }
      if error != nil { train.chosen = [] }
      for follower in followers where train.followers.contains(where: { $0 === follower }) {
        if let error { refuse(follower, train, error) } else { report(follower, train) }
      }
    }
  }

  /// A follower receives the train's packets.
  private func report(_ follower: TrainFollower, _ train: FollowedTrain) {
    guard !follower.isSynced, let synced = train.synced else { return }
    follower.isSynced = true
    follower.alarm?.cancel()
    follower.alarm = nil
    if let reply = follower.reply {
      follower.reply = nil
      reply.succeed(train.result(synced))
    } else {
      follower.session.send(PeriodicChanged.self, train.change())
    }
  }

  /// A session cannot follow a train.
  private func refuse(_ follower: TrainFollower, _ train: FollowedTrain, _ error: BluetoothError) {
    if follower.reply == nil { follower.session.send(PeriodicChanged.self, train.change(reason: error)) }
    remove(follower, train, error)
  }

  private func lost(_ train: FollowedTrain) {
    guard train.synced != nil else { return }
    train.lost()
    for follower in train.followers where follower.isSynced {
      follower.isSynced = false
      follower.session.send(PeriodicChanged.self, train.change())
    }
    seek()
  }

  private func deliver(_ packet: PeriodicPacket, of train: FollowedTrain) {
    let (followers, number) = train.receivers(of: packet)
    let line = followers.first?.session.encoded {
      try RPCEncoding.notification(PeriodicReport.self, train.report(packet, at: scheduler.secondsSinceEpoch))
    }
    for follower in followers { follower.session.send(line, as: .report(device: number)) }
  }

  /// An unusable adapter follows nothing; it resumes the requested trains when it is back.
  func adapterChanged(_ slot: AdapterSlot) {
    guard slot.adapter.state != .on else { return }
    for train in trains.values where train.slot == slot { lost(train) }
  }

  /// The adapters scan while there are trains to be found.
  private func seek() {
    var wanted: [AdapterSlot: ScanParameters] = [:]
    for train in trains.values where train.synced == nil {
      wanted[train.slot, default: ScanParameters(isActive: false, phys: [])].phys.formUnion(train.phys)
    }
    scans.setTrainScan(on: wanted)
  }
}
