import Adapter
import Bluetooth
import HCI

/// The links with rising protection: by a pairing, or with the keys of a bond.
///
/// | State     | Input                                    | Then                                              |
/// |-----------|------------------------------------------|---------------------------------------------------|
/// | none      | `raise`, a bond that reaches the level   | the kernel encrypts: encrypting                   |
/// | none      | the same, with keys that the kernel lacks | failed: it would pair                            |
/// | none      | `raise`, no bond                         | Pair Device: pairing                              |
/// | none      | … that replaces a weaker bond, as central | Unpair Device, Pair Device: pairing              |
/// | none      | … the same as peripheral                 | the kernel asks the device: pairing               |
/// | none      | `encrypt`, as peripheral                 | waiting                                           |
/// | waiting   | `raise`                                  | the kernel asks the device: encrypting; 35 s anew |
/// | waiting   | `encrypt`                                | waiting, for 35 s anew                            |
/// | encrypting, waiting | the link has the level         | done                                              |
/// | pairing   | Pair Device succeeded                    | done; below the level, or keys refused: failed    |
/// | pairing   | … but the weaker keys encrypt the link   | the socket's level makes the kernel pair: pairing, until the new keys arrive |
/// | pairing   | Already Paired, for the first time       | Unpair Device, Pair Device: pairing               |
/// | any       | `raise`, `encrypt`                       | waits for the same outcome                        |
/// | any       | a failure, 35 s, the link's end          | failed; a link that cannot be encrypted ends, unless it was waited for |
///
/// Until the other side has encrypted the link the kernel accepts no packets on it, so our server could not respond.
/// The kernel ends the link of a device that does not answer its Security Request, and after one, kernels before 2024
/// pair with any device without a question. So a bonded device that has connected gets no Security Request, as bonded
/// centrals encrypt by themselves, unless a program wants to pair, or was refused something.
///
/// The kernel has no pairing with a device whose keys it has, and on an encrypted link Pair Device only sets the
/// capability.
final class SecurityRaises: LinkProtection {
  private struct Raise {
    /// True if the kernel was asked to pair; otherwise it encrypts with a bond's keys.
    let pairs: Bool
    /// The input and output capability if it pairs.
    let capability: PairingCapability
    var requests = SecurityRequests()
    /// True if new keys replace those of a weaker bond.
    var replacesBond = false
    /// True if the device is to encrypt the link by itself.
    var isPassive = false
    /// True if the kernel was asked a second time, after it forgot keys that were not to be kept.
    var wasRepeated = false
    /// Rings when it has taken too long.
    var alarm: any ScheduledWork
  }

  /// SMP gives up after 30 s (Core 5.4, Vol 3, Part H, 3.4).
  private static let timeout = Duration.seconds(35)

  /// Returns the pairing settings.
  private let settings: () -> PairingSettings
  private let management: ManagementInterface
  private let links: KernelLinks
  private let keys: KernelKeys
  private let context: AdapterContext
  private var raises: [ConnectionHandle: Raise] = [:]

  init(
    _ management: ManagementInterface, _ links: KernelLinks, _ keys: KernelKeys, in context: AdapterContext,
    settings: @escaping () -> PairingSettings
  ) {
    self.settings = settings
    self.management = management
    self.links = links
    self.keys = keys
    self.context = context
    links.protection = self
  }

  /// Has a link encrypted with the keys of its bond: by the device, if that has connected.
  func encrypt(_ link: KernelLink, to level: Int, _ done: @escaping (BluetoothError?) -> Void) {
    guard keys.bond(with: link.peer) != nil else {
      return context.fail(done, GAPError.connectionFailed.error("there is no bond with \(link.peer) any more"))
    }
    raise(link, to: level, as: .none, isPassive: link.role == .peripheral, replacesBond: false, done)
  }

  /// Raises the protection of a link to a level, 2 to 4.
  /// - Parameter isPassive: true if the device is to encrypt it by itself.
  func raise(
    _ link: KernelLink, to level: Int, as capability: PairingCapability, isPassive: Bool, replacesBond: Bool,
    _ done: @escaping (BluetoothError?) -> Void
  ) {
    // The controller's pending reports decide whether the link is up, and its protection.
    guard links.isUp(link) else {
      return context.fail(done, GAPError.notConnected.error("\(link.peer) is not connected"))
    }
    let bond = keys.bond(with: link.peer)
    guard
      let way = context.way(
        to: level, on: link, at: link.security.level, bond, replacesBond: replacesBond, done)
    else { return }
    if way == .encrypt, let bond, !keys.areWithKernel(bond) {
      let words = "the kernel gets the keys of \(link.peer) when no device is connected to the adapter: try again then"
      return context.fail(done, GAPError.connectionFailed.error(words))
    }
    if let raise = raises[link.handle] {
      raises[link.handle]?.requests.wait(for: level, done)
      guard raise.isPassive else { return }
      raise.alarm.cancel()
      raises[link.handle]?.alarm = alarm(of: link)
      if !isPassive { secure(link, to: level) }
      return
    }
    var raise = Raise(pairs: way == .pair, capability: capability, isPassive: isPassive, alarm: alarm(of: link))
    raise.replacesBond = way == .pair && bond != nil
    raise.requests.wait(for: level, done)
    raises[link.handle] = raise
    if raise.pairs { allowBonds() }
    if raise.replacesBond, link.role == .central { keys.remove(keys.identity(on: link)) }
    if raise.pairs, !raise.replacesBond || link.role == .central {
      pair(link, capability)
    } else if !isPassive {
      secure(link, to: level)
    }
  }

