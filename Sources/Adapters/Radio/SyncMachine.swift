import Adapter
import Bluetooth
import HCI
import OrderedCollections

/// Keeps the controller synchronised with the wanted trains of periodic advertisements. It searches for one train at a
/// time, and only while scanning, which is the owner's business (Core 5.4, Vol 4, Part E, 7.8.67).
///
/// | Train is | Input                                 | Outcome                                                    |
/// |----------|---------------------------------------|------------------------------------------------------------|
/// | waiting  | nothing is being looked for           | Create Sync; sought                                        |
/// | sought   | it is established                     | on; reports `synchronised`                                 |
/// | sought   | ten seconds of scan, others wait      | Create Sync Cancel; waiting, behind the others             |
/// | sought   | not wanted                            | Create Sync Cancel; gone                                   |
/// | sought   | refused, or not established           | waiting; again after a back-off                            |
/// | any      | a device transferred it over its link | on; reports `trainReceived`, and `synchronised` if it was sought |
/// | on       | a report                              | reported when its fragments are complete                   |
/// | on       | a report that nothing was received    | its fragments are dropped                                  |
/// | on       | lost, or its handle belongs to a train transferred by a device | reports `lost`; waiting                                    |
/// | on       | not wanted                            | Terminate Sync; gone                                       |
/// | on       | `doubt`                               | reports `lost`; Terminate Sync; waiting                    |
/// | any      | the controller has no room, or cannot | reports `failed`; gone                                     |
///
/// The kernel unmasks train events only for controllers with isochronous channels, and a train's loss for none: its own
/// events and these are unmasked before the first search.
struct SyncMachine {
  private enum Phase: Hashable {
    case waiting
    case sought
    case on(UInt16)
    /// The train has to be terminated before it is sought again.
    case stale(UInt16)
  }

  private struct Entry {
    var wanted: SyncParameters?
    var phase = Phase.waiting
    var backOff = BackOff(first: .seconds(1), limit: .seconds(30))
    /// The pieces of an incomplete packet, and its place.
    var fragments: [UInt8] = []
    var place: SubeventPlace?
    var hasSubevents = false
  }

  private enum Step: Hashable {
    case unmask
    case create(PeriodicTrain)
    case cancel
    case terminate(UInt16)
  }

  private static let turnLength = Duration.seconds(10)
  private static let longest = 1650
  /// Maximum trains from an earlier owner terminated at a time. Another one follows when its next packet reveals it.
  static let maximumStrays = 16

  private let profile: ControllerProfile
  private var entries: OrderedDictionary<PeriodicTrain, Entry> = [:]
  private var step: Step?
  private var isUnmasked = false
  /// The turn of the present search. A controller may have to scan in turns with advertising, or not beside a link:
  /// that does not shorten the turn.
  private var turn: Countdown?
  private var isCancelled = false
  /// True if the controller searches for a train no longer wanted.
  private var isAbandoned = false
  /// True if it is unknown that the search still runs.
  private var isDoubtful = false
  /// Handles left by an earlier owner.
  private var strays: Set<UInt16> = []

  init(profile: ControllerProfile) { self.profile = profile }

  /// The trains wanted, or still synchronised.
  var trains: [PeriodicTrain] { Array(entries.keys) }

  /// True if nothing is wanted and the controller has no train of ours.
  var isQuiet: Bool { entries.isEmpty && step == nil && !isAbandoned }

  /// Sets or withdraws (nil) a wanted train.
  mutating func want(_ train: PeriodicTrain, _ parameters: SyncParameters?) -> [RadioAction] {
    guard let parameters else {
      entries[train]?.wanted = nil
      if entries[train]?.phase == .waiting { entries[train] = nil }
      return []
    }
    guard profile.canSynchronise else {
      return [.periodic(train, .failed(Self.unsupported))]
    }
    // A new owner has had no report about it.
    if let entry = entries[train], entry.wanted == nil, case .on(let handle) = entry.phase {
      entries[train]?.phase = .stale(handle)
    }
    entries[train, default: Entry()].wanted = parameters
    return []
  }

