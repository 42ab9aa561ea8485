import Adapter
import BledRPC
import Bluetooth
import OrderedCollections

/// The advertisements of all sessions. Which of them are on the air, the adapter's slot knows.
///
/// | State           | Input                       | Effect                                       |
/// |-----------------|-----------------------------|----------------------------------------------|
/// | (none)          | start                       | the adapter is asked → waiting               |
/// | (none)          | restore                     | the adapter is asked → off                   |
/// | waiting         | on the air                  | answered → on the air                        |
/// | waiting         | failed, or the adapter left | refused, withdrawn → (none)                  |
/// | waiting         | stopped, session ended      | refused, withdrawn → (none)                  |
/// | on the air, off | off, on                     | reported → off, on the air                   |
/// | on the air      | on, another interval        | reported: more or fewer share the air        |
/// | on the air, off | failed                      | reported with the reason, withdrawn → (none) |
/// | on the air, off | stopped, session ended      | withdrawn → (none)                           |
/// | on the air, off | its duration is over, ended | reported with the reason, withdrawn → (none) |
///
/// The duration counts from the first time on the air, regardless of the adapter's states.
final class AdvertisingBroker {
  private final class Advertisement {
    let session: Session
    let slot: AdapterSlot
    let params: AdvertisingStart.Params
    /// When its duration or count is over, in seconds since the epoch; known once it was on the air.
    var ends: Double?
    /// The only device permitted to connect.
    let target: CalledDevice?
    let shortenedName: String?
    /// Rings when its duration is over.
    var alarm: (any ScheduledWork)?
    /// Events with responses not read by the session.
    var lostResponses = 0
    /// Waiting to be on the air for the first time.
    var reply: Reply<AdvertisingStart.Result>?

    init(
      _ session: Session, _ slot: AdapterSlot, _ params: AdvertisingStart.Params, to target: CalledDevice?,
      shortenedName: String?, _ reply: Reply<AdvertisingStart.Result>?
    ) {
      self.session = session
      self.slot = slot
      self.params = params
      self.target = target
      self.shortenedName = shortenedName
      self.reply = reply
    }
  }

  weak var observer: (any PublishersObserver)?
  private let adapters: AdapterRegistry
  private let directory: PeripheralDirectory
  private let scheduler: any Scheduler
  private var advertisements: [AdvertisingSetID: Advertisement] = [:]
  private var lastNumber: UInt32 = 0

  init(adapters: AdapterRegistry, directory: PeripheralDirectory, scheduler: any Scheduler) {
    self.adapters = adapters
    self.directory = directory
    self.scheduler = scheduler
  }

  func start(_ params: AdvertisingStart.Params, for session: Session, _ reply: Reply<AdvertisingStart.Result>) throws {
    let id = try add(params, on: try adapters.findUsable(params.adapter), for: session, reply)
    reply.afterwards = { [weak self] outcome in self?.decided(outcome, id, for: session) }
  }

  /// Resumes a preserved session's advertisement for its remaining time, as soon as its adapter works.
  func restore(_ stored: RestoredState.Advertisement, for session: Session) throws {
    var params = stored.parameters
    if let ends = stored.ends {
      let left = ends - scheduler.secondsSinceEpoch
      if params.duration != nil { params.duration = left }
      guard params.duration ?? 1 >= Self.durations.lowerBound else { return }
      if let count = params.count {
        let events = left / (params.interval ?? Self.usualInterval)
        guard events >= 1 else { return }
        if events < Double(count) { params.count = Int(events) }
      }
    }
    let id = try add(params, on: try adapters.find(params.adapter), for: session, nil)
    advertisements[id]?.ends = stored.ends
  }

  private static let durations = 0.01...86400
  /// In seconds.
  private static let usualInterval = 0.1

  private func add(
    _ params: AdvertisingStart.Params, on slot: AdapterSlot, for session: Session,
    _ reply: Reply<AdvertisingStart.Result>?
  ) throws -> AdvertisingSetID {
    try session.rules.admit(
      .advertisements, of: session, own: advertisements.values.count { $0.session == session },
      all: advertisements.values.count { $0.session.user == session.user })
    guard (0.02...10.24).contains(params.interval ?? Self.usualInterval) else {
      throw BledError.invalidParameter.error("\"interval\" must be 0.02 to 10.24 seconds")
    }
    guard params.duration.map(Self.durations.contains) ?? true else {
      throw BledError.invalidParameter.error("\"duration\" must be 0.01 to 86400 seconds")
    }
    try admitPlace(on: slot, for: session)
    let target = try params.directedTo.map {
      try directory.target(DeviceReference($0, kind: params.directedToType), on: slot)
    }
    let (parameters, shortenedName) = try params.parameters(
      inBackground: session.isBackground, to: target, on: slot.adapter.information)
    lastNumber += 1
    let id = AdvertisingSetID(lastNumber)
    advertisements[id] = Advertisement(session, slot, params, to: target, shortenedName: shortenedName, reply)
    slot.adapter.setAdvertising(id, parameters)
    observer?.publishersChanged()
    return id
  }

