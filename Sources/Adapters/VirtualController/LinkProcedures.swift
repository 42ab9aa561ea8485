import Bluetooth
import HCI

/// The procedures of one end of a link (Core 5.4, Vol 6, Part B, 5.1 and 5.3).
///
/// | State        | Input                              | Actions                                                      |
/// |--------------|------------------------------------|--------------------------------------------------------------|
/// | idle         | the host wants a procedure         | `send` its request: running                                  |
/// | running      | the host wants another one         | waits                                                        |
/// | running      | the answer, or its instant         | `report`; the next one begins                                |
/// | any          | the other side's request           | `send` the answer, or `report` a question to the host        |
/// | running, central | a request of the peripheral that excludes one of ours | `send` a rejection: 0x23 for the same kind, 0x2A for another |
/// | any          | a rejection                        | `report` it                                                  |
/// | any          | an instant that has passed         | `end` 0x28                                                   |
/// | running, central | the acknowledgement of a subrating | `report` it                                             |
/// | encrypting   | data                               | wait: `isPaused`                                             |
///
/// Times are numbers of connection events.
struct LinkProcedures {
  enum Action: Hashable {
    case send(ControlPDU)
    case report(HCIEvent)
    /// The other side has transferred a train.
    case follow(TrainInformation, serviceData: UInt16)
    /// The link ends for this side at once.
    case end(HCIErrorCode)
    /// The link is to be ended with the other side's knowledge.
    case terminate(HCIErrorCode)
  }

  let role: LinkRole
  let model: ControllerModel
  let handle: ConnectionHandle
  private let asksHost: Bool
  private var preferred: (tx: UInt8, rx: UInt8)
  /// The present PHYs of packets to and from the other side.
  private(set) var phys: (tx: UInt8, rx: UInt8)
  /// The longest packets.
  private(set) var lengths = LinkLengths()
  var times: LinkTimes
  /// Its used connection events.
  var rates = LinkRates()
  let features: ControllerFeatures
  /// The other side's features, as far as it has sent them.
  private(set) var theirs = ControllerFeatures()
  /// True once it has sent its first 64.
  private(set) var knowsFeatures = false
  /// The limits for requests of the peripheral.
  var acceptable: AcceptableRates

  var running: Procedure?
  private var waiting: [Procedure] = []
  /// The other side's procedure that needs the host, or an instant.
  var remote: Procedure.Kind?
  var change: (change: LinkChange, instant: UInt16)?
  private var knowsVersion = false
  private var encryption: LinkEncryption

  /// - Parameters:
  ///   - preferred: the PHYs that the host prefers, as masks.
  ///   - phy: that of the advertisement, by HCI's number, on which the link begins.
  ///   - asksHost: true if the host decides about the other side's parameters.
  ///   - features: those of this side, with those of its host.
  init(
    _ role: LinkRole, _ handle: ConnectionHandle, _ model: ControllerModel, _ times: LinkTimes,
    on phy: PHY = .le1M, preferred: (tx: UInt8, rx: UInt8) = (7, 7), asksHost: Bool = false,
    features: ControllerFeatures? = nil, acceptable: AcceptableRates = AcceptableRates()
  ) {
    (self.role, self.handle, self.model, self.times) = (role, handle, model, times)
    phys = (phy.rawValue, phy.rawValue)
    (self.preferred, self.asksHost) = (preferred, asksHost)
    self.features = features ?? ControllerFeatures(first: model.features, more: model.moreFeatures)
    self.acceptable = acceptable
    encryption = LinkEncryption(role, handle)
  }

  /// True while data wait for encryption to begin.
  var isPaused: Bool { encryption.isPaused }
  /// True if anything is to be answered, or to change.
  var isBusy: Bool { running != nil || remote != nil || change != nil || isPaused }
  /// True while an answer of the other side is due.
  var isRunning: Bool { running != nil }

  // MARK: - The host

  mutating func begin(_ procedure: Procedure, at event: UInt16) -> [Action] {
    waiting.append(procedure)
    return next(at: event)
  }

  private mutating func next(at event: UInt16) -> [Action] {
    guard running == nil, !isPaused, let first = waiting.first else { return [] }
    // The central's own change waits for the peripheral's that it has begun to answer.
    if first.kind.excludesOthers, let remote, remote.excludesOthers { return [] }
    waiting.removeFirst()
    running = first
    return start(first, at: event)
  }