  /// The controller scans, or not.
  mutating func scanning(_ isOn: Bool, at now: Instant) { turn?.run(isOn, at: now) }

  func deadline(after now: Instant) -> Instant? {
    let waiting = entries.values.filter { $0.phase == .waiting }
    let turnEnd = waiting.isEmpty || isCancelled ? nil : turn?.end.flatMap { $0 > now ? $0 : nil }
    return (waiting.map { $0.backOff.deadline(after: now) } + [turnEnd]).compactMap { $0 }.min()
  }

  mutating func nextCommand(at now: Instant) -> CommandPacket? {
    guard step == nil else { return nil }
    for entry in entries.values {
      switch entry.phase {
      case .on(let handle) where entry.wanted == nil: return terminate(handle)
      case .stale(let handle): return terminate(handle)
      case .on, .waiting, .sought: break
      }
    }
    if let stray = strays.first { return terminate(stray) }
    let sought = entries.values.first { $0.phase == .sought }
    if sought != nil || isAbandoned {
      let mustYield = turn?.isOver(at: now) == true && entries.contains { isDue($0.value, at: now) }
      guard !isCancelled, isDoubtful || sought?.wanted == nil || mustYield else { return nil }
      step = .cancel
      isCancelled = true
      return CommandPacket(LEPeriodicAdvertisingCreateSyncCancel())
    }
    guard let (train, entry) = entries.first(where: { isDue($0.value, at: now) }), let wanted = entry.wanted else {
      return nil
    }
    guard isUnmasked else {
      step = .unmask
      return CommandPacket(LESetEventMask { $0.mask = profile.eventMask })
    }
    step = .create(train)
    return CommandPacket(
      LEPeriodicAdvertisingCreateSync {
        $0.sid = train.sid
        $0.advertiser = HCIAddress(train.address)
        $0.timeout = TimeUnits.syncTimeout(wanted.timeout)
      })
  }

  private func isDue(_ entry: Entry, at now: Instant) -> Bool {
    entry.phase == .waiting && entry.wanted != nil && entry.backOff.allows(at: now)
  }

  private mutating func terminate(_ handle: UInt16) -> CommandPacket {
    step = .terminate(handle)
    return CommandPacket(LEPeriodicAdvertisingTerminateSync { $0.handle = handle })
  }

  /// Takes the answer to the last command of `nextCommand`.
  mutating func answered(_ status: HCIStatus, at now: Instant) -> [RadioAction] {
    guard let step else { return [] }
    self.step = nil
    switch step {
    // The controller refuses a mask with unknown bits: then the kernel's mask remains.
    case .unmask: isUnmasked = true
    case .create(let train): return created(train, status, at: now)
    case .cancel:
      isDoubtful = false
      // There is no search: its end was missed.
      if !status.isSuccess { return ended(status, at: now) }
    case .terminate(let handle):
      strays.remove(handle)
      guard let train = train(of: handle) else { break }
      entries[train]?.phase = .waiting
      entries[train]?.fragments = []
      if entries[train]?.wanted == nil { entries[train] = nil }
    }
    return []
  }

  private mutating func created(_ train: PeriodicTrain, _ status: HCIStatus, at now: Instant) -> [RadioAction] {
    isCancelled = false
    switch status.code {
    case .success where entries[train]?.phase == .waiting:
      entries[train]?.phase = .sought
      turn = Countdown(Self.turnLength)
      return []
    case .success:
      isAbandoned = true
      return []
    case _ where entries[train]?.phase != .waiting: return []
    case .memoryCapacityExceeded, .connectionLimitExceeded, .rejectedLimitedResources:
      let count = entries.values.count { if case .on = $0.phase { true } else { false } }
      return fail(
        train, GAPError.notSupported.error("this adapter follows \(count) trains at most: stop following another one"))
    case .unknownHCICommand: return fail(train, Self.unsupported)
    default:
      entries[train]?.backOff.fail(at: now)
      if entries[train]?.wanted == nil { entries[train] = nil }
      return [.log("the controller refused to look for a train: \(status)")]
    }
  }

