import Adapter
import Bluetooth
import HCI

/// The keys from pairings on one controller's links, and the identities of their devices.
///
/// The kernel reports the keys of a pairing once all have been exchanged: the device's identity first, with the key
/// that resolves its addresses, then the keys for signatures, and last those for encryption. The bond is reported with
/// the latter, as a whole: everything from a pairing is kept or refused together. The machine stores no bonds: it
/// remembers the bond made on a link until the link ends, as its keys arrive in several events.
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
/// | the bond was removed         | any                                       | the link's new keys are forgotten         |
///
/// `keysRefused` names the bond from before the pairing. A second key for the same role belongs to the next pairing.
struct KeyMachine {
  enum Action: Hashable {
    /// Notify the users, which know the device by this address.
    case tell(DeviceAddress, PairingEvent)
    /// Pairing with this device failed.
    case failed(ManagementAddress, ManagementStatus)
    /// End this link.
    case disconnect(handle: UInt16)
    /// Make the kernel remove this device's keys and end its link.
    case unpair(ManagementAddress)
    /// A warning about a device, for the log.
    case warn(String, DeviceAddress)
  }

  /// The keys of a pairing without an encryption key yet.
  private struct PartialBond {
    var identityResolvingKey: [UInt8]?
    var signatureKeys: [SignatureKey] = []
  }

  /// The bond that a pairing has made on a link.
  private struct MadeBond {
    /// The bond before the pairing.
    let earlier: Bond?
    var bond: Bond
    /// The roles with received keys.
    var roles: Set<LinkRole> = []
  }

  /// Finds the stored bond with a device, by its identity.
  typealias StoredBonds = (DeviceAddress) -> Bond?

  private static let zeros = [UInt8](repeating: 0, count: 16)
  /// More pairings than can end at the same time.
  private static let maximumPartial = 32

  /// The devices on the links.
  private(set) var identities = LinkIdentities()
  /// The links with keys that are not kept: after a key that is not secret, or an identity that two devices claim.
  private var refusing: Set<UInt16> = []
  /// By link.
  private var made: [UInt16: MadeBond] = [:]
  /// By identity.
  private var partialBonds: [DeviceAddress: PartialBond] = [:]
  /// True if the bonds have to be loaded into the kernel again.
  private var mustReload = false
  /// The kernel's keys for encryption, as far as known.
  private var known: [Bond.ID: [LongTermKey]] = [:]

  // MARK: - Links

  /// A link was announced.
  /// - Parameter identity: the device's address in the kernel.
  mutating func linkBegan(_ handle: UInt16, _ peer: DeviceAddress, identity: DeviceAddress) {
    linkEnded(handle)
    identities.began(handle, peer, identity: identity)
  }

  /// A link has ended.
  mutating func linkEnded(_ handle: UInt16) {
    identities.ended(handle)
    refusing.remove(handle)
    made[handle] = nil
  }

  /// True if keys of the device on this link are accepted.
  func acceptsKeys(on handle: UInt16) -> Bool { !refusing.contains(handle) }

  // MARK: - Bonds

  /// The bond that pairings have made with a device on a present link, unless it was removed.
  func bondMade(with identity: DeviceAddress) -> Bond? {
    identities.handles(of: identity).lazy.compactMap { self.made[$0]?.bond }.first
  }

  /// The bond with a device was removed or refused.
  mutating func forget(_ identity: DeviceAddress) {
    known = known.filter { $0.key.peer != identity }
    for handle in identities.handles(of: identity) { made[handle] = nil }
  }

  /// Bonds were added that the kernel does not have.
  mutating func bondsAdded() { mustReload = true }

  /// These bonds are loaded into the kernel, in place of any before.
  mutating func bondsAreLoaded(_ bonds: [Bond]) {
    mustReload = false
    known = Dictionary(bonds.map { ($0.id, $0.longTermKeys) }) { $1 }
  }

  /// The kernel refused the keys for encryption: they are loaded again at the next chance.
  mutating func bondsAreRefused() {
    known = [:]
    mustReload = true
  }

  /// True if the kernel has a bond's keys: without them it would pair when requested to encrypt.
  func isKnown(_ bond: Bond) -> Bool { known[bond.id] == bond.longTermKeys }

  /// True if all bonds are to be loaded now: the kernel lacks some, and there is no link. Loading frees the kernel's
  /// present keys, including any that a pairing still uses.
  var isReloadDue: Bool { mustReload && identities.isEmpty }

  // MARK: - Keys

