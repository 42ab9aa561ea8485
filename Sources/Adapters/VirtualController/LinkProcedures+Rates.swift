import HCI

/// The used connection events of a link, and the procedures that change them with the interval (Core 5.4, Vol 6, Part
/// B, 5.1.19 and 5.1.20; Core 6.2, 5.1.32 and 5.1.33).
extension LinkProcedures {
  /// The first event from this one on in which the link is used, or changes.
  func next(from event: UInt16) -> UInt16 {
    let used = rates.distance(from: event)
    return event &+ (change.map { min(used, $0.instant &- event) } ?? used)
  }

  /// True if a peripheral may not skip this event.
  func mustListen(at event: UInt16) -> Bool { rates.isDue(event, latency: times.latency) }

  /// An event carried data.
  mutating func hadData(at event: UInt16) { rates.hadData(at: event) }

  /// True if both sides and their hosts have subrating.
  var canSubrate: Bool { theirs.first.intersection(features.first).contains(ControllerFeatures.subrating) }
  /// True if both sides and their hosts have shorter connection intervals.
  var canShorten: Bool { theirs.more.intersection(features.more).contains(ControllerFeatures.shortIntervals) }

  /// The central announces another subrating, which holds once that is acknowledged (5.1.19).
  mutating func subrate(_ wanted: ConnectionRate, at event: UInt16) -> [Action] {
    // The host's last request is the limit for the peripheral, too (Vol 4, Part E, 7.8.124).
    if running?.kind == .subrate { acceptable.subrate = wanted }
    let new = wanted.subrating(from: event)
    rates.announce(new)
    return [.send(.subrate(new, latency: wanted.maximumLatency, timeout: wanted.supervisionTimeout))]
  }

  /// A control packet has been acknowledged.
  mutating func acknowledged(_ packet: ControlPDU, at event: UInt16) -> [Action] {
    guard case .subrate(let new, let latency, let timeout) = packet else { return [] }
    return adopt(new, latency, timeout, at: event)
  }

  private mutating func adopt(_ new: Subrating, _ latency: UInt16, _ timeout: UInt16, at event: UInt16) -> [Action] {
    rates.adopt(new)
    (times.latency, times.timeout) = (latency, timeout)
    return settled(.subrate, true, subrated(.success), at: event)
  }

  /// The central changes the interval and the subrating (Core 6.2, Vol 6, Part B, 5.1.32).
  mutating func change(to wanted: ConnectionRate, at event: UInt16) -> [Action] {
    if running?.kind == .rate { acceptable.rate = wanted }
    let instant = instant(after: event)
    let new = LinkTimes(
      units: max(wanted.intervalMin, model.shortestInterval), latency: wanted.maximumLatency,
      timeout: wanted.supervisionTimeout)
    let subrating = wanted.subrating(from: instant)
    change = (.rate(new, subrating), instant)
    return [.send(.rate(new, subrating, instant: instant))]
  }

  mutating func receive(rates packet: ControlPDU, at event: UInt16) -> [Action] {
    switch packet {
    case .subrateRequest(let wanted):
      if let collision = collision(.subrate) { return collision }
      guard canSubrate else { return [.send(.reject(.subrate, .unsupportedRemoteFeature))] }
      guard let granted = wanted.granted(by: acceptable.subrate), granted.allows(times.interval) else {
        return [.send(.reject(.subrate, .unsupportedLMPParameterValue))]
      }
      remote = .subrate
      return subrate(granted, at: event)
    case .subrate(let new, let latency, let timeout): return adopt(new, latency, timeout, at: event)
    case .rateRequest(let wanted):
      if let collision = collision(.rate) { return collision }
      guard canShorten else { return [.send(.reject(.rate, .unsupportedRemoteFeature))] }
      guard let granted = wanted.granted(by: acceptable.rate), granted.intervalMax >= model.shortestInterval else {
        return [.send(.reject(.rate, .unsupportedLMPParameterValue))]
      }
      remote = .rate
      return change(to: granted, at: event)
    case .rate(let new, let subrating, let instant): return expect(.rate(new, subrating), at: instant, now: event)
    default: return []
    }
  }

  func subrated(_ status: HCIErrorCode) -> HCIEvent {
    .leSubrateChange(
      LESubrateChange {
        ($0.status, $0.handle, $0.factor) = (HCIStatus(status), handle, rates.factor)
        ($0.latency, $0.continuationNumber, $0.supervisionTimeout) = (times.latency, rates.continuation, times.timeout)
      })
  }

  func rated(_ status: HCIErrorCode) -> HCIEvent {
    .leConnectionRateChange(
      LEConnectionRateChange {
        ($0.status, $0.handle, $0.interval, $0.factor) = (HCIStatus(status), handle, times.interval, rates.factor)
        ($0.latency, $0.continuationNumber, $0.supervisionTimeout) = (times.latency, rates.continuation, times.timeout)
      })
  }
}
