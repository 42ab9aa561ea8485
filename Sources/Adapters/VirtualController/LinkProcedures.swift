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
/// | running, central | a request of the peripheral with an instant, beside one of ours | `send` a rejection: 0x23 for the same kind, 0x2A for another |
/// | any          | a rejection                        | `report` it                                                  |
/// | any          | an instant that has passed         | `end` 0x28                                                   |
/// | encrypting   | data                               | wait: `isPaused`                                             |
///
/// Times are numbers of connection events.
struct LinkProcedures {
  enum Action: Hashable {
    case send(ControlPDU)
    case report(HCIEvent)
    /// The link ends for this side at once.
    case end(HCIErrorCode)
    /// The link is to be ended with the other side's knowledge.
    case terminate(HCIErrorCode)
  }

  /// The stages of an encryption.
  private enum Encryption: Hashable {
    case off, on
    /// The central has asked to pause, or for encryption; the peripheral has been asked to.
    case pausing, requested
    /// The peripheral's host is asked for the key.
    case asked
    /// The other side is to encrypt next.
    case starting
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
  private(set) var times: LinkTimes

  private var running: Procedure?
  private var waiting: [Procedure] = []
  /// The other side's procedure that needs the host, or an instant.
  private var remote: Procedure.Kind?
  private var change: (change: LinkChange, instant: UInt16)?
  private var knowsVersion = false
  private var encryption = Encryption.off
  /// The key with which the host wants this side to encrypt.
  private var key: [UInt8]?
  /// True if encryption is begun again.
  private var isRefresh = false

  /// - Parameters:
  ///   - preferred: the PHYs that the host prefers, as masks.
  ///   - phy: that of the advertisement, by HCI's number, on which the link begins.
  ///   - asksHost: true if the host decides about the other side's parameters.
  init(
    _ role: LinkRole, _ handle: ConnectionHandle, _ model: ControllerModel, _ times: LinkTimes,
    on phy: PHY = .le1M, preferred: (tx: UInt8, rx: UInt8) = (7, 7), asksHost: Bool = false
  ) {
    (self.role, self.handle, self.model, self.times) = (role, handle, model, times)
    phys = (phy.rawValue, phy.rawValue)
    (self.preferred, self.asksHost) = (preferred, asksHost)
  }

  /// True while data wait for encryption to begin.
  var isPaused: Bool { encryption != .off && encryption != .on }
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
    if first.kind.hasInstant, let remote, remote.hasInstant { return [] }
    waiting.removeFirst()
    running = first
    return start(first, at: event)
  }

