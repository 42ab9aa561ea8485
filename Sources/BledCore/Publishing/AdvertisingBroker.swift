import Adapter
import BledRPC
import Bluetooth
import Collections

/// The advertisements of all sessions.
///
/// | State   | Input                        | What happens                                       |
/// |---------|------------------------------|----------------------------------------------------|
/// | (none)  | start                        | the adapter is asked → waiting                     |
/// | (none)  | revive                       | the adapter is asked → off                         |
/// | waiting | on the air                   | answered → on the air                              |
/// | waiting | failed, or the adapter left  | refused, taken back → (none)                       |
/// | waiting | stopped, session ended       | refused, taken back → (none)                       |
/// | on the air, off | off, on              | the session is told → off, on the air              |
/// | on the air | on, another interval      | the session is told: more or fewer share the air   |
/// | on the air, off | failed               | the session is told the reason, taken back → (none) |
/// | on the air, off | stopped, session ended | taken back → (none)                              |
final class AdvertisingBroker {
  private enum State {
    case waiting(Reply<AdvertisingStart.Result>)
    case onAir(interval: Duration)
    case off
  }

  private final class Advertisement {
    let session: Session
    let slot: AdapterSlot
    let params: AdvertisingStart.Params
    let shortenedName: String?
    var state: State

    init(
      _ session: Session, _ slot: AdapterSlot, _ params: AdvertisingStart.Params, shortenedName: String?,
      _ state: State
    ) {
      self.session = session
      self.slot = slot
      self.params = params
      self.shortenedName = shortenedName
      self.state = state
    }
  }

  private let adapters: AdapterRegistry
  private var advertisements: [AdvertisingSetID: Advertisement] = [:]
  private var lastNumber: UInt32 = 0

  init(adapters: AdapterRegistry) { self.adapters = adapters }

  func start(_ params: AdvertisingStart.Params, for session: Session, _ reply: Reply<AdvertisingStart.Result>) throws {
    let id = try add(params, on: try adapters.findUsable(params.adapter), for: session, .waiting(reply))
    reply.afterwards = { [weak self] outcome in self?.decided(outcome, id, for: session) }
  }

  /// Advertises what a session of before did, as soon as its adapter works.
  func revive(_ params: AdvertisingStart.Params, for session: Session) throws {
    _ = try add(params, on: try adapters.find(params.adapter), for: session, .off)
  }

  private func add(
    _ params: AdvertisingStart.Params, on slot: AdapterSlot, for session: Session, _ state: State
  ) throws -> AdvertisingSetID {
    try session.rules.admit(
      .advertisements, of: session, own: advertisements.values.count { $0.session == session },
      all: advertisements.values.count { $0.session.user == session.user })
    guard (0.02...10.24).contains(params.interval ?? 0.1) else {
      throw BledError.invalidParameter.error("\"interval\" must be 0.02 to 10.24 seconds")
    }
    let (parameters, shortenedName) = try params.parameters(inBackground: session.isBackground)
    lastNumber += 1
    let id = AdvertisingSetID(lastNumber)
    advertisements[id] = Advertisement(session, slot, params, shortenedName: shortenedName, state)
    slot.adapter.setAdvertising(id, parameters)
    return id
  }

  /// A session goes into the background, where its advertisements are slower and have no name, or comes back from there.
  func backgroundChanged(_ session: Session) {
    for id in numbers(where: { $0.session == session }) {
      guard let advertisement = advertisements[id],
        let (parameters, _) = try? advertisement.params.parameters(inBackground: session.isBackground)
      else { continue }
      advertisement.slot.adapter.setAdvertising(id, parameters)
    }
  }

  /// The advertisements of a session.
  func held(by session: Session) -> [RestoredState.Advertisement] {
    numbers(where: { $0.session == session }).compactMap { id in
      guard let advertisement = advertisements[id] else { return nil }
      let onAir = if case .onAir = advertisement.state { true } else { false }
      return .init(
        advertising: Int(id.value), adapter: advertisement.slot.id, onAir: onAir, parameters: advertisement.params)
    }
  }

