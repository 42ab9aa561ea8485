import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Host
import Logging

/// The user of `HostPairing`.
protocol HostPairingOwner: AnyObject {
  /// Sends a packet of the Security Manager.
  func send(_ packet: [UInt8], on handle: ConnectionHandle)
  /// Ends a link that must not outlast its failed pairing.
  func pairingFailed(_ handle: ConnectionHandle)
  /// Ends a link that could not be encrypted with the keys of a bond, for this reason.
  func encryptionFailed(_ handle: ConnectionHandle, _ reason: HCIErrorCode)
  /// The protection of a link changed.
  func securityChanged(_ handle: ConnectionHandle)
}

/// The pairings of one controller: runs the `SecurityManager` of each link, with the questions to the local user and
/// the pending requests for protection.
///
/// | Input                                   | Then                                                                    |
/// |-----------------------------------------|-------------------------------------------------------------------------|
/// | `raise`, the link has the level         | done                                                                    |
/// | `raise`, a bond below the level         | failed, or paired with anew (`SecurityRaise`)                           |
/// | `raise` that pairs, too early           | waits for up to 5 s, else failed: pairings with the device have failed  |
/// | the device finds our pairing too early  | the same: 1, 2 and 4 s later the pairing begins again                   |
/// | it does after a question or a passkey   | failed: a silent repetition would hide that the device guesses          |
/// | `raise`                                 | the bond's key is used, or the device is paired with; later ones wait   |
/// | the device begins                       | permitted for a request that waits without a bond, or as `settings` say |
/// | it asks for more than its bond gives    | the same if a person can help, else the bond's key is used              |
/// | the link is encrypted with a bond's key | requests of that level are done                                         |
/// | the pairing succeeded                   | the owner is notified; requests of that level are done, others failed   |
/// | a failure, the link's end               | all requests of the link failed                                         |
/// | the link cannot be encrypted with a bond's key, not within 30 s, or is so no longer | the same, and the link is |
/// |                                         | ended: its data are not for any device                                  |
/// | a pairing failed once the link was encrypted | the same, and the link is disconnected                             |
/// | the link's end during a pairing that the device began | counted as one of its failed attempts                     |
/// | `switchedOff`                           | failed attempts are forgotten                                           |
final class HostPairing {
  /// Maximum wait of a request after pairings with its device have failed.
  private static let longestPause = Duration.seconds(5)
  /// Maximum remembered devices that another pairing would not protect better.
  private static let maximumHelpless = 64

  weak var owner: (any HostPairingOwner)?
  /// Called with the events of a device's pairing.
  var onEvent: ((DeviceAddress, PairingEvent) -> Void)?
  /// The pairing settings.
  var settings = PairingSettings()
  /// The bonds, which are looked up each time.
  var bonds = HostBonds()
  /// The address under which devices see the controller.
  var addressOnAir = DeviceAddress.none
  /// The key that resolves its private addresses; nil if it has none.
  var identityResolvingKey: Key128?
  /// Changes the terms of each pairing.
  var changeTerms: ((inout PairingTerms) -> Void)?
  /// The out-of-band data from devices.
  var outOfBand: [DeviceAddress: OutOfBandData] = [:]

  /// The secrets of our own out-of-band data, until others are made.
  private var ownOutOfBand: OwnOutOfBandData?
  private let commands: EncryptionCommands
  private let context: AdapterContext
  private var links: [ConnectionHandle: SecuredLink] = [:]
  private var lastQuestion: UInt64 = 0
  private var attempts = RepeatedAttempts()
  /// The devices without input and output: another pairing would be like the one that made their bond.
  private var helpless: Set<DeviceAddress> = []
  /// The event of a link that is about to begin, with the private addresses of the controller.
  private var beginning: LEEnhancedConnectionComplete?

  init(_ controller: any ControllerCommands, in context: AdapterContext) {
    commands = EncryptionCommands(controller, in: context)
    self.context = context
  }

  // MARK: - Links

  /// A link was established.
  func began(_ handle: ConnectionHandle, _ role: LinkRole, _ peer: DeviceAddress) {
    let event = beginning?.handle == handle ? beginning : nil
    beginning = nil
    let secured = SecuredLink(
      handle, role, local: event?.madeLocal ?? addressOnAir, peer, onAir: event?.resolvedPeer ?? peer,
      identity: bonds.identity(of: peer))
    secured.isLocalMade = event?.madeLocal != nil
    links[handle] = secured
  }

  /// A link's device connected to this address of an advertising set, by which it knows us, unless the controller made
  /// another.
  func connected(_ handle: ConnectionHandle, to local: DeviceAddress) {
    guard let secured = links[handle], !secured.isLocalMade else { return }
    secured.manager.local = local
  }