  /// Keeps an adapter's last places for users without one.
  private func admitPlace(on slot: AdapterSlot, for session: Session) throws(BluetoothError) {
    let here = advertisements.values.filter { $0.slot == slot }
    let own = here.count { $0.session.user == session.user }
    let places = AdvertisingRotation(sets: slot.adapter.information.maximumAdvertisingSets).capacity
    guard own > 0, !Limits.hasShare(own: own, all: here.count, of: places) else { return }
    let error = GAPError.advertisingSetsExhausted.error(
      "this user sends \(own) of the \(places) advertisements of \(slot.id); the last places are kept for other users: stop one"
    )
    throw explained(error, slot)
  }

  /// A session moves into the background, where its advertisements are slower and have no name, or returns from there.
  func backgroundChanged(_ session: Session) {
    for id in numbers(where: { $0.session == session }) {
      guard let advertisement = advertisements[id],
        let (parameters, _) = try? advertisement.params.parameters(
          inBackground: session.isBackground, to: advertisement.target, on: advertisement.slot.adapter.information)
      else { continue }
      advertisement.slot.adapter.setAdvertising(id, parameters)
    }
  }

  /// A session's advertisements.
  func restorableAdvertisements(of session: Session) -> [RestoredState.Advertisement] {
    numbers(where: { $0.session == session }).compactMap { id in
      guard let advertisement = advertisements[id] else { return nil }
      return .init(
        advertising: Int(id.value), adapter: advertisement.slot.id, onAir: advertisement.slot.onAir[id] != nil,
        parameters: advertisement.params, ends: advertisement.ends)
    }
  }

  func stop(_ number: Int?, for session: Session) throws {
    guard let number else { return ended(session) }
    guard let id = UInt32(exactly: number).map(AdvertisingSetID.init), advertisements[id]?.session == session else {
      throw BledError.unknownHandle.error("this session has no advertisement \(number)")
    }
    withdraw(id, Self.cancelled)
  }

  /// A session has ended, or stops all its advertisements.
  func ended(_ session: Session) {
    for id in numbers(where: { $0.session == session }) { withdraw(id, Self.cancelled) }
  }

  /// Sends data in a train's subevent, once.
  func send(_ params: AdvertisingSend.Params, for session: Session, _ reply: Reply<Empty>) throws {
    guard let id = UInt32(exactly: params.advertising).map(AdvertisingSetID.init),
      let advertisement = advertisements[id], advertisement.session == session,
      let slots = advertisement.params.periodic?.responses
    else {
      throw BledError.unknownHandle.error(
        "this session has no advertisement \(params.advertising) with \"responses\" of \"periodic\"")
    }
    let data = try SubeventData(params, within: slots)
    if let error = advertisement.slot.unusable { throw error }
    advertisement.slot.adapter.setSubevent(data, of: id) { error in
      if let error { reply.fail(error) } else { reply.succeed(Empty()) }
    }
  }

  /// Devices responded to a train's subevent.
  func received(_ responses: SubeventResponses, of id: AdvertisingSetID, on slot: AdapterSlot) {
    guard let advertisement = advertisements[id], advertisement.slot == slot else { return }
    let (session, lost) = (advertisement.session, advertisement.lostResponses)
    let params = AdvertisingResponses.Params(
      advertising: Int(id.value), responses, time: scheduler.secondsSinceEpoch, lost: lost)
    let line = session.encoded { try RPCEncoding.notification(AdvertisingResponses.self, params) }
    // A slow session is not ended by devices.
    advertisement.lostResponses = session.send(line, as: .value) == .queued ? 0 : lost + 1
  }

  /// The number of a session's advertisement that sends a train on an adapter.
  func train(_ number: Int, of session: Session, on slot: AdapterSlot) throws -> AdvertisingSetID {
    guard let id = UInt32(exactly: number).map(AdvertisingSetID.init), let advertisement = advertisements[id],
      advertisement.session == session, advertisement.slot == slot, advertisement.params.periodic != nil
    else {
      throw BledError.unknownHandle.error(
        "this session has no advertisement \(number) with \"periodic\" on adapter \(slot.id)")
    }
    return id
  }

  /// The users advertising on an adapter.
  func users(on slot: AdapterSlot) -> [UInt32?] {
    numbers { $0.slot == slot }.compactMap { advertisements[$0]?.session.user }
  }

  /// A session's advertisements.
  func advertisements(of session: Session) -> [SessionDescription.Advertisement] {
    numbers { $0.session == session }.compactMap { id in
      guard let advertisement = advertisements[id] else { return nil }
      return .init(
        advertising: Int(id.value), adapter: advertisement.slot.id, onAir: advertisement.slot.onAir[id] != nil)
    }
  }