  private mutating func fail(_ train: PeriodicTrain, _ error: BluetoothError) -> [RadioAction] {
    let isWanted = entries.removeValue(forKey: train)?.wanted != nil
    return isWanted ? [.periodic(train, .failed(error))] : []
  }

  // MARK: - Events

  /// Takes an event.
  /// - Parameter takesTrains: true if trains transferred by devices may be followed.
  mutating func handle(_ event: HCIEvent, takesTrains: Bool, at now: Instant) -> [RadioAction] {
    switch event {
    case .lePeriodicAdvertisingSyncEstablished(let event): established(event, nil, at: now)
    case .lePeriodicAdvertisingSyncEstablishedV2(let event):
      established(event.established, TrainSubevents(event.subevents), at: now)
    case .lePeriodicAdvertisingReport(let event): received(LEPeriodicAdvertisingReportV2(event))
    case .lePeriodicAdvertisingReportV2(let event): received(event)
    case .lePeriodicAdvertisingSyncLost(let event): lost(event.handle)
    case .lePeriodicAdvertisingSyncTransferReceived(let event): transferred(event, nil, isTaken: takesTrains)
    case .lePeriodicAdvertisingSyncTransferReceivedV2(let event):
      transferred(event.received, TrainSubevents(event.subevents), isTaken: takesTrains)
    default: []
    }
  }

  /// The controller has found the sought train, or has given up.
  private mutating func established(
    _ event: LEPeriodicAdvertisingSyncEstablished, _ subevents: TrainSubevents?, at now: Instant
  ) -> [RadioAction] {
    guard event.status.isSuccess else { return ended(event.status, at: now) }
    guard let (train, entry) = entries.first(where: { $0.value.phase == .sought }) else {
      if isAbandoned, self.train(of: event.handle) == nil { stray(event.handle) }
      isAbandoned = false
      return []
    }
    turn = nil
    let ended = lost(event.handle)
    begin(train, event.handle, subevents)
    guard entry.wanted != nil else { return ended }
    let interval = TimeUnits.connectionUnits(event.interval)
    return ended + [
      .periodic(train, .synchronised(interval: interval, phy: PHY(rawValue: event.phy), subevents: subevents))
    ]
  }

  private mutating func begin(_ train: PeriodicTrain, _ handle: UInt16, _ subevents: TrainSubevents?) {
    entries[train, default: Entry()].phase = .on(handle)
    entries[train]?.fragments = []
    entries[train]?.hasSubevents = subevents != nil
    entries[train]?.backOff.reset()
  }

  /// No train is sought any longer. The former one waits behind the others.
  private mutating func ended(_ status: HCIStatus, at now: Instant) -> [RadioAction] {
    isAbandoned = false
    guard let train = entries.first(where: { $0.value.phase == .sought })?.key,
      var entry = entries.removeValue(forKey: train)
    else { return [] }
    turn = nil
    guard entry.wanted != nil else { return [] }
    entry.phase = .waiting
    if !isCancelled { entry.backOff.fail(at: now) }
    entries[train] = entry
    return []
  }

  /// A link's device transferred a train.
  private mutating func transferred(
    _ event: LEPeriodicAdvertisingSyncTransferReceived, _ subevents: TrainSubevents?, isTaken: Bool
  ) -> [RadioAction] {
    guard event.status.isSuccess else { return [.trainNotReceived(handle: event.connectionHandle, event.status)] }
    guard isTaken, let advertiser = event.advertiser.device else {
      stray(event.handle)
      return []
    }
    let train = PeriodicTrain(address: advertiser, sid: event.sid)
    var received = ReceivedTrain(
      train: train, interval: TimeUnits.connectionUnits(event.interval), phy: PHY(rawValue: event.phy),
      serviceData: event.serviceData)
    received.subevents = subevents
    // A controller may name any number of trains, but not under one handle.
    let other = self.train(of: event.handle)
    let ended = other == nil || other == train ? [] : lost(event.handle)
    var isSought = false
    switch entries[train]?.phase {
    case .on(let handle), .stale(let handle): if handle != event.handle { stray(handle) }
    case .sought: (isSought, isAbandoned, turn) = (true, true, nil)
    case .waiting: isSought = true
    case nil: break
    }
    isSought = isSought && entries[train]?.wanted != nil
    strays.remove(event.handle)
    begin(train, event.handle, subevents)
    if entries[train]?.wanted == nil { entries[train]?.wanted = .following(interval: received.interval) }
    let synchronised = PeriodicEvent.synchronised(
      interval: received.interval, phy: received.phy, subevents: subevents)
    return ended + [.trainReceived(handle: event.connectionHandle, received)]
      + (isSought ? [.periodic(train, synchronised)] : [])
  }

