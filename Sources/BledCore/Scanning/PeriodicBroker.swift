import Adapter
import BledRPC
import Bluetooth

/// The trains of periodic advertisements that sessions follow; sessions that follow the same one share it.
///
/// | Train is | Input                            | Effect                                                      |
/// |----------|----------------------------------|-------------------------------------------------------------|
/// | (none)   | sync                             | the adapter is asked, and scans → sought                    |
/// | sought   | sync                             | one more waits                                              |
/// | sought   | synchronised                     | waiting sessions are answered, the others told → on         |
/// | sought   | the time of a call is over       | that call fails; without any follower → (none)              |
/// | on       | sync                             | answered at once                                            |
/// | on       | a report                         | each follower gets it                                       |
/// | on       | lost, or the adapter is away     | the followers are told, the adapter scans → sought          |
/// | any      | failed                           | waiting sessions are refused, the others told → (none)      |
/// | any      | stop, a program is gone          | no follower is left: the adapter lets it go → (none)        |
/// | (none), sought | a device transferred it    | its receivers follow it, waiting sessions are answered → on |
final class PeriodicBroker {
  private struct Key: Hashable {
    let slot: AdapterSlot
    let train: PeriodicTrain
  }

  private final class Follower {
    let session: Session
    /// Waiting to be synchronised for the first time.
    var reply: Reply<PeriodicSync.Result>?
    var alarm: (any ScheduledWork)?

    init(_ session: Session) { self.session = session }
  }

  private final class Train {
    let peripheral: Peripheral
    /// The number of its reports in the outbox of a lagging client; devices have positive numbers.
    let number: Int
    let phys: Set<PHY>
    var followers: [Follower] = []
    /// The interval and the PHY while it is on.
    var synced: (interval: Duration, phy: PHY?)?

    init(_ peripheral: Peripheral, number: Int, phys: Set<PHY>) {
      self.peripheral = peripheral
      self.number = number
      self.phys = phys
    }
  }

  private let receivers: TrainReceivers
  private let scans: ScanBroker
  private let adapters: AdapterRegistry
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler
  private var trains: [Key: Train] = [:]
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
    let key = Key(slot: slot, train: PeriodicTrain(address: slot.address(of: peripheral), sid: sid))
    if let train = trains[key], train.followers.contains(where: { $0.session == session }) {
      throw BledError.alreadyInProgress.error("this session follows that train, or waits for it")
    }
    try admit(session)
    let follower = Follower(session)
    let train = trains[key] ?? add(key, peripheral)
    train.followers.append(follower)
    guard let synced = train.synced else {
      let interval = announced?.sid == sid ? announced?.interval : nil
      if train.followers.count == 1 { slot.adapter.setSync(key.train, .following(interval: interval)) }
      follower.reply = reply
      follower.alarm = params.timeout.map { time in
        scheduler.schedule(after: .seconds(time)) { [weak self] in self?.timeOver(follower, key, time) }
      }
      return seek()
    }
    reply.succeed(result(key, train, synced))
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

  /// Waits for a train that the device of a link transfers.
  func receive(
    _ params: PeriodicReceive.Params, over link: any Link, with device: Peripheral, on slot: AdapterSlot,
    for session: Session, _ reply: Reply<PeriodicReceive.Result>
  ) throws {
    try Self.check(timeout: params.timeout)
    try admit(session)
    try receivers.receive(
      over: link, with: device, on: slot, timeout: params.timeout, for: session, reply
    ) { [unowned self] in adopt($0, for: $1, on: $2) }
  }

  /// Sessions follow a train that an adapter is synchronised with.
  private func adopt(_ received: ReceivedTrain, for sessions: [Session], on slot: AdapterSlot) -> PeriodicSync.Result {
    let key = Key(slot: slot, train: received.train)
    let synced = (interval: received.interval, phy: received.phy)
    let known = trains[key]
    let train = known ?? add(key, directory.peripheral(at: received.train.address, on: slot))
    if known?.synced == nil { synchronised(key, train, synced) }
    for session in sessions where !train.followers.contains(where: { $0.session == session }) {
      train.followers.append(Follower(session))
    }
    if train.followers.isEmpty { letGo(key, train) }
    return result(key, train, train.synced ?? synced)
  }

  /// A train that a session follows on an adapter.
  func train(_ named: PeriodicTransfer.Train, of session: Session, on slot: AdapterSlot) throws -> PeriodicTrain {
    let peripheral = try directory.find(named.peripheral)
    let followed = trains.filter { key, train in
      key.slot == slot && train.peripheral === peripheral && (named.sid == nil || named.sid == Int(key.train.sid))
        && train.followers.contains { $0.session == session }
    }
    guard let first = followed.first else {
      throw BledError.unknownHandle.error("this session follows no such train on adapter \(slot.id)")
    }
    guard followed.count == 1 else {
      throw BledError.invalidParameter.error("this session follows several trains of that device: give \"sid\"")
    }
    return first.key.train
  }

  private func add(_ key: Key, _ peripheral: Peripheral) -> Train {
    lastNumber -= 1
    let phy = peripheral.advertisement?.primaryPHY ?? .le1M
    let train = Train(peripheral, number: lastNumber, phys: [phy])
    peripheral.references += 1
    trains[key] = train
    return train
  }