  private mutating func start(_ procedure: Procedure, at event: UInt16) -> [Action] {
    switch procedure {
    case .features: return [.send(.features(features.first, isRequest: true))]
    case .moreFeatures: return [.send(.moreFeatures(features.more, isRequest: true))]
    case .version:
      if knowsVersion { return finish(.version, at: event, version(.success)) }
      return [.send(.version(isRequest: true))]
    case .length(let tx):
      lengths.tx = min(lengths.tx, tx)
      return [.send(.length(LinkLengths(tx: min(tx, model.longestPacket), rx: model.longestPacket), isRequest: true))]
    case .phy(let tx, let rx):
      preferred = (tx, rx)
      return [.send(.phys(tx: tx & model.phys, rx: rx & model.phys, isRequest: true))]
    case .parameters(let times, let minimum):
      if role == .central { return update(times, at: event) }
      guard model.features.contains(.parametersRequest) else {
        return finish(.parameters, at: event, updated(.unsupportedRemoteFeature))
      }
      return [.send(.parameters(times, minimum: minimum))]
    case .subrate(let wanted):
      guard canSubrate else { return finish(.subrate, at: event, subrated(.unsupportedRemoteFeature)) }
      return role == .central ? subrate(wanted, at: event) : [.send(.subrateRequest(wanted))]
    case .rate(let wanted): return role == .central ? change(to: wanted, at: event) : [.send(.rateRequest(wanted))]
    case .encryption(let key, let random, let diversifier):
      return encryption.begin(key, random: random, diversifier: diversifier)
    }
  }

  /// The running procedure has ended.
  private mutating func finish(_ kind: Procedure.Kind, at event: UInt16, _ report: HCIEvent?) -> [Action] {
    guard running?.kind == kind else { return [] }
    running = nil
    return (report.map { [.report($0)] } ?? []) + next(at: event)
  }

  /// The host replies about the other side's parameters.
  mutating func replied(_ times: LinkTimes, at event: UInt16) throws(Refusal) -> [Action] {
    guard remote == .parameters, change == nil else { throw Refusal(.commandDisallowed) }
    return update(times, at: event)
  }

  mutating func refused(_ reason: HCIErrorCode, at event: UInt16) throws(Refusal) -> [Action] {
    guard remote == .parameters, change == nil else { throw Refusal(.commandDisallowed) }
    remote = nil
    return [.send(.reject(.parameters, reason))] + next(at: event)
  }

  /// The host gives a key, or has none.
  mutating func keyed(_ key: [UInt8]?, at event: UInt16) throws(Refusal) -> [Action] {
    let actions = try encryption.keyed(key)
    return isPaused ? actions : actions + next(at: event)
  }

  // MARK: - The other side

  mutating func receive(_ packet: ControlPDU, at event: UInt16) -> [Action] {
    switch packet {
    case .features(let theirs, let isRequest):
      (self.theirs.first, knowsFeatures) = (theirs, true)
      if isRequest { return [.send(.features(features.first, isRequest: false))] }
      return finish(
        .features, at: event,
        .leReadRemoteFeaturesComplete(
          LEReadRemoteFeaturesComplete { ($0.handle, $0.features) = (handle, theirs) }))
    case .moreFeatures(let theirs, let isRequest):
      self.theirs.more = theirs
      if isRequest { return [.send(.moreFeatures(features.more, isRequest: false))] }
      return finish(
        .moreFeatures, at: event,
        .leReadAllRemoteFeaturesComplete(
          LEReadAllRemoteFeaturesComplete {
            ($0.handle, $0.features, $0.more) = (handle, self.theirs.first, theirs)
            ($0.lastPage, $0.lastValidPage) = (1, 1)
          }))
    case .version(let isRequest):
      let answer: [Action] =
        isRequest && !knowsVersion && running != .version ? [.send(.version(isRequest: false))] : []
      knowsVersion = true
      return answer + finish(.version, at: event, version(.success))
    case .length(let theirs, let isRequest):
      let ours = LinkLengths(tx: max(27, model.longestPacket), rx: model.longestPacket)
      let answer: [Action] = isRequest ? [.send(.length(ours, isRequest: false))] : []
      return answer + adopt(theirs) + finish(.length, at: event, nil)
    case .phys, .phyUpdate: return receive(phys: packet, at: event)
    case .parameters, .connectionUpdate: return receive(times: packet, at: event)
    case .subrateRequest, .subrate, .rateRequest, .rate: return receive(rates: packet, at: event)
    case .reject(let kind, let reason): return rejected(kind, reason, at: event)
    case .periodicSync(let train, let serviceData): return [.follow(train, serviceData: serviceData)]
    case .terminate(let reason): return [.end(reason.code ?? .remoteUserTerminatedConnection)]
    default:
      let wasPaused = isPaused
      let actions = encryption.receive(packet)
      guard wasPaused, !isPaused else { return actions }
      if running?.kind == .encryption { running = nil }
      return actions + next(at: event)
    }
  }