  func stop(_ number: Int?, for session: Session) throws {
    guard let number else { return ended(session) }
    guard let id = UInt32(exactly: number).map(AdvertisingSetID.init), advertisements[id]?.session == session else {
      throw BledError.unknownHandle.error("this session has no advertisement \(number)")
    }
    takeBack(id, Self.cancelled)
  }

  /// A session has ended, or wants to advertise nothing.
  func ended(_ session: Session) {
    for id in numbers(where: { $0.session == session }) { takeBack(id, Self.cancelled) }
  }

  /// The advertisements of a session.
  func advertisements(of session: Session) -> [SessionDescription.Advertisement] {
    numbers { $0.session == session }.compactMap { id in
      guard let advertisement = advertisements[id] else { return nil }
      return .init(
        advertising: Int(id.value), adapter: advertisement.slot.id, onAir: advertisement.slot.onAir.contains(id))
    }
  }

  /// An adapter tells what became of an advertisement.
  func changed(_ id: AdvertisingSetID, _ status: AdvertisingStatus, on slot: AdapterSlot) {
    if case .on = status { slot.onAir.insert(id) } else { slot.onAir.remove(id) }
    guard let advertisement = advertisements[id], advertisement.slot == slot else { return }
    switch (advertisement.state, status) {
    case (.waiting(let reply), .on(let interval)):
      advertisement.state = .onAir(interval: interval)
      reply.succeed(
        .init(
          advertising: Int(id.value), adapter: slot.id, interval: interval.inSeconds,
          shortenedName: advertisement.shortenedName))
    case (.waiting, .failed(let error)):
      takeBack(id, explained(error, slot))
    case (.onAir(let former), .on(let interval)) where former == interval: break
    case (.off, .on(let interval)), (.onAir, .on(let interval)):
      advertisement.state = .onAir(interval: interval)
      tell(advertisement, id, onAir: true, interval: interval)
    case (.onAir, .off):
      advertisement.state = .off
      tell(advertisement, id, onAir: false)
    case (_, .failed(let error)):
      let error = explained(error, slot)
      tell(advertisement, id, onAir: false, error)
      takeBack(id, error)
    case (.waiting, .off), (.off, .off):
      break
    }
  }

  /// Those that never were on the air fail with an adapter that cannot be used; the others come back with it.
  func adapterChanged(_ slot: AdapterSlot) {
    guard slot.adapter.state != .on else { return }
    for id in numbers(where: { $0.slot == slot }) {
      guard let advertisement = advertisements[id] else { continue }
      switch advertisement.state {
      case .waiting: if let error = slot.unusable { takeBack(id, error) }
      case .onAir: changed(id, .off, on: slot)
      case .off: break
      }
    }
    slot.onAir = []
  }

  /// What became of one whose program went away before it was on the air.
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

  /// Adds to the error of an adapter that sends no more advertisements who has those that it sends.
  private func explained(_ error: BluetoothError, _ slot: AdapterSlot) -> BluetoothError {
    guard error.domain == .gap, error.code == GAPError.advertisingSetsExhausted.rawValue else { return error }
    var holders: OrderedDictionary<Session, Int> = [:]
    for id in numbers(where: { if case .waiting = $0.state { false } else { $0.slot == slot } }) {
      if let session = advertisements[id]?.session { holders[session, default: 0] += 1 }
    }
    guard !holders.isEmpty else { return error }
    let names = holders.map { session, count in
      (session.name.isEmpty ? "session \(session.id)" : session.name) + (count > 1 ? " (\(count))" : "")
    }
    return GAPError.advertisingSetsExhausted.error("\(error.message) Held by: \(names.joined(separator: ", ")).")
  }

  private func takeBack(_ id: AdvertisingSetID, _ error: BluetoothError) {
    guard let advertisement = advertisements.removeValue(forKey: id) else { return }
    advertisement.slot.onAir.remove(id)
    advertisement.slot.adapter.setAdvertising(id, nil)
    if case .waiting(let reply) = advertisement.state { reply.fail(error) }
  }

  private func numbers(where condition: (Advertisement) -> Bool) -> [AdvertisingSetID] {
    advertisements.filter { condition($0.value) }.keys.sorted { $0.value < $1.value }
  }

  private static var cancelled: BluetoothError { GAPError.cancelled.error("the advertisement was taken back") }
}
