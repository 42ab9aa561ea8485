import Adapter
import Bluetooth
import BluetoothCrypto
import HCI
import Host
import Radio

/// The user of `HostAddresses`.
protocol HostAddressesOwner: AnyObject {
  /// The controller does not work.
  func radioFailed(_ reason: String)
  /// The controller showed a quirk.
  func note(_ quirk: Quirk, _ holds: Bool)
  /// The controller is seen under this address from now on.
  func isSeen(under address: DeviceAddress)
}

/// The private addresses of one controller, and the list of devices with private addresses that it resolves
/// (`ResolvingList`): both change while its activities pause.
final class HostAddresses: AddressSource {
  /// The controller's answer to an address.
  private enum Answer: Hashable {
    case taken
    case refused
    /// No answer: the controller may have the address or not.
    case missing
  }

  /// Delay before a list that could not be changed is changed again.
  private static let postponement = Duration.seconds(60)

  weak var owner: (any HostAddressesOwner)?
  let pauses: AddressPauses
  /// The lifetime of an address, and the root of the keys; nil for no private addresses.
  var settings: PrivacySettings?
  /// The owner of all adapters' bonds.
  var bonds: (any BondSource)?

  private let activities: RadioActivities
  private let context: AdapterContext
  /// True while the controller is in use.
  private var isOpen = false
  /// Nil if the controller resolves no addresses.
  private var list: ResolvingList?
  /// The controller's permanent address.
  private var identity = DeviceAddress.none
  /// The number of times the controller was opened.
  private var openings = 0
  /// True once the controller has its first list: later changes need a pause.
  private var hasFirstList = false
  /// True if a device was reported under a private address that the controller should have resolved.
  private var hasOffended = false
  /// The alarm for a list that could not be changed.
  private var listAlarm: (any ScheduledWork)?

  init(_ activities: RadioActivities, in context: AdapterContext) {
    self.activities = activities
    self.context = context
    pauses = AddressPauses(of: activities, in: context)
    pauses.source = self
  }

  /// The key that resolves the addresses of a controller; nil if it has none.
  func key(of identity: DeviceAddress) -> Key128? {
    settings?.identityResolvingKey(of: identity).flatMap { Key128(littleEndian: $0) }
  }

  /// A controller was set up.
  /// - Returns: its first private address; nil if it has none.
  func begin(_ profile: ControllerProfile) -> DeviceAddress? {
    openings += 1
    (hasFirstList, hasOffended) = (false, false)
    isOpen = true
    identity = profile.address
    let resolves = profile.resolvingListSize > 0 && !profile.quirks.contains(.addressResolution)
    list = resolves ? ResolvingList(size: profile.resolvingListSize) : nil
    let address = key(of: identity).map { DeviceAddress.privateAddress(of: $0, using: &context.random) }
    pauses.begin(address ?? identity, for: address == nil ? nil : settings?.rotation)
    return address
  }

  /// The controller is closed.
  func close() {
    isOpen = false
    pauses.close()
    list = nil
    listAlarm?.cancel()
    listAlarm = nil
  }

  // MARK: - The resolving list

  /// True if the controller resolves the private addresses of this device.
  func resolves(_ device: DeviceAddress) -> Bool { list?.resolves(device) == true }

  /// True if the controller resolves the private addresses of this device, or is about to.
  func isToResolve(_ device: DeviceAddress) -> Bool { list?.isToResolve(device) == true }

  /// An advertisement as the controller can send it at present: a device in the list is addressed by a private address
  /// if that is wanted.
  func adapted(_ parameters: AdvertisingParameters) -> AdvertisingParameters {
    var adapted = parameters
    adapted.resolvesTarget = parameters.callsPrivately && parameters.target.map(resolves) == true
    return adapted
  }

  /// A device in the list was reported under this address. Firmware that restarted unnoticed has lost the list: it is
  /// loaded again the first time, and the quirk is learned at the second.
  func doesNotResolve(_ device: DeviceAddress, at address: DeviceAddress) {
    guard list?.shouldResolve(address, of: device) == true else { return }
    guard hasOffended else {
      hasOffended = true
      return listIsForgotten()
    }
    list?.distrust()
    owner?.note(.addressResolution, true)
    bondsChanged()
  }

  /// The controller may have restarted without its list.
  func listIsForgotten() {
    list?.forget()
    bondsChanged()
  }

  /// The bonds have changed.
  func bondsChanged() {
    guard hasFirstList, list != nil else { return }
    list?.want(entries)
    if list?.isDue == true { pauses.ask() }
  }

  /// The resolvable devices, the last bond first. Controllers refuse a key that they have for another device, and
  /// identities that are private addresses.
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

  /// Brings the list into the wanted state.
  /// - Parameter done: called then; never if the controller is closed before.
  private func changeList(_ done: @escaping () -> Void) {
    let opening = openings
    guard let packet = list?.next() else {
      if list?.isPostponed == true { changeLater() }
      return done()
    }
    activities.ask(packet) { [weak self] answer in
      guard let self, isOpen, openings == opening else { return }
      if answer.wasSent { list?.answered(answer.status) } else { list?.postpone() }
      changeList(done)
    }
  }

  /// Resolution is not switched while the controller searches for a train.
  private func changeLater() {
    listAlarm?.cancel()
    listAlarm = context.scheduler.schedule(after: Self.postponement) { [weak self] in self?.bondsChanged() }
  }

  // MARK: - Addresses

  /// Gives the controller its first resolving list, and its first private address if it has one.
  /// - Parameter done: called when it has them; never if it refuses the address.
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
      if answer == .taken { done() } else { self?.owner?.radioFailed("it takes no private address") }
    }
  }

  /// Gives the controller an address.
  /// - Parameter done: called with its answer; never if the controller is closed before.
  private func set(_ address: DeviceAddress, _ done: @escaping (Answer) -> Void) {
    let opening = openings
    activities.ask(CommandPacket(LESetRandomAddress { $0.address = address.value })) { [weak self] answer in
      guard let self, isOpen, openings == opening else { return }
      // The slot's answer for the controller is "unspecified error".
      done(answer.status.isSuccess ? .taken : answer.status.code == .unspecifiedError ? .missing : .refused)
    }
  }

  func changeAddress() { changeList { [weak self] in self?.replaceAddress() } }

  func resumes(under address: DeviceAddress) {
    owner?.isSeen(under: address)
    activities.adapt(adapted)
  }

  private func replaceAddress() {
    guard let key = key(of: identity) else { return pauses.changed(to: nil, for: nil) }
    let next = DeviceAddress.privateAddress(of: key, using: &context.random)
    set(next) { [weak self] answer in
      guard let self else { return }
      guard answer != .taken else { return pauses.changed(to: next, for: settings?.rotation) }
      context.logger.warning("the controller takes no new private address")
      if answer == .refused { pauses.changed(to: nil, for: AddressChanges.retry) } else { restoreAddress() }
    }
  }

  /// The controller's address is unknown: it is given the last one again.
  private func restoreAddress() {
    set(pauses.current) { [weak self] answer in
      guard let self else { return }
      guard answer == .taken else { return owner?.radioFailed("it does not take its private address again") ?? () }
      pauses.changed(to: nil, for: AddressChanges.retry)
    }
  }
}