  private mutating func adopt(_ theirs: LinkLengths) -> [Action] {
    var wanted = model.longestPacket
    if case .length(let tx) = running { wanted = min(tx, wanted) }
    let new = LinkLengths(tx: min(wanted, theirs.rx), rx: min(model.longestPacket, theirs.tx))
    guard new != lengths else { return [] }
    lengths = new
    return [
      .report(
        .leDataLengthChange(
          LEDataLengthChange {
            ($0.handle, $0.maximumTxOctets, $0.maximumRxOctets) = (handle, new.tx, new.rx)
            ($0.maximumTxTime, $0.maximumRxTime) = (new.tx * 8 + 112, new.rx * 8 + 112)
          }))
    ]
  }

  /// The answer to a request that excludes ours; nil if it excludes none.
  func collision(_ kind: Procedure.Kind) -> [Action]? {
    guard role == .central, let own = running?.kind, own.excludesOthers else { return nil }
    let reason: HCIErrorCode = own == kind ? .lmpErrorTransactionCollision : .differentTransactionCollision
    return [.send(.reject(kind, reason))]
  }

  private mutating func rejected(_ kind: Procedure.Kind, _ reason: HCIErrorCode, at event: UInt16) -> [Action] {
    guard running?.kind == kind else { return [] }
    switch kind {
    case .parameters: return finish(kind, at: event, updated(reason))
    case .phy: return finish(kind, at: event, switched(reason))
    case .subrate: return finish(kind, at: event, subrated(reason))
    case .rate: return finish(kind, at: event, rated(reason))
    case .encryption: return finish(kind, at: event, encryption.rejected(reason))
    case .features, .moreFeatures, .version, .length: return finish(kind, at: event, nil)
    }
  }

  private func version(_ status: HCIErrorCode) -> HCIEvent {
    .readRemoteVersionInformationComplete(
      ReadRemoteVersionInformationComplete {
        ($0.status, $0.handle, $0.version, $0.companyIdentifier) = (HCIStatus(status), handle, 13, 0xFFFF)
      })
  }
}

// MARK: - Instants

extension LinkProcedures {
  /// The instant of a change that begins now.
  func instant(after event: UInt16) -> UInt16 {
    event &+ (model.instantDistance &+ times.latency) &* rates.factor
  }

  private static func hasPassed(_ instant: UInt16, at event: UInt16) -> Bool { instant &- event >= 0x7FFF }

  /// The central changes the times.
  private mutating func update(_ new: LinkTimes, at event: UInt16) -> [Action] {
    let instant = instant(after: event)
    change = (.times(new), instant)
    return [.send(.connectionUpdate(new, instant: instant))]
  }

  private mutating func receive(times packet: ControlPDU, at event: UInt16) -> [Action] {
    switch packet {
    case .parameters(let wanted, let minimum):
      if let collision = collision(.parameters) { return collision }
      guard model.features.contains(.parametersRequest) else {
        return [.send(.reject(.parameters, .unsupportedRemoteFeature))]
      }
      remote = .parameters
      guard asksHost else {
        return update(LinkTimes(interval: minimum, latency: wanted.latency, timeout: wanted.timeout), at: event)
      }
      return [
        .report(
          .leRemoteConnectionParameterRequest(
            LERemoteConnectionParameterRequest {
              ($0.handle, $0.intervalMin, $0.intervalMax) = (handle, minimum, wanted.wholeInterval)
              ($0.latency, $0.supervisionTimeout) = (wanted.latency, wanted.timeout)
            }))
      ]
    case .connectionUpdate(let new, let instant): return expect(.times(new), at: instant, now: event)
    default: return []
    }
  }