  /// The handle of a wanted and followed train.
  func handle(of train: PeriodicTrain) -> UInt16? {
    guard let entry = entries[train], entry.wanted != nil, case .on(let handle) = entry.phase else { return nil }
    return handle
  }

  /// A packet, or a part of it, was received.
  private mutating func received(_ event: LEPeriodicAdvertisingReportV2) -> [RadioAction] {
    guard let train = train(of: event.handle), var entry = entries[train] else {
      stray(event.handle)
      return []
    }
    guard case .on = entry.phase, entry.wanted != nil else { return [] }
    let place = entry.hasSubevents ? SubeventPlace(event: event.event, subevent: event.number) : nil
    if place != entry.place { entry.fragments = [] }
    entry.place = place
    entry.fragments.append(contentsOf: event.data.prefix(Self.longest - entry.fragments.count))
    defer { entries[train] = entry }
    guard event.dataStatus != 1 else { return [] }
    guard event.dataStatus != 0xFF else {
      entry.fragments = []
      return []
    }
    let packet = PeriodicPacket(
      data: entry.fragments, rssi: Self.power(event.rssi), txPower: Self.power(event.txPower),
      isTruncated: event.dataStatus == 2, place: place)
    entry.fragments = []
    return [.periodic(train, .received(packet))]
  }

  /// A train is none of ours: it is terminated.
  private mutating func stray(_ handle: UInt16) {
    if strays.count < Self.maximumStrays { strays.insert(handle) }
  }

  /// No packet was received for too long.
  private mutating func lost(_ handle: UInt16) -> [RadioAction] {
    strays.remove(handle)
    guard let train = train(of: handle), let entry = entries[train] else { return [] }
    entries[train]?.phase = .waiting
    entries[train]?.fragments = []
    guard entry.wanted != nil else {
      entries[train] = nil
      return []
    }
    if case .on = entry.phase { return [.periodic(train, .lost)] }
    return []
  }

  /// The controller's trains are not known.
  mutating func doubt() -> [RadioAction] {
    var actions: [RadioAction] = []
    for (train, entry) in entries {
      switch entry.phase {
      case .on(let handle):
        entries[train]?.phase = .stale(handle)
        if entry.wanted != nil { actions.append(.periodic(train, .lost)) }
      // If it was found meanwhile, that cannot be cancelled, and its reports contain the handle.
      case .sought: (isDoubtful, isCancelled) = (true, false)
      case .waiting, .stale: break
      }
    }
    if isAbandoned { isCancelled = false }
    return actions
  }

  /// The controller was reset: all its activities have ended.
  mutating func wasReset() -> [RadioAction] {
    step = nil
    isUnmasked = false
    turn = nil
    (isCancelled, isAbandoned, isDoubtful) = (false, false, false)
    strays = []
    var actions: [RadioAction] = []
    for (train, entry) in entries {
      entries[train]?.phase = .waiting
      guard entry.wanted != nil else {
        entries[train] = nil
        continue
      }
      if case .on = entry.phase { actions.append(.periodic(train, .lost)) }
    }
    return actions
  }

  private func train(of handle: UInt16) -> PeriodicTrain? {
    entries.first { $0.value.phase == .on(handle) || $0.value.phase == .stale(handle) }?.key
  }

  /// In dBm; 127 where it is not known.
  private static func power(_ value: Int8) -> Int? { value == 127 ? nil : Int(value) }

  private static var unsupported: BluetoothError {
    GAPError.notSupported.error(
      "this adapter cannot follow periodic advertising: it requires a Bluetooth 5.0 controller with periodic scanning")
  }
}
