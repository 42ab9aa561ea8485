import Adapter
import Bluetooth
import HCI

/// The keys of one controller: the bonds, the identities of the devices on its links, and what a pairing makes of both.
///
/// The kernel tells the keys of a pairing when all have been exchanged: the device's identity first, with the key that
/// resolves its addresses, then the keys for signatures, and last those for encryption. The bond is told with the
/// latter, as a whole: all that a pairing brings is kept or refused together.
///
/// | Input                        | Of the link or identity                   | Outcome                                   |
/// |------------------------------|-------------------------------------------|-------------------------------------------|
/// | New Identity Resolving Key   | one link has the address, no other the identity | the link has the identity           |
/// | New Identity Resolving Key   | several links have the one or the other   | all are `refusing`; the claimants end     |
/// | New IRK, New CSRK            | any                                       | kept until a key for encryption: partial  |
/// | New Long Term Key            | a link that is `refusing`                 | none                                      |
/// | New Long Term Key, no store  | any                                       | `pairedWithoutBond`                       |
/// | New Long Term Key            | partial keys                              | a new bond, with them                     |
/// | New Long Term Key            | no partial keys                           | the bond gets the key, or is made         |
/// | New Long Term Key, no secret | any                                       | `refusing`, `keysRefused`, Unpair Device  |
/// | the bond was removed         | any                                       | the bond is gone                          |
///
/// The bond that `keysRefused` names is that of before the pairing. The keys of one pairing come as several events, so
/// a link remembers the bond that the first of them replaced; a second key for the same role is of the next pairing.
struct KeyMachine {
  enum Action: Hashable {
    /// Tell the users, who know the device by this address.
    case tell(DeviceAddress, PairingEvent)
    /// Pairing with this device failed.
    case failed(ManagementAddress, ManagementStatus)
    /// End this link.
    case disconnect(handle: UInt16)
    /// Have the kernel remove the keys of this device and end its link.
    case unpair(ManagementAddress)
    /// A warning about a device, for the log.
    case warn(String, DeviceAddress)
  }

  /// Keys of a pairing whose key for encryption has not come yet.
  private struct PartialBond {
    var identityResolvingKey: [UInt8]?
    var signatureKeys: [SignatureKey] = []
  }

  /// A bond that keys of a pairing have replaced.
  private struct ReplacedBond {
    /// The bond before the pairing.
    let earlier: Bond?
    /// The roles for which keys have come since.
    var roles: Set<LinkRole> = []
  }

  private struct LinkKeys {
    /// The address by which users know the device.
    let peer: DeviceAddress
    /// The address by which the kernel knows it: its identity, once that is known.
    var identity: DeviceAddress
    /// Whether keys of the device are not kept: after one that is not secret, or an identity that two claim.
    var isRefusing = false
    var replaced: ReplacedBond?
  }

  private static let zeros = [UInt8](repeating: 0, count: 16)
  /// More pairings than can end at the same time.
  private static let mostPartial = 32

  /// The controller's own address.
  var local = DeviceAddress.none
  /// The bonds of all adapters.
  private(set) var bonds: [Bond] = []
  /// Whether there are bonds that the kernel was not told of.
  private var hasNewBonds = false
  private var links: [UInt16: LinkKeys] = [:]
  /// By identity.
  private var partialBonds: [DeviceAddress: PartialBond] = [:]

  // MARK: - Links

  /// A link was announced.
  /// - Parameter identity: the address by which the kernel knows the device.
  mutating func linkBegan(_ handle: UInt16, _ peer: DeviceAddress, identity: DeviceAddress) {
    links[handle] = LinkKeys(peer: peer, identity: identity)
  }

  /// A link has ended.
  mutating func linkEnded(_ handle: UInt16) { links[handle] = nil }

  /// Whether keys of the device on this link are kept.
  func keepsKeys(on handle: UInt16) -> Bool { links[handle]?.isRefusing != true }

  /// The link to the device that the kernel knows by this address.
  func handle(of identity: DeviceAddress) -> UInt16? { first { $0.identity == identity }?.handle }

  /// The address by which users know a device that the kernel names.
  func known(_ identity: DeviceAddress) -> DeviceAddress {
    first { $0.identity == identity }?.link.peer ?? identity
  }

  /// The address by which the kernel knows the device on a link.
  func identity(on handle: UInt16) -> DeviceAddress? { links[handle]?.identity }

  /// The address by which the kernel knows a device that users name.
  func identity(of peer: DeviceAddress) -> DeviceAddress { first { $0.peer == peer }?.link.identity ?? peer }

  private func first(_ fits: (LinkKeys) -> Bool) -> (handle: UInt16, link: LinkKeys)? {
    links.first { fits($0.value) }.map { ($0.key, $0.value) }
  }

  // MARK: - Bonds

  /// The bond with a device on this adapter.
  func bond(with peer: DeviceAddress) -> Bond? {
    let identity = identity(of: peer)
    return bonds.first { $0.local == local && $0.peer == identity }
  }

  /// Other bonds are kept from outside.
  /// - Parameter isRunning: whether the controller is in use, so that the kernel has been told of the earlier ones.
  mutating func setBonds(_ new: [Bond], isRunning: Bool) {
    let known = bonds
    bonds = new
    if isRunning, new.contains(where: { $0.local == local && !known.contains($0) }) { hasNewBonds = true }
  }