  /// A link ends: its requests fail.
  func ended(_ handle: ConnectionHandle, _ error: BluetoothError) {
    guard let secured = links.removeValue(forKey: handle) else { return }
    secured.alarm?.cancel()
    secured.pause?.cancel()
    if secured.manager.isPairing, !secured.manager.isOwnPairing {
      attempts.failed(secured.identity, now: context.scheduler.now)
    }
    settle(secured, secured.manager.isEncrypting ? error.ofBond(with: secured.peer) : error)
  }

  /// The user has switched the adapter off: no device has to wait for its next pairing.
  func switchedOff() { attempts = RepeatedAttempts() }

  /// The protection of a link.
  func security(of handle: ConnectionHandle) -> LinkSecurity { links[handle]?.manager.security ?? .none }

  /// True if the bond with a link's device gives it this level.
  func bondReaches(_ level: Int, on handle: ConnectionHandle) -> Bool {
    guard let secured = links[handle] else { return false }
    return bonds.find(secured.identity)?.reaches(level, as: secured.role) == true
  }

  /// True if either side is raising the protection of a link.
  func isRaising(_ handle: ConnectionHandle) -> Bool {
    links[handle].map { $0.manager.isPairing || !$0.requests.isEmpty } ?? false
  }

  /// True if a link is to a device, by the link's address or the one that its bond names.
  func isLink(_ link: any ControllerLink, to device: DeviceAddress) -> Bool {
    link.peer == device || links[link.handle]?.identity == device
  }

  /// A packet was received on channel 6.
  /// - Parameter arrival: its arrival time in this machine, which may have been busy since; nil for now.
  func receive(_ packet: [UInt8], on handle: ConnectionHandle, arrived arrival: Instant? = nil) {
    guard let secured = links[handle] else { return }
    run(secured) { (manager, now) in
      manager.receive(
        packet, bond: self.bonds.find(secured.identity), self.permission(for: secured, at: now), arrived: arrival,
        now: now)
    }
  }

  /// Handles an event about encryption, or about a beginning link.
  /// - Parameter arrival: its arrival time in this machine; nil for now.
  func receive(_ event: HCIEvent, arrived arrival: Instant? = nil) {
    switch event {
    case .leEnhancedConnectionComplete(let event): beginning = event
    case .leLongTermKeyRequest(let event):
      guard let secured = links[event.handle] else { return commands.reply(event.handle, nil) }
      run(secured) { (manager, _) in
        manager.keyRequested(
          random: event.randomNumber, diversifier: event.encryptedDiversifier, bond: self.bonds.find(secured.identity))
      }
    case .encryptionChange(let event): encryptionChanged(event.handle, event.status, isOn: event.mode != 0, arrival)
    case .encryptionKeyRefreshComplete(let event): encryptionChanged(event.handle, event.status, isOn: true, arrival)
    case .disconnectionComplete, .readRemoteVersionInformationComplete, .commandComplete, .commandStatus,
      .numberOfCompletedPackets, .leConnectionComplete, .leAdvertisingReport, .leExtendedAdvertisingReport,
      .leConnectionUpdateComplete, .leReadRemoteFeaturesComplete, .leRemoteConnectionParameterRequest,
      .leDataLengthChange, .lePHYUpdateComplete, .leSubrateChange, .leReadAllRemoteFeaturesComplete,
      .leConnectionRateChange, .leAdvertisingSetTerminated, .lePeriodicAdvertisingSyncEstablished,
      .lePeriodicAdvertisingReport, .lePeriodicAdvertisingSyncLost, .lePeriodicAdvertisingSyncTransferReceived,
      .lePeriodicAdvertisingSyncEstablishedV2, .lePeriodicAdvertisingReportV2,
      .lePeriodicAdvertisingSyncTransferReceivedV2, .lePeriodicAdvertisingSubeventDataRequest,
      .lePeriodicAdvertisingResponseReport, .leMonitoredAdvertisersReport, .other:
      break
    }
  }

  private func encryptionChanged(
    _ handle: ConnectionHandle, _ status: HCIStatus, isOn: Bool, _ arrival: Instant?
  ) {
    guard let secured = links[handle] else { return }
    run(secured) { (manager, now) in
      guard status.isSuccess, isOn else {
        // With success and without encryption, 0: it was ended.
        return manager.encryptionFailed(status.rawValue)
      }
      return manager.encrypted(eventArrived: arrival, now: now)
    }
  }

  // MARK: - Requests of this side

