import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Host
import Radio

/// The user of `HostAddresses`.
protocol HostAddressesOwner: AnyObject {
  /// Whether scan, advertising and connecting may pause: not when nothing goes on any more.
  var mayPause: Bool { get }
  /// They go on under this address, except for unwanted ones: their ends were not told. The radio tells when they have
  /// begun again (`RadioAction.resumed`).
  func resume(under address: DeviceAddress, isScanOver: Bool, over: Set<AdvertisingSetID>)
  /// The controller does not work.
  func controllerFailed(_ reason: String)
}

/// The private addresses under which one controller is seen, and the list of the devices whose private addresses it
/// resolves: runs `OwnAddresses` by the clock, and `ResolvingList` while its activities pause.
final class HostAddresses {
  /// When a list that could not be changed is changed again.
  private static let postponement = Duration.seconds(60)

  weak var owner: (any HostAddressesOwner)?
  /// For how long an address is used, and the root of the keys; nil for no private addresses.
  var settings: PrivacySettings?
  /// The owner of the bonds of all adapters.
  var bonds: (any BondSource)?

  private let activities: RadioActivities
  private let context: AdapterContext
  /// Nil while the controller is not in use.
  private var machine: OwnAddresses?
  /// Nil if the controller resolves no addresses.
  private var list: ResolvingList?
  /// The address that the controller keeps.
  private var identity = DeviceAddress.none
  /// How often a controller was opened.
  private var openings = 0
  /// Whether the controller has its first list: later changes need a pause.
  private var hasFirstList = false
  private var alarm: (any ScheduledWork)?
  /// For a list that could not be changed.
  private var listAlarm: (any ScheduledWork)?
  private var random = SystemRandomNumberGenerator()

  init(_ activities: RadioActivities, in context: AdapterContext) {
    self.activities = activities
    self.context = context
  }

  /// The key that resolves the addresses of a controller; nil if it has none.
  func key(of identity: DeviceAddress) -> Key128? {
    settings?.identityResolvingKey(of: identity).flatMap { Key128(littleEndian: $0) }
  }

  /// A controller was set up.
  /// - Returns: its first private address; nil if it has none.
  func begin(_ profile: ControllerProfile) -> DeviceAddress? {
    openings += 1
    hasFirstList = false
    identity = profile.address
    list = profile.resolvingListSize > 0 ? ResolvingList(size: profile.resolvingListSize) : nil
    let key = key(of: identity)
    var new = OwnAddresses(key: key, rotation: settings?.rotation ?? .zero)
    let address = new.begin(identity, at: context.scheduler.now, using: &random)
    machine = new
    arm()
    return key == nil ? nil : address
  }

  /// The controller is closed.
  func close() {
    machine = nil
    list = nil
    alarm?.cancel()
    alarm = nil
    listAlarm?.cancel()
    listAlarm = nil
  }

  // MARK: - The resolving list

  /// Whether the controller resolves the private addresses of this device.
  func resolves(_ device: DeviceAddress) -> Bool { list?.resolves(device) == true }

  /// Whether the controller resolves the private addresses of this device, or is about to.
  func isToResolve(_ device: DeviceAddress) -> Bool { list?.isToResolve(device) == true }

  /// An advertisement as the controller can send it at present: a device in the list is called under a private address
  /// if that is wanted.
  func adapted(_ parameters: AdvertisingParameters) -> AdvertisingParameters {
    var adapted = parameters
    adapted.resolvesTarget = parameters.callsPrivately && parameters.target.map(resolves) == true
    return adapted
  }

  /// A device in the list was reported under this address.
  func doesNotResolve(_ device: DeviceAddress, at address: DeviceAddress) {
    guard list?.shouldResolve(address, of: device) == true else { return }
    context.logger.info("the controller does not resolve private addresses, which it should; bled does")
    list?.distrust()
    bondsChanged()
  }

  /// Other bonds are there.
  func bondsChanged() {
    guard hasFirstList, list != nil else { return }
    list?.want(entries)
    if list?.isDue == true { run { $0.listChanged() } }
  }