  /// The bonds of this adapter, if the kernel does not know all of them and there is no link; they count as told then.
  /// The kernel frees the keys that it has when it is told, also those that a pairing still uses.
  mutating func takeNewBonds() -> [Bond]? {
    guard hasNewBonds, links.isEmpty else { return nil }
    hasNewBonds = false
    return bonds.filter { $0.local == local }
  }

  /// The bond with a device is gone.
  mutating func forget(_ identity: DeviceAddress) { bonds.removeAll { $0.local == local && $0.peer == identity } }

  // MARK: - Keys

  /// Takes a key of a pairing.
  mutating func take(_ event: ManagementEvent) -> [Action] {
    switch event {
    case .newLongTermKey(let new):
      guard let key = LongTermKey(new.key) else { return refuse(new.key) }
      guard let identity = new.key.device.device else { return [] }
      guard new.storeHint else { return [.tell(known(identity), .pairedWithoutBond)] }
      return add(key, of: identity)
    case .newIdentityResolvingKey(let new):
      guard let identity = new.key.device.device else { return [] }
      let actions = claim(identity, used: new.resolvableAddress)
      // A key of zeros resolves any address that somebody makes up.
      if new.storeHint, new.key.value != Self.zeros { hold(identity) { $0.identityResolvingKey = new.key.value } }
      return actions
    case .newSignatureResolvingKey(let new):
      guard let identity = new.key.device.device, new.storeHint, new.key.value != Self.zeros else { return [] }
      let key = SignatureKey(value: new.key.value, isOurs: new.key.type % 2 == 0, isAuthenticated: new.key.type >= 2)
      hold(identity) { $0.signatureKeys.append(key) }
      return []
    default: return []
    }
  }

  private mutating func hold(_ identity: DeviceAddress, _ change: (inout PartialBond) -> Void) {
    if partialBonds.count >= Self.mostPartial { partialBonds = [:] }
    change(&partialBonds[identity, default: PartialBond()])
  }

  private mutating func add(_ key: LongTermKey, of identity: DeviceAddress) -> [Action] {
    let other = partialBonds.removeValue(forKey: identity)
    let own = links.filter { $0.value.identity == identity }
    guard own.values.allSatisfy({ !$0.isRefusing }) else { return [] }
    let earlier = bond(with: identity)
    for (handle, link) in own {
      var replaced = link.replaced
      if other != nil || replaced?.roles.contains(key.role) != false { replaced = ReplacedBond(earlier: earlier) }
      replaced?.roles.insert(key.role)
      links[handle]?.replaced = replaced
    }
    var bond = earlier ?? Bond(local: local, peer: identity)
    if let other {
      // The first key of a pairing: nothing of an earlier one stays.
      bond = Bond(local: local, peer: identity)
      bond.identityResolvingKey = other.identityResolvingKey
      for key in other.signatureKeys { bond.add(key) }
    }
    bond.add(key)
    bonds.removeAll { $0.local == bond.local && $0.peer == bond.peer }
    bonds.append(bond)
    return [.tell(known(identity), .bonded(bond))]
  }

  /// A device tells its identity. The kernel names the resolvable address that it has used until then, but no other
  /// private one: then it is the link with such an address. An identity that another link has is refused, and so is one
  /// of which it is not clear whose it is.
  /// - Parameter used: the resolvable private address; 0 if it used none.
  private mutating func claim(_ identity: DeviceAddress, used: UInt64) -> [Action] {
    let owners = links.filter { $0.value.identity == identity }.keys.sorted()
    let claimants = links.filter { _, link in
      guard link.identity != identity else { return false }
      return used == 0 ? link.identity.isNonResolvablePrivate : link.identity.value == used
    }.keys.sorted()
    guard claimants.count > 1 || (!claimants.isEmpty && !owners.isEmpty) else {
      for handle in claimants { links[handle]?.identity = identity }
      return []
    }
    for handle in owners + claimants { links[handle]?.isRefusing = true }
    for handle in claimants { links[handle]?.identity = identity }
    // The kernel has the claimant's keys instead of those of the bond.
    hasNewBonds = true
    return [.warn("two devices claim one identity: neither is paired", identity)]
      + claimants.map { .disconnect(handle: $0) }
  }

  /// The device gave a key that others know. The kernel must not encrypt with it, neither on this link nor later, and
  /// no other key of this pairing is kept. The bond before the pairing holds again.
  private mutating func refuse(_ key: ManagementLongTermKey) -> [Action] {
    guard let identity = key.device.device else { return [] }
    let hasBegun = partialBonds.removeValue(forKey: identity) == nil
    let role: LinkRole = key.isCentral ? .central : .peripheral
    var earlier = bond(with: identity)
    for (handle, link) in links where link.identity == identity {
      links[handle]?.isRefusing = true
      if hasBegun, let replaced = link.replaced, !replaced.roles.contains(role) { earlier = replaced.earlier }
    }
    forget(identity)
    return [
      .warn("a device gave a key that is not secret; it is not paired", identity),
      .failed(key.device, .authenticationFailed),
      .tell(known(identity), .keysRefused(earlier: earlier)),
      .unpair(key.device),
    ]
  }
}

extension DeviceAddress {
  /// Whether it is a private address that nobody can resolve: random, with 00 in the two top bits.
  fileprivate var isNonResolvablePrivate: Bool { kind == .random && value >> 46 == 0 }
}