  private mutating func receive(phys packet: ControlPDU, at event: UInt16) -> [Action] {
    switch packet {
    case .phys(let tx, let rx, true):
      if let collision = collision(.phy) { return collision }
      guard role == .central else {
        remote = .phy
        return [.send(.phys(tx: preferred.tx & model.phys, rx: preferred.rx & model.phys, isRequest: false))]
      }
      remote = .phy
      return updatePHYs(tx, rx, at: event)
    case .phys(let tx, let rx, false): return updatePHYs(tx, rx, at: event)
    case .phyUpdate(let central, let peripheral, let instant):
      return expect(.phys(central: central, peripheral: peripheral), at: instant, now: event)
    default: return []
    }
  }

  /// The central chooses PHYs: the fastest that both sides prefer.
  private mutating func updatePHYs(_ theirTx: UInt8, _ theirRx: UInt8, at event: UInt16) -> [Action] {
    let central = Self.fastest(preferred.tx & model.phys & theirRx)
    let peripheral = Self.fastest(preferred.rx & model.phys & theirTx)
    let instant = instant(after: event)
    change = (.phys(central: central, peripheral: peripheral), instant)
    return [.send(.phyUpdate(central: central, peripheral: peripheral, instant: instant))]
  }

  /// The PHY of a mask, by HCI's number; 0 without one.
  private static func fastest(_ mask: UInt8) -> UInt8 { mask & 2 != 0 ? 2 : mask & 1 != 0 ? 1 : mask & 4 != 0 ? 3 : 0 }

  /// The peripheral hears of a change.
  mutating func expect(_ new: LinkChange, at instant: UInt16, now event: UInt16) -> [Action] {
    guard !Self.hasPassed(instant, at: event) else { return [.end(.instantPassed)] }
    change = (new, instant)
    return []
  }

  /// A connection event begins.
  /// - Returns: the change that it brings; nil without one.
  mutating func begins(_ event: UInt16) -> (change: LinkChange, actions: [Action])? {
    guard let change, change.instant == event else { return nil }
    self.change = nil
    switch change.change {
    case .times(let new):
      let isNew = new != times
      // Another interval ends subrating (5.1.1).
      if new.interval != times.interval { rates.adopt(Subrating()) }
      times = new
      return (change.change, settled(.parameters, isNew, updated(.success), at: event))
    case .phys(let central, let peripheral):
      let (tx, rx) = role == .central ? (central, peripheral) : (peripheral, central)
      let isNew = tx != 0 && tx != phys.tx || rx != 0 && rx != phys.rx
      if tx != 0 { phys.tx = tx }
      if rx != 0 { phys.rx = rx }
      return (change.change, settled(.phy, isNew, switched(.success), at: event))
    case .rate(let new, let subrating):
      times = new
      rates.adopt(subrating)
      return (change.change, settled(.rate, true, rated(.success), at: event))
    }
  }

  mutating func settled(
    _ kind: Procedure.Kind, _ isNew: Bool, _ report: HCIEvent, at event: UInt16
  ) -> [Action] {
    let isOwn = running?.kind == kind && remote != kind
    if remote == kind { remote = nil }
    if isOwn { return finish(kind, at: event, report) }
    return (isNew ? [.report(report)] : []) + next(at: event)
  }

  private func updated(_ status: HCIErrorCode) -> HCIEvent {
    .leConnectionUpdateComplete(
      LEConnectionUpdateComplete {
        ($0.status, $0.handle, $0.interval) = (HCIStatus(status), handle, times.wholeInterval)
        ($0.latency, $0.supervisionTimeout) = (times.latency, times.timeout)
      })
  }

  private func switched(_ status: HCIErrorCode) -> HCIEvent {
    .lePHYUpdateComplete(
      LEPHYUpdateComplete { ($0.status, $0.handle, $0.tx, $0.rx) = (HCIStatus(status), handle, phys.tx, phys.rx) })
  }
}