  /// Raises the protection of a link to a level, 2 to 4.
  /// - Parameter usesOwnData: true if the data of `makeOutOfBand` count in a pairing that this begins.
  func raise(
    _ link: any ControllerLink, to level: Int, as capability: PairingCapability, usesOwnData: Bool,
    replacesBond: Bool = false, _ done: @escaping (BluetoothError?) -> Void
  ) {
    guard let secured = links[link.handle] else {
      return context.fail(done, GAPError.notConnected.error("\(link.peer) is not connected"))
    }
    let (current, bond) = (secured.manager.security.level, bonds.find(secured.identity))
    guard let way = context.way(to: level, on: link, at: current, bond, replacesBond: replacesBond, done) else {
      return
    }
    let now = context.scheduler.now
    let end = way == .pair ? attempts.wait(of: secured.identity, isWanted: true, now: now) : nil
    if let end, now.duration(to: end) > Self.longestPause {
      let seconds = (now.duration(to: end) + .milliseconds(999)).components.seconds
      let words = "several pairings with \(link.peer) have failed: try again in \(seconds) s"
      return context.fail(done, GAPError.pairingFailed.error(words))
    }
    secured.wait(
      for: level, capability, usesOwnData: usesOwnData, replacesBond: way == .pair && bond != nil, done)
    if let end { begin(secured, at: end) } else { begin(secured) }
  }

  private func begin(_ secured: SecuredLink, at time: Instant) {
    guard secured.pause == nil else { return }
    secured.pause = context.scheduler.schedule(at: time) { [weak self, weak secured] in
      guard let self, let secured else { return }
      secured.pause = nil
      begin(secured)
    }
  }

  /// Raises the protection of a link to the highest requested level.
  private func begin(_ secured: SecuredLink) {
    guard let wanted = secured.requests.highest else { return }
    let bond = secured.replacesBond ? nil : bonds.find(secured.identity)
    let requirements = AuthenticationRequirements(requesting: wanted, secured.capability)
    run(secured) { (manager, now) in manager.raise(bond: bond, requirements, self.ownTerms(secured), now: now) }
  }

  /// Makes out-of-band data for devices; earlier data become invalid.
  func makeOutOfBand() -> OutOfBandData? {
    let new = OwnOutOfBandData(using: &context.random)
    ownOutOfBand = new
    return new.data
  }

  /// Answers a question; ignores one that is over.
  func answer(_ id: QuestionID, _ answer: PairingAnswer) {
    guard let secured = links.values.first(where: { $0.question?.id == id }), let question = secured.question else {
      return
    }
    secured.question = nil
    run(secured) { (manager, now) in manager.answer(question.number, answer, now: now) }
  }

  /// The terms of a pairing that requests wait for.
  private func ownTerms(_ secured: SecuredLink) -> PairingTerms {
    var terms = terms(secured, secured.capability)
    terms.level = secured.requests.highest ?? 2
    terms.isOwn = true
    // A device that begins, even on request, may have received them.
    if !secured.usesOwnData, secured.role == .central { terms.ownOutOfBand = nil }
    return terms
  }

  private func terms(_ secured: SecuredLink, _ capability: PairingCapability) -> PairingTerms {
    var terms = PairingTerms(identity: bonds.local, secrets: PairingSecrets(using: &context.random))
    terms.capability = capability
    terms.identityResolvingKey = identityResolvingKey
    terms.ownOutOfBand = ownOutOfBand
    let data = outOfBand[secured.peer] ?? outOfBand[secured.identity]
    terms.outOfBand = data?.secure
    terms.temporaryKey = data?.temporaryKey.flatMap { Key128(littleEndian: $0) }
    changeTerms?(&terms)
    return terms
  }

  private func permission(for secured: SecuredLink, at now: Instant) -> PairingPermission {
    // A request that uses a bond is no consent to another bond, which may be another device's.
    let isWanted = secured.requests.highest != nil && (secured.replacesBond || bonds.find(secured.identity) == nil)
    let end = attempts.wait(of: secured.identity, isWanted: isWanted, now: now)
    guard end == nil else { return .refused(.repeatedAttempts) }
    if isWanted { return .granted(ownTerms(secured)) }
    let isInVain = secured.role == .central && helpless.contains(secured.identity)
    guard settings.acceptsDevices, !isInVain || bonds.find(secured.identity) == nil else {
      return .refused(.pairingNotSupported)
    }
    return .granted(terms(secured, settings.capability))
  }

  /// True if a link's device is known to own its address: any device can show any address.
  private func hasIdentity(_ secured: SecuredLink) -> Bool {
    secured.manager.security.level > 1 || bonds.find(secured.identity) != nil
  }

  // MARK: - The machine