  private func alarm(of link: KernelLink) -> any ScheduledWork {
    context.scheduler.schedule(after: Self.timeout) { [weak self] in
      guard let self, let raise = raises[link.handle] else { return }
      let words = raise.pairs ? "finish the pairing" : "encrypt the link with the keys of its bond"
      // A device that was not asked may have the keys.
      let error = raise.isPassive ? GAPError.timeout : GAPError.pairingFailed
      end(link.handle, error.error("\(link.peer) did not \(words) in time"))
    }
  }

  private func secure(_ link: KernelLink, to level: Int) {
    raises[link.handle]?.isPassive = false
    let error = link.secure(level: level)
    // Without an error and a pending encryption it already had the level.
    if error != nil || !link.isSecuring { end(link.handle, error) }
  }

  private var isPairing: Bool { raises.values.contains(where: \.pairs) }

  /// Sets whether the kernel keeps keys of pairings: while we pair, or if a device may.
  func allowBonds() {
    management.send(SetBondable(value: settings().acceptsDevices || isPairing ? 1 : 0))
  }

  /// True if the kernel is raising the protection of a link.
  func isRaising(_ link: KernelLink) -> Bool { raises[link.handle].map { !$0.isPassive } ?? false }

  /// The protection of a link changed, or may have.
  func securityMayHaveChanged(_ link: KernelLink) {
    guard let raise = raises[link.handle], let lowest = raise.requests.lowest, lowest <= link.security.level else {
      return
    }
    // A pairing ends with Command Complete, when all keys have arrived, or with the keys that replace others.
    guard !raise.pairs || raise.replacesBond && keys.bond(with: link.peer)?.reaches(lowest, as: link.role) == true
    else {
      return
    }
    end(link.handle, nil)
  }

  /// A link ends. The kernel would connect to the device to continue a pairing.
  func linkEnds(_ link: KernelLink, _ error: BluetoothError) {
    if raises[link.handle]?.pairs == true {
      management.send(CancelPairDevice { $0.device = ManagementAddress(keys.identity(on: link)) })
    }
    end(link.handle, error.ofBond(with: link.peer))
  }

  /// The kernel answered Pair Device.
  /// - Returns: a device with a failed pairing, and the reason.
  func pairDeviceEnded(_ octets: [UInt8], _ status: ManagementStatus) -> (ManagementAddress, ManagementStatus)? {
    let device = octets.count >= 7 ? try? ManagementAddress(decoding: Array(octets.prefix(7))) : nil
    // Without an address it concerns the only candidate, or else its alarm rings.
    let candidates = links.all.filter { link in
      raises[link.handle]?.pairs == true && device.map { ManagementAddress(keys.identity(on: link)) == $0 } ?? true
    }
    guard candidates.count == 1, let link = candidates.first, let raise = raises[link.handle] else { return nil }
    let identity = ManagementAddress(keys.identity(on: link))
    if status == .alreadyPaired, !raise.wasRepeated {
      // The kernel has keys from an earlier link that were not to be kept.
      raises[link.handle]?.wasRepeated = true
      management.send(UnpairDevice { $0.device = identity })
      pair(link, raise.capability)
      return nil
    }
    guard status == .success else { return (identity, status) }
    link.updateSecurity()
    if raise.replacesBond, !hasNewKeys(link), let wanted = raise.requests.highest, wanted > link.security.level {
      secure(link, to: wanted)
    } else {
      end(link.handle, nil)
    }
    return nil
  }

  /// True if a pairing on a link has brought keys.
  private func hasNewKeys(_ link: KernelLink) -> Bool {
    keys.machine.bondMade(with: keys.identity(on: link)) != nil
  }

  /// Ends the raising of a link's protection, if any, with an error or with the level that was reached.
  func end(_ handle: ConnectionHandle, _ error: BluetoothError?) {
    guard var raise = raises.removeValue(forKey: handle) else { return }
    raise.alarm.cancel()
    let link = links.link(handle)
    // The kernel no longer accepts packets on it.
    if error != nil, link?.isSecuring == true { link?.disconnect() }
    link?.endSecuring()
    if raise.pairs, !isPairing { allowBonds() }
    // The bond holds again.
    if raise.replacesBond, link.map(hasNewKeys) != true { keys.bondsAdded(isInUse: true) }
    // A level that was reached with keys that are refused does not count.
    let level = keys.machine.acceptsKeys(on: handle) ? link?.security.level ?? 1 : 1
    raise.requests.settle(at: level, error, countsReached: true, in: context)
  }

  private func pair(_ link: KernelLink, _ capability: PairingCapability) {
    management.send(
      PairDevice {
        $0.device = ManagementAddress(keys.identity(on: link))
        $0.capability = capability.code
      })
  }
}
