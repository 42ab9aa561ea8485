import Adapter
import BledRPC
import Bluetooth
import Logging

/// Consent to pairing: by answers of sessions, the configuration, a time window, or out-of-band data. Adapters receive
/// the resulting settings.
final class PairingConsent {
  /// Maximum length of a window for pairing, in seconds.
  private static let longestWindow = 3600.0

  private(set) var agents = PairingAgents()
  private(set) var policy = PairingPolicy()
  let outOfBand = OutOfBandPairing()
  private unowned let adapters: AdapterRegistry
  private unowned let publishers: any PublishingUsers
  private let scheduler: any Scheduler
  private let logger: Logger
  /// The users that let devices concerning them pair, until the alarm fires.
  private var windows: [UInt32?: (mayAnswerForOthers: Bool, alarm: any ScheduledWork)] = [:]
  /// The settings last sent to the adapters.
  private var told: [AdapterSlot: PairingSettings] = [:]
  /// By passkey: a device's owner must not get more attempts at another passkey.
  private var passkeyBrakes: [UInt32: PasskeyBrake] = [:]

  init(adapters: AdapterRegistry, publishers: any PublishingUsers, scheduler: any Scheduler, logger: Logger) {
    self.adapters = adapters
    self.publishers = publishers
    self.scheduler = scheduler
    self.logger = logger
  }

  /// Sets the answers for pairings without a session to ask.
  func set(_ policy: PairingPolicy) {
    self.policy = policy
    passkeyBrakes = [:]
    settingsChanged()
  }

  /// For a while, lets devices that concern the session's user pair without a check.
  func open(_ params: PairingOpen.Params, for session: Session) throws {
    guard params.seconds >= 0, params.seconds <= Self.longestWindow else {
      throw BledError.invalidParameter.error("\"seconds\" must be 0 to \(Int(Self.longestWindow))")
    }
    let user = session.user
    windows.removeValue(forKey: user)?.alarm.cancel()
    if params.seconds > 0 {
      logger.notice("devices may pair for \(params.seconds) s", metadata: .about(session: session))
      let alarm = scheduler.schedule(after: .seconds(params.seconds)) { [weak self] in
        self?.windows[user] = nil
        self?.settingsChanged()
      }
      windows[user] = (session.answersForOthers, alarm)
    }
    settingsChanged()
  }

  func register(_ params: PairingRegister.Params, _ session: Session) {
    agents.register(session, params.capability)
    settingsChanged()
  }

  func unregister(_ session: Session) {
    if agents.remove(session) { settingsChanged() }
  }

  /// A session has ended.
  func ended(_ session: Session) {
    unregister(session)
    if outOfBand.ended(session) { settingsChanged() }
  }

  /// Makes data that reaches a device out of band.
  func readOutOfBand(
    _ params: PairingReadOutOfBand.Params, for session: Session, _ reply: Reply<PairingReadOutOfBand.Result>
  ) throws {
    try outOfBand.read(try adapters.findUsable(params.adapter), for: session, reply) { [weak self] in
      self?.settingsChanged()
    }
  }

  /// A device gave its data by another way than the air.
  func setOutOfBand(_ params: PairingSetOutOfBand.Params, for session: Session) throws {
    try outOfBand.set(params, on: try adapters.find(params.adapter), for: session)
    settingsChanged()
  }

  /// The settings for connecting devices: the announced capability, and whether they may initiate pairing.
  func settings(_ slot: AdapterSlot) -> PairingSettings {
    let adapter = slot.adapter.information
    let capability = agents.capability(amongPublishers: publishers.users(on: slot))
    let isAllowed = policy.acceptsSome(on: adapter) || !windows.isEmpty || capability != nil
    return PairingSettings(
      capability: capability ?? policy.capability(on: adapter),
      acceptsDevices: isAllowed || outOfBand.acceptsSome(on: adapter.id))
  }

  /// An adapter is about to be started.
  func adding(_ slot: AdapterSlot) {
    told[slot] = nil
    settingsChanged()
  }

  /// Sends new settings to the adapters: agents, publishers or rules may have changed.
  func settingsChanged() {
    for slot in adapters.slots {
      let settings = settings(slot)
      guard told[slot] != settings else { continue }
      told[slot] = settings
      slot.adapter.setPairing(settings)
    }
  }

  // MARK: Answers without a person

  /// True if a device may pair without a check, by the policy or a window of a user concerned.
  func allowsAnyone(
    as identity: DeviceAddress, on adapter: AdapterInformation, _ concern: @autoclosure () -> PairingConcern
  ) -> Bool {
    if policy.rule(for: identity, on: adapter) == .justWorks { return true }
    guard !windows.isEmpty else { return false }
    let concern = concern()
    return windows.contains { $0.value.mayAnswerForOthers || concern.includes($0.key) }
  }

  /// The capability for a pairing caused by a session: the session's, else the policy's, else the first agent's.
  func capability(
    for session: Session?, _ identity: DeviceAddress, on adapter: AdapterInformation, _ concern: PairingConcern
  ) -> PairingCapability {
    let first = agents.concerned(concern).first
    if session == nil || first !== session, case .passkey = policy.rule(for: identity, on: adapter) { return .keyboard }
    return agents.capability(concern) ?? .none
  }

  /// True if the fixed passkey is used now.
  func gives(_ passkey: UInt32, to device: DeviceAddress) -> Bool {
    let brake = passkeyBrakes[passkey] ?? PasskeyBrake()
    guard !brake.allows(at: scheduler.now) else { return true }
    logger.warning("\(device) is not given the fixed passkey: \(brake.failures) pairings with it have failed")
    return false
  }

  /// A pairing with the fixed passkey has not ended well.
  func failed(_ passkey: UInt32) { passkeyBrakes[passkey, default: PasskeyBrake()].failed(at: scheduler.now) }

  /// A pairing with the fixed passkey has ended well.
  func succeeded(_ passkey: UInt32) { passkeyBrakes[passkey] = nil }
}