  func stop(_ params: PeriodicStop.Params, for session: Session) throws {
    let peripheral = try params.peripheral.map { try directory.find($0) }
    let error = GAPError.cancelled.error("periodic.stop was called")
    if params.sid == nil { receivers.stop(session, of: peripheral, error) }
    leave(session, error) { key, train in
      (peripheral == nil || train.peripheral === peripheral)
        && (params.sid == nil || params.sid == Int(key.train.sid))
    }
  }

  /// The program of a session has gone.
  func ended(_ session: Session) {
    let error = GAPError.cancelled.error("the session has ended")
    receivers.stop(session, of: nil, error)
    leave(session, error) { _, _ in true }
  }

  private func leave(_ session: Session, _ error: BluetoothError, _ isMeant: (Key, Train) -> Bool) {
    for (key, train) in trains where isMeant(key, train) {
      for follower in train.followers where follower.session == session { remove(follower, key, error) }
    }
  }

  private func timeOver(_ follower: Follower, _ key: Key, _ time: Double) {
    remove(
      follower, key,
      GAPError.timeout.error(
        "no packet of that train was received within \(time) s: see with a scan whether the device announces one"))
  }

  private func remove(_ follower: Follower, _ key: Key, _ error: BluetoothError) {
    guard let train = trains[key] else { return }
    train.followers.removeAll { $0 === follower }
    follower.alarm?.cancel()
    if train.followers.isEmpty { letGo(key, train) }
    follower.reply?.fail(error)
  }

  private func letGo(_ key: Key, _ train: Train) {
    trains[key] = nil
    train.peripheral.references -= 1
    key.slot.adapter.setSync(key.train, nil)
    seek()
  }

  // MARK: - Events

  /// An adapter reports an event of a train.
  func handle(_ name: PeriodicTrain, _ event: PeriodicEvent, on slot: AdapterSlot) {
    let key = Key(slot: slot, train: name)
    guard let train = trains[key] else { return }
    switch event {
    case .synchronised(let interval, let phy): synchronised(key, train, (interval, phy))
    case .received(let packet): deliver(packet, key, train)
    case .lost: lost(key, train)
    case .failed(let error):
      for follower in train.followers where follower.reply == nil {
        follower.session.send(PeriodicChanged.self, change(key, train, reason: RPCError(error)))
      }
      for follower in train.followers { remove(follower, key, error) }
    }
  }

  private func synchronised(_ key: Key, _ train: Train, _ synced: (interval: Duration, phy: PHY?)) {
    train.synced = synced
    seek()
    for follower in train.followers {
      follower.alarm?.cancel()
      follower.alarm = nil
      if let reply = follower.reply {
        follower.reply = nil
        reply.succeed(result(key, train, synced))
      } else {
        follower.session.send(PeriodicChanged.self, change(key, train))
      }
    }
  }

  private func lost(_ key: Key, _ train: Train) {
    guard train.synced != nil else { return }
    train.synced = nil
    for follower in train.followers { follower.session.send(PeriodicChanged.self, change(key, train)) }
    seek()
  }

  private func deliver(_ packet: PeriodicPacket, _ key: Key, _ train: Train) {
    let line = train.followers.first?.session.encoded {
      try RPCEncoding.notification(PeriodicReport.self, params(packet, key, train))
    }
    for follower in train.followers { follower.session.send(line, as: .report(device: train.number)) }
  }

  private func params(
    _ packet: PeriodicPacket, _ key: Key, _ train: Train
  ) -> PeriodicReport.Params {
    var params = PeriodicReport.Params(
      peripheral: train.peripheral.id, adapter: key.slot.id, sid: Int(key.train.sid), data: HexBytes(packet.data),
      time: scheduler.secondsSinceEpoch)
    params.rssi = packet.rssi
    params.txPower = packet.txPower
    params.truncated = packet.isTruncated ? true : nil
    return params
  }

  /// An adapter that is away follows nothing; it follows wanted trains again when it is back.
  func adapterChanged(_ slot: AdapterSlot) {
    guard slot.adapter.state != .on else { return }
    for (key, train) in trains where key.slot == slot { lost(key, train) }
  }

  /// The adapters scan while there are trains to be found.
  private func seek() {
    var wanted: [AdapterSlot: ScanParameters] = [:]
    for (key, train) in trains where train.synced == nil {
      wanted[key.slot, default: ScanParameters(isActive: false, phys: [])].phys.formUnion(train.phys)
    }
    scans.seek(on: wanted)
  }

  private func result(
    _ key: Key, _ train: Train, _ synced: (interval: Duration, phy: PHY?)
  ) -> PeriodicSync.Result {
    .init(
      peripheral: train.peripheral.id, adapter: key.slot.id, sid: Int(key.train.sid),
      interval: synced.interval.inSeconds, phy: synced.phy.map { Word($0) })
  }

  private func change(_ key: Key, _ train: Train, reason: RPCError? = nil) -> PeriodicChanged.Params {
    .init(
      peripheral: train.peripheral.id, adapter: key.slot.id, sid: Int(key.train.sid), synced: train.synced != nil,
      interval: train.synced?.interval.inSeconds, phy: train.synced?.phy.map { Word($0) }, reason: reason)
  }
}