  private func run(_ secured: SecuredLink, _ step: (inout SecurityManager, Instant) -> [SecurityAction]) {
    guard links[secured.handle] === secured else { return }
    let (wasPairing, pairings) = (secured.manager.isPairing, secured.manager.pairings)
    if wasPairing {
      secured.manager.otherIdentities = Set(
        links.values.lazy.filter { $0 !== secured && self.hasIdentity($0) }.map(\.identity))
    }
    let actions = step(&secured.manager, context.scheduler.now)
    if secured.manager.pairings != pairings { secured.hasAsked = false }
    context.arm(&secured.alarm, at: secured.manager.deadline) { [weak self, weak secured] _ in
      guard let self, let secured else { return }
      run(secured) { (manager, now) in manager.timePassed(now: now) }
    }
    for action in actions {
      // The link may have ended.
      guard links[secured.handle] === secured else { return }
      let began = secured.manager.pairings != pairings
      perform(action, secured, wasPairing: wasPairing, isOfPairing: wasPairing || began)
    }
  }

  /// - Parameters:
  ///   - wasPairing: true if a pairing was under way before.
  ///   - isOfPairing: true if one was, or has begun.
  private func perform(_ action: SecurityAction, _ secured: SecuredLink, wasPairing: Bool, isOfPairing: Bool) {
    switch action {
    case .send(let packet): owner?.send(packet.encoded, on: secured.handle)
    case .encrypt(let key): encrypt(key, secured)
    case .replyToKeyRequest(let key): commands.reply(secured.handle, key)
    case .ask(let number, let question):
      secured.hasAsked = true
      lastQuestion += 1
      let id = QuestionID(lastQuestion)
      secured.question = (id, number)
      onEvent?(secured.peer, .question(id, question))
    case .show(let passkey, let entered):
      secured.hasAsked = true
      onEvent?(secured.peer, .showPasskey(passkey, entered: entered))
    case .secured:
      // A pairing ends when all keys have arrived, which may be in the same step.
      if !wasPairing { securedByBond(secured) }
      owner?.securityChanged(secured.handle)
    case .paired(let bond): paired(bond, secured)
    case .keysLost(let theirs): onEvent?(secured.peer, .keysLost(theirs: theirs))
    case .disconnect: owner?.pairingFailed(secured.handle)
    case .failed(let failure): failed(failure, secured, isOfPairing: isOfPairing)
    }
  }

  private func securedByBond(_ secured: SecuredLink) {
    // A request may have been made meanwhile.
    if secured.settleReached(in: context) { begin(secured) } else { settle(secured) }
  }

  private func encrypt(_ key: EncryptionKey, _ secured: SecuredLink) {
    commands.encrypt(secured.handle, with: key) { [weak self, weak secured] in
      guard let self, let secured else { return false }
      return links[secured.handle] === secured && secured.manager.awaitsEncryption
    } onRefusal: { [weak self, weak secured] status in
      guard let self, let secured else { return }
      run(secured) { (manager, _) in manager.encryptionFailed(status.rawValue) }
    }
  }

  // MARK: - Ends

  private func paired(_ bond: Bond?, _ secured: SecuredLink) {
    attempts.succeeded(secured.identity)
    if secured.manager.usedTemporaryKey == ownOutOfBand?.temporaryKey { ownOutOfBand?.temporaryKeyWasUsed() }
    if let bond { secured.identity = bond.peer }
    if secured.manager.hasFoundNoMeans, helpless.count < Self.maximumHelpless {
      helpless.insert(secured.identity)
    } else {
      helpless.remove(secured.identity)
    }
    secured.question = nil
    onEvent?(secured.peer, bond.map { .bonded($0) } ?? .pairedWithoutBond)
    settle(secured)
  }

  private func failed(_ failure: PairingFailure, _ secured: SecuredLink, isOfPairing: Bool) {
    let now = context.scheduler.now
    let isTooEarly = isOfPairing && failure == .theirs(.repeatedAttempts)
    if failure.isOfAuthentication || isTooEarly || isOfPairing && !secured.manager.isOwnPairing {
      attempts.failed(secured.identity, now: now)
    }
    secured.question = nil
    let error = isOfPairing ? failure.error(with: secured.peer) : failure.errorOfBond(with: secured.peer)
    context.logger.debug("\(error)")
    if isTooEarly, !secured.hasAsked, !secured.requests.isEmpty,
      let end = attempts.wait(of: secured.identity, isWanted: true, now: now),
      now.duration(to: end) <= Self.longestPause
    {
      return begin(secured, at: end)
    }
    if isOfPairing { onEvent?(secured.peer, .failed(error)) }
    settle(secured, error)
    guard !isOfPairing else { return }
    switch failure {
    case .encryption(HCIErrorCode.pinOrKeyMissing.rawValue):
      owner?.encryptionFailed(secured.handle, .pinOrKeyMissing)
    case .encryption, .encryptionTimeout: owner?.encryptionFailed(secured.handle, .authenticationFailure)
    // A request without result: the link continues unchanged.
    case .ours, .theirs, .timeout: break
    }
  }

  /// Ends a link's requests, after the call that caused it.
  private func settle(_ secured: SecuredLink, _ error: BluetoothError? = nil) {
    secured.settle(error, in: context)
  }
}