  /// Receives a pairing's key.
  /// - Parameters:
  ///   - local: the controller's own address.
  ///   - stored: the bonds of that controller.
  mutating func receive(_ event: ManagementEvent, on local: DeviceAddress, stored: StoredBonds) -> [Action] {
    switch event {
    case .newLongTermKey(let new):
      guard let key = LongTermKey(new.key) else { return refuse(new.key, stored) }
      guard let identity = new.key.device.device else { return [] }
      guard new.storeHint else { return [.tell(identities.known(identity), .pairedWithoutBond)] }
      return add(key, of: Bond.ID(local: local, peer: identity), stored)
    case .newIdentityResolvingKey(let new):
      guard let identity = new.key.device.device else { return [] }
      let actions = claim(identity, used: new.resolvableAddress)
      // An all-zero key resolves any forged address.
      if new.storeHint, new.key.value != Self.zeros {
        changePartialBond(of: identity) { $0.identityResolvingKey = new.key.value }
      }
      return actions
    case .newSignatureResolvingKey(let new):
      guard let identity = new.key.device.device, new.storeHint, new.key.value != Self.zeros else { return [] }
      let key = SignatureKey(value: new.key.value, isOurs: new.key.type % 2 == 0, isAuthenticated: new.key.type >= 2)
      changePartialBond(of: identity) { $0.signatureKeys.append(key) }
      return []
    default: return []
    }
  }

  private mutating func changePartialBond(of identity: DeviceAddress, _ change: (inout PartialBond) -> Void) {
    if partialBonds.count >= Self.maximumPartial { partialBonds = [:] }
    change(&partialBonds[identity, default: PartialBond()])
  }

  private mutating func add(_ key: LongTermKey, of id: Bond.ID, _ stored: StoredBonds) -> [Action] {
    let other = partialBonds.removeValue(forKey: id.peer)
    let handles = identities.handles(of: id.peer)
    guard refusing.isDisjoint(with: handles) else { return [] }
    let earlier = bondMade(with: id.peer) ?? stored(id.peer)
    var bond = earlier ?? Bond(local: id.local, peer: id.peer)
    if let other {
      // The first key of a pairing: discards everything from an earlier one.
      bond = Bond(local: id.local, peer: id.peer)
      bond.identityResolvingKey = other.identityResolvingKey
      for key in other.signatureKeys { bond.add(key) }
    }
    bond.add(key)
    known[id] = bond.longTermKeys
    for handle in handles {
      var new = made[handle] ?? MadeBond(earlier: earlier, bond: bond)
      if other != nil || new.roles.contains(key.role) { new = MadeBond(earlier: earlier, bond: bond) }
      new.bond = bond
      new.roles.insert(key.role)
      made[handle] = new
    }
    return [.tell(identities.known(id.peer), .bonded(bond))]
  }

  /// A device reveals its identity. The kernel names the resolvable address that the device has used until then, but no
  /// other private one: then the identity belongs to the link with such an address. An identity that another link has
  /// is refused, and so is an ambiguous one.
  /// - Parameter used: the resolvable private address; 0 if it used none.
  private mutating func claim(_ identity: DeviceAddress, used: UInt64) -> [Action] {
    let owners = identities.handles(of: identity)
    let claimants = identities.handles { other in
      guard other != identity else { return false }
      return used == 0 ? other.isNonResolvablePrivate : other.value == used
    }
    for handle in claimants { identities.identified(handle, as: identity) }
    guard claimants.count > 1 || (!claimants.isEmpty && !owners.isEmpty) else { return [] }
    refusing.formUnion(owners + claimants)
    // The kernel has the claimant's keys instead of the bond's.
    mustReload = true
    known = known.filter { $0.key.peer != identity }
    return [.warn("two devices claim one identity: neither is paired", identity)]
      + claimants.map { .disconnect(handle: $0) }
  }

  /// The device gave a publicly known key. The kernel must not encrypt with it, neither on this link nor later, and no
  /// other key of this pairing is kept. The bond from before the pairing holds again.
  private mutating func refuse(_ key: ManagementLongTermKey, _ stored: StoredBonds) -> [Action] {
    guard let identity = key.device.device else { return [] }
    let hasBegun = partialBonds.removeValue(forKey: identity) == nil
    let role: LinkRole = key.isCentral ? .central : .peripheral
    var earlier = bondMade(with: identity) ?? stored(identity)
    for handle in identities.handles(of: identity) {
      refusing.insert(handle)
      if hasBegun, let made = made[handle], !made.roles.contains(role) { earlier = made.earlier }
    }
    forget(identity)
    return [
      .warn("a device gave a key that is not secret; it is not paired", identity),
      .failed(key.device, .authenticationFailed),
      .tell(identities.known(identity), .keysRefused(earlier: earlier)),
      .unpair(key.device),
    ]
  }
}

extension DeviceAddress {
  /// True for a private address without a key: random, with 00 in the two top bits.
  fileprivate var isNonResolvablePrivate: Bool { kind == .random && value >> 46 == 0 }
}