  /// An adapter reports an advertisement's state.
  func changed(_ id: AdvertisingSetID, _ status: AdvertisingStatus, on slot: AdapterSlot) {
    guard let advertisement = advertisements[id], advertisement.slot == slot else { return }
    let former = slot.onAir[id]
    switch status {
    case .on(let interval, let txPower):
      slot.onAir[id] = interval
      if advertisement.alarm == nil, let duration = advertisement.params.duration {
        advertisement.alarm = scheduler.schedule(after: .seconds(duration)) { [weak self] in self?.end(id, .duration) }
      }
      setEnd(of: advertisement, interval)
      if let reply = advertisement.reply {
        advertisement.reply = nil
        reply.succeed(
          .init(
            advertising: Int(id.value), adapter: slot.id, interval: interval.inSeconds,
            shortenedName: advertisement.shortenedName, txPower: txPower))
      } else if former != interval {
        tell(advertisement, id, onAir: true, interval: interval)
      }
    case .off:
      slot.onAir[id] = nil
      if former != nil { tell(advertisement, id, onAir: false) }
    case .ended(let end): self.end(id, end)
    case .failed(let error):
      let error = explained(error, slot)
      if advertisement.reply == nil { tell(advertisement, id, onAir: false, error) }
      withdraw(id, error)
    }
  }

  /// Records the end of an advertisement that has begun on the air, so it does not begin anew after a restart.
  private func setEnd(of advertisement: Advertisement, _ interval: Duration) {
    let params = advertisement.params
    guard advertisement.ends == nil, let time = params.duration ?? params.count.map({ Double($0) * interval.inSeconds })
    else { return }
    advertisement.ends = scheduler.secondsSinceEpoch + time
    advertisement.session.onChange?(false)
  }

  /// An advertisement has reached its duration or count.
  private func end(_ id: AdvertisingSetID, _ end: AdvertisingEnd) {
    guard let advertisement = advertisements[id] else { return }
    advertisement.session.send(
      AdvertisingChanged.self, .init(advertising: Int(id.value), onAir: false, ended: Word(end)))
    withdraw(id, Self.cancelled)
  }

  /// Advertisements that never were on the air fail with an unusable adapter; the others resume with it.
  func adapterChanged(_ slot: AdapterSlot) {
    guard slot.adapter.state != .on else { return }
    for id in numbers(where: { $0.slot == slot }) {
      if advertisements[id]?.reply == nil {
        changed(id, .off, on: slot)
      } else if let error = slot.unusable {
        withdraw(id, error)
      }
    }
  }

  /// The outcome of an advertisement whose program disconnected before it was on the air.
  private func decided(
    _ outcome: Result<AdvertisingStart.Result, RPCError>, _ id: AdvertisingSetID, for session: Session
  ) {
    let reason: RPCError? = if case .failure(let error) = outcome { error } else { nil }
    session.send(AdvertisingChanged.self, .init(advertising: Int(id.value), onAir: reason == nil, reason: reason))
  }

  private func tell(
    _ advertisement: Advertisement, _ id: AdvertisingSetID, onAir: Bool, interval: Duration? = nil,
    _ reason: BluetoothError? = nil
  ) {
    advertisement.session.send(
      AdvertisingChanged.self,
      .init(
        advertising: Int(id.value), onAir: onAir, interval: interval?.inSeconds,
        reason: reason.map { RPCError($0) }))
  }

  /// Adds the holders of the current advertisements to the error from an adapter without room for more.
  private func explained(_ error: BluetoothError, _ slot: AdapterSlot) -> BluetoothError {
    guard error.domain == .gap, error.code == GAPError.advertisingSetsExhausted.rawValue else { return error }
    var holders: OrderedDictionary<Session, Int> = [:]
    for id in numbers(where: { $0.reply == nil && $0.slot == slot }) {
      if let session = advertisements[id]?.session { holders[session, default: 0] += 1 }
    }
    guard !holders.isEmpty else { return error }
    let names = holders.map { session, count in
      (session.name.isEmpty ? "session \(session.id)" : session.name) + (count > 1 ? " (\(count))" : "")
    }
    return GAPError.advertisingSetsExhausted.error("\(error.message); held by \(names.joined(separator: ", "))")
  }

  private func withdraw(_ id: AdvertisingSetID, _ error: BluetoothError) {
    guard let advertisement = advertisements.removeValue(forKey: id) else { return }
    advertisement.alarm?.cancel()
    advertisement.slot.onAir[id] = nil
    advertisement.slot.adapter.setAdvertising(id, nil)
    advertisement.reply?.fail(error)
    observer?.publishersChanged()
  }

  private func numbers(where condition: (Advertisement) -> Bool) -> [AdvertisingSetID] {
    advertisements.filter { condition($0.value) }.keys.sorted { $0.value < $1.value }
  }

  private static var cancelled: BluetoothError { GAPError.cancelled.error("the advertisement was stopped") }
}