  /// The devices that can be resolved, the last bond first. Controllers refuse a key that they have for another device,
  /// and identities that are private addresses.
  private var entries: [ResolvingList.Entry] {
    let localKey = key(of: identity)
    var keys: Set<[UInt8]> = []
    return (bonds?.all ?? []).compactMap { bond in
      guard bond.local == identity, bond.peer.isIdentity,
        let octets = bond.identityResolvingKey, let key = Key128(littleEndian: octets), key != .zero,
        keys.insert(octets).inserted
      else { return nil }
      return ResolvingList.Entry(device: bond.peer, key: key, localKey: localKey)
    }
  }

  /// Brings the list into the state that is wanted.
  /// - Parameter done: called then; never if the controller is closed before.
  private func changeList(_ done: @escaping () -> Void) {
    let opening = openings
    guard let packet = list?.next() else {
      if list?.isPostponed == true { changeLater() }
      return done()
    }
    activities.ask(packet) { [weak self] answer in
      guard let self, machine != nil, openings == opening else { return }
      if answer.wasSent { list?.answered(answer.status) } else { list?.postpone() }
      changeList(done)
    }
  }

  /// Resolution is not switched while the controller looks for a train.
  private func changeLater() {
    listAlarm?.cancel()
    listAlarm = context.scheduler.schedule(after: Self.postponement) { [weak self] in self?.bondsChanged() }
  }

  // MARK: - Addresses

  /// Whether this is an end for the pause, which programs need not notice.
  func withholds(_ action: RadioAction) -> Bool { machine?.withholds(action) == true }

  /// All activities have ended for the pause.
  func becameQuiet() { run { $0.quiet(at: self.context.scheduler.now, using: &self.random) } }

  /// Gives the controller its first resolving list, and its first private address if it has one.
  /// - Parameter done: called when it has them; never if it does not take the address.
  func setFirst(_ address: DeviceAddress?, _ done: @escaping () -> Void) {
    list?.want(entries)
    changeList { [weak self] in
      guard let self else { return }
      let ready = { [weak self] in
        self?.hasFirstList = true
        done()
        // Bonds may have changed meanwhile.
        self?.bondsChanged()
      }
      guard let address else { return ready() }
      setFirst(address, ready)
    }
  }

  private func setFirst(_ address: DeviceAddress, _ done: @escaping () -> Void) {
    set(address) { [weak self] answer in
      if answer == .taken { return done() }
      // Without the controller there is no machine.
      if let self, machine != nil { owner?.controllerFailed("it takes no private address") }
    }
  }

  private func set(_ address: DeviceAddress, _ done: @escaping (OwnAddresses.Answer) -> Void) {
    activities.ask(CommandPacket(LESetRandomAddress { $0.address = address.value })) { answer in
      // The slot's answer for the controller is "unspecified error".
      done(answer.status.isSuccess ? .taken : answer.status.code == .unspecifiedError ? .missing : .refused)
    }
  }

  private func run(_ step: (inout OwnAddresses) -> [OwnAddresses.Action]) {
    guard var machine else { return }
    let actions = step(&machine)
    self.machine = machine
    for action in actions { perform(action) }
    arm()
  }

  private func arm() {
    alarm?.cancel()
    alarm = machine?.deadline.map { deadline in
      context.scheduler.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        run { $0.tick(at: self.context.scheduler.now) }
      }
    }
  }

  private func perform(_ action: OwnAddresses.Action) {
    switch action {
    case .pauseIsDue: pause()
    case .changeList:
      changeList { [weak self] in
        guard let self else { return }
        run { $0.listed(at: self.context.scheduler.now, using: &self.random) }
      }
    case .set(let address):
      set(address) { [weak self] answer in
        guard let self else { return }
        if answer != .taken { context.logger.warning("the controller takes no new private address") }
        run { $0.answered(answer, at: self.context.scheduler.now) }
      }
    case .resume(let address, let scanEnded, let ended):
      let isScanOver = scanEnded && activities.targets.scan == nil
      owner?.resume(
        under: address, isScanOver: isScanOver, over: ended.filter { activities.targets.advertising[$0] == nil })
      activities.adapt(adapted)
      activities.run(.resume(address, activities.targets))
    case .failed: owner?.controllerFailed("it does not take its private address again")
    }
  }

  private func pause() {
    guard owner?.mayPause == true else { return }
    machine?.pause(at: context.scheduler.now)
    activities.run(.pause)
  }
}