  private mutating func start(_ procedure: Procedure, at event: UInt16) -> [Action] {
    switch procedure {
    case .features: return [.send(.features(model.features, isRequest: true))]
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
    case .encryption(let key, let random, let diversifier):
      self.key = key
      isRefresh = encryption == .on
      encryption = isRefresh ? .pausing : .requested
      return [.send(isRefresh ? .pauseEncryption : .encryption(random: random, diversifier: diversifier))]
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
    guard encryption == .asked else { throw Refusal(.commandDisallowed) }
    self.key = key
    if key != nil {
      encryption = .starting
      return [.send(.startEncryption)]
    }
    // Without the old key there is no way back (5.1.3.1).
    if isRefresh { return [.terminate(.pinOrKeyMissing)] }
    encryption = .off
    return [.send(.reject(.encryption, .pinOrKeyMissing))] + next(at: event)
  }

  // MARK: - The other side

  mutating func receive(_ packet: ControlPDU, at event: UInt16) -> [Action] {
    switch packet {
    case .features(_, isRequest: true):
      return [.send(.features(model.features, isRequest: false))]
    case .features(let theirs, isRequest: false):
      return finish(
        .features, at: event,
        .leReadRemoteFeaturesComplete(
          LEReadRemoteFeaturesComplete { ($0.handle, $0.features) = (handle, theirs) }))
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
    case .reject(let kind, let reason): return rejected(kind, reason, at: event)
    case .terminate(let reason): return [.end(reason.code ?? .remoteUserTerminatedConnection)]
    default: return receive(encryption: packet, at: event)
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
  private func collision(_ kind: Procedure.Kind) -> [Action]? {
    guard role == .central, let own = running?.kind, own.hasInstant else { return nil }
    let reason: HCIErrorCode = own == kind ? .lmpErrorTransactionCollision : .differentTransactionCollision
    return [.send(.reject(kind, reason))]
  }

  private mutating func rejected(_ kind: Procedure.Kind, _ reason: HCIErrorCode, at event: UInt16) -> [Action] {
    guard running?.kind == kind else { return [] }
    switch kind {
    case .parameters: return finish(kind, at: event, updated(reason))
    case .phy: return finish(kind, at: event, switched(reason))
    case .encryption:
      encryption = .off
      return finish(
        kind, at: event,
        .encryptionChange(EncryptionChange { ($0.status, $0.handle) = (HCIStatus(reason), handle) }))
    case .features, .version, .length: return finish(kind, at: event, nil)
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
  private func instant(after event: UInt16) -> UInt16 { event &+ model.instantDistance &+ times.latency }

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
              ($0.handle, $0.intervalMin, $0.intervalMax) = (handle, minimum, wanted.interval)
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
  private mutating func expect(_ new: LinkChange, at instant: UInt16, now event: UInt16) -> [Action] {
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
      times = new
      return (change.change, settled(.parameters, isNew, updated(.success), at: event))
    case .phys(let central, let peripheral):
      let (tx, rx) = role == .central ? (central, peripheral) : (peripheral, central)
      let isNew = tx != 0 && tx != phys.tx || rx != 0 && rx != phys.rx
      if tx != 0 { phys.tx = tx }
      if rx != 0 { phys.rx = rx }
      return (change.change, settled(.phy, isNew, switched(.success), at: event))
    }
  }

  private mutating func settled(
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
        ($0.status, $0.handle, $0.interval) = (HCIStatus(status), handle, times.interval)
        ($0.latency, $0.supervisionTimeout) = (times.latency, times.timeout)
      })
  }

  private func switched(_ status: HCIErrorCode) -> HCIEvent {
    .lePHYUpdateComplete(
      LEPHYUpdateComplete { ($0.status, $0.handle, $0.tx, $0.rx) = (HCIStatus(status), handle, phys.tx, phys.rx) })
  }
}

// MARK: - Encryption

extension LinkProcedures {
  private mutating func receive(encryption packet: ControlPDU, at event: UInt16) -> [Action] {
    switch (packet, role) {
    case (.pauseEncryption, .peripheral):
      encryption = .pausing
      return [.send(.pauseEncryptionResponse)]
    case (.pauseEncryptionResponse, .central):
      guard case .encryption(_, let random, let diversifier) = running else { return [] }
      encryption = .requested
      return [.send(.pauseEncryptionResponse), .send(.encryption(random: random, diversifier: diversifier))]
    case (.encryption(let random, let diversifier), .peripheral):
      isRefresh = encryption == .pausing
      encryption = .asked
      return [
        .send(.encryptionResponse),
        .report(
          .leLongTermKeyRequest(
            LELongTermKeyRequest {
              ($0.handle, $0.randomNumber, $0.encryptedDiversifier) = (handle, random, diversifier)
            })),
      ]
    case (.startEncryption, .central):
      encryption = .starting
      return [.send(.startEncryptionResponse(key: key ?? []))]
    case (.startEncryptionResponse(let theirs), .peripheral):
      // A packet encrypted with another key fails its check (5.1.3.1).
      guard theirs == key else { return [.end(.terminatedMICFailure)] }
      return [.send(.startEncryptionResponse(key: theirs))] + encrypted(at: event)
    case (.startEncryptionResponse, .central): return encrypted(at: event)
    default: return []
    }
  }

  private mutating func encrypted(at event: UInt16) -> [Action] {
    encryption = .on
    let report: HCIEvent =
      isRefresh
      ? .encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete { $0.handle = handle })
      : .encryptionChange(EncryptionChange { ($0.handle, $0.mode) = (handle, 1) })
    guard role == .central else { return [.report(report)] + next(at: event) }
    return finish(.encryption, at: event, report)
  }
}
