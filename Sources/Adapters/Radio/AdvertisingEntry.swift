import Adapter
import Bluetooth
import HCI

/// An advertisement: its wanted state, and the controller's.
struct AdvertisingEntry {
  enum Phase: Hashable {
    /// The controller has nothing of it.
    case waiting
    /// The controller has everything but is not advertising.
    case paused(AdvertisingParameters)
    case on(AdvertisingParameters)
    /// The controller's state is not known; it is disabled first.
    case lost
  }

  var wanted: AdvertisingParameters?
  var handle: UInt8?
  var phase = Phase.waiting
  var told: AdvertisingStatus?
  var backOff = BackOff(first: .seconds(1), limit: .seconds(30))
  /// Parameters that can never work.
  var hopeless: AdvertisingParameters?
  /// The transmit power chosen by the controller, in dBm.
  var txPower: Int?
  /// True if the controller refused to change its data on the air.
  var isRigid = false
  /// Advertising events before the interruption, for an advertisement that counts them.
  private var eventsSent = 0
  /// The time it was put on the air; nil while it is off.
  private var onSince: Instant?

  /// Attempts for a new advertisement before a temporary refusal is reported.
  private static let attempts = 3
  /// Attempts beside a link, whose end it may have to wait for.
  private static let attemptsBesideLink = 6

  init(wanted: AdvertisingParameters? = nil) { self.wanted = wanted }

  /// The wanted kind of advertisement, if it can be sent.
  func activity(with capabilities: AdvertisingCapabilities) -> LEStates.Activity? {
    guard hopeless == nil, let wanted, capabilities.problem(with: wanted) == nil else { return nil }
    return wanted.activity
  }

  /// The kind of advertisement the controller may be sending.
  var running: LEStates.Activity? {
    switch phase {
    case .on(let parameters): parameters.activity
    case .lost: wanted?.activity
    case .waiting, .paused: nil
    }
  }

  /// The next step for an advertisement with a handle.
  enum Step {
    case keep
    /// Its turn is over: disable it.
    case rest
    /// Its turn is over, and nothing of it is on the air: its handle is free at once.
    case release
    /// The set is off and not wanted: let the controller forget it.
    case forget
    /// The set is on and not wanted: disable it, and let the controller forget it.
    case end
    /// The set has other data than are wanted, which can be changed on the air.
    case update(from: AdvertisingParameters, to: AdvertisingParameters)
    /// The set is not as it is wanted: disable it first.
    case disable
    case enable(AdvertisingParameters)
    case start(AdvertisingParameters)
  }

  /// The next step to the wanted state, with the intended interval.
  func step(to wanted: AdvertisingParameters?, mustRest: Bool, isDue: Bool, at now: Instant) -> Step {
    switch (phase, wanted) {
    case (.on, _?) where mustRest, (.lost, _?) where mustRest: .rest
    case (_, _?) where mustRest: .release
    case (.on(let current), let wanted) where current == wanted: .keep
    case (.waiting, nil), (.paused, nil): .forget
    case (_, nil): .end
    case (.on(let current), let wanted?) where !isRigid && current.canChange(to: wanted):
      .update(from: current, to: wanted)
    case (.on, _?), (.lost, _?): backOff.allows(at: now) ? .disable : .keep
    case (.paused(let current), let wanted?) where current == wanted:
      backOff.allows(at: now) ? .enable(wanted) : .keep
    case (_, let wanted?): isDue ? .start(wanted) : .keep
    }
  }

  /// The status for the owner after a refusal; nil if not known yet.
  func outcome(of refusal: HCIStatus, hasLinks: Bool) -> AdvertisingStatus? {
    let attempts = hasLinks ? Self.attemptsBesideLink : Self.attempts
    let mayPass = refusal.code == .commandDisallowed && backOff.failures < attempts
    switch told {
    case nil where mayPass: return nil
    // A set that was on the air before returns: the obstacle (a link incompatible with advertising, another owner)
    // passes, and the back-off tries again.
    case .on? where hopeless == nil, .off? where hopeless == nil: return .off
    default: return .failed(refusal.error("the advertisement could not be set up"))
    }
  }

  /// Its data were changed. The set may have ceased meanwhile, as a central connected.
  mutating func updated(to new: AdvertisingParameters) {
    switch phase {
    case .on: phase = .on(new)
    case .paused: phase = .paused(new)
    case .waiting, .lost: break
    }
  }

  /// The set is on the air.
  mutating func began(at now: Instant) { onSince = now }

  /// The set is off the air, and the controller does not report its events: assumes as many as there was time for.
  mutating func interrupted(at now: Instant) {
    if let onSince, let wanted, wanted.maximumEvents != nil {
      eventsSent += Int(onSince.duration(to: now) / wanted.interval)
    }
    onSince = nil
  }

  /// Continues the former advertisement after a pause.
  mutating func goOn(from old: Self) { (told, eventsSent) = (old.told, old.eventsSent) }

  /// Remaining advertising events; 0 for no limit.
  mutating func eventsLeft(of parameters: AdvertisingParameters, at now: Instant) -> UInt8 {
    interrupted(at: now)
    guard let maximum = parameters.maximumEvents else { return 0 }
    return UInt8(clamping: max(1, Int(maximum) - eventsSent))
  }

  /// The controller reports that it no longer sends it.
  /// - Parameter events: the number of advertising events, if counted.
  /// - Returns: the reason for its end; nil if it continues.
  mutating func ceased(_ parameters: AdvertisingParameters, _ status: HCIStatus, events: UInt8) -> AdvertisingEnd? {
    onSince = nil
    switch status.code {
    case .advertisingTimeout: return .duration
    case .limitReached: return .count
    case _ where !status.isSuccess: return nil
    case _ where parameters.target != nil: return .connected
    default:
      eventsSent += Int(events)
      guard let maximum = parameters.maximumEvents, eventsSent >= Int(maximum) else { return nil }
      return .count
    }
  }
}

extension AdvertisingParameters {
  /// The longest data that can be changed while a set is enabled: one command sets them (Core 5.4, Vol 4, Part E,
  /// 7.8.54 and 7.8.55).
  private static let longestChange = 251

  /// True if others differ in the data alone, which can be changed on the air.
  fileprivate func canChange(to new: AdvertisingParameters) -> Bool {
    var same = self
    (same.data, same.scanResponse) = (new.data, new.scanResponse)
    let isShort = max(new.data.count, new.scanResponse.count) <= Self.longestChange
    return same == new && isShort && target == nil && !endsByItself
  }
}
