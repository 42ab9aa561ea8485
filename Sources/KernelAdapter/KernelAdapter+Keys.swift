import Adapter
import Bluetooth
import HCI
import Logging

// What comes of a pairing. The kernel tells the keys when all have been exchanged: the device's identity first, with
// the key that resolves its addresses, then the keys for signatures, and last those for encryption. The bond is told
// with the latter, as a whole: what a pairing brings is kept or refused together.

/// Keys of a pairing whose key for encryption has not come yet.
struct PartialBond {
  var identityResolvingKey: [UInt8]?
  var signatureKeys: [SignatureKey] = []
}

/// What the keys of a pairing replace: the bond is told after each, and a later one may show that none may be kept.
struct ReplacedBond {
  /// The bond before the pairing.
  let earlier: Bond?
  /// The roles for which keys have come since; a second one for the same role is of another pairing.
  var roles: Set<LinkRole> = []
}

extension KernelAdapter {
  private static let zeros = [UInt8](repeating: 0, count: 16)
  /// More pairings than can end at the same time.
  private static let mostPartial = 32

  func take(key event: ManagementEvent) {
    switch event {
    case .newLongTermKey(let new):
      guard let key = LongTermKey(new.key) else { return refuse(new.key) }
      guard new.storeHint else { return tell(new.key.device, .pairedWithoutBond) }
      add(key, of: new.key.device)
    case .newIdentityResolvingKey(let new):
      guard let identity = new.key.device.device else { return }
      claim(identity, used: new.resolvableAddress)
      // A key of zeros resolves what anybody makes up.
      guard new.storeHint, new.key.value != Self.zeros else { return }
      hold(identity) { $0.identityResolvingKey = new.key.value }
    case .newSignatureResolvingKey(let new):
      guard let identity = new.key.device.device, new.storeHint, new.key.value != Self.zeros else { return }
      let key = SignatureKey(value: new.key.value, isOurs: new.key.type % 2 == 0, isAuthenticated: new.key.type >= 2)
      hold(identity) { $0.signatureKeys.append(key) }
    default: break
    }
  }

  private func hold(_ identity: DeviceAddress, _ change: (inout PartialBond) -> Void) {
    if partialBonds.count >= Self.mostPartial { partialBonds = [:] }
    change(&partialBonds[identity, default: PartialBond()])
  }

  private func add(_ key: LongTermKey, of device: ManagementAddress) {
    guard let identity = device.device else { return }
    let other = partialBonds.removeValue(forKey: identity)
    let own = links.values.filter { $0.kernelPeer == identity }
    guard own.allSatisfy(\.keepsKeys) else { return }
    let earlier = bond(with: identity)
    for link in own {
      var replaced = link.replaced
      if other != nil || replaced?.roles.contains(key.role) != false { replaced = ReplacedBond(earlier: earlier) }
      replaced?.roles.insert(key.role)
      link.replaced = replaced
    }
    var bond = earlier ?? Bond(local: address, peer: identity)
    if let other {
      // The first key of a pairing: nothing of an earlier one stays.
      bond = Bond(local: address, peer: identity)
      bond.identityResolvingKey = other.identityResolvingKey
      for key in other.signatureKeys { bond.add(key) }
    }
    bond.add(key)
    lifecycle.bonds.removeAll { $0.local == bond.local && $0.peer == bond.peer }
    lifecycle.bonds.append(bond)
    emit(.pairing(known(identity), .bonded(bond)))
  }

  /// A device tells its identity. The kernel names the resolvable address that it has used until now, but no other
  /// private one: then it is the link with such an address. An identity that another link has is refused, and so is one
  /// of which it is not clear whose it is.
  /// - Parameter used: the resolvable private address; 0 if it used none.
  private func claim(_ identity: DeviceAddress, used: UInt64) {
    let owners = links.values.filter { $0.kernelPeer == identity }
    let claimants = links.values.filter {
      used == 0 ? $0.kernelPeer.isNonResolvablePrivate : $0.kernelPeer.value == used
    }
    .filter { $0.kernelPeer != identity }
    if claimants.count == 1, owners.isEmpty {
      claimants[0].kernelPeer = identity
    } else if !claimants.isEmpty {
      logger.warning("two devices claim one identity: neither is paired", metadata: ["peer": "\(identity)"])
      for link in owners + claimants { link.keepsKeys = false }
      for link in claimants {
        link.kernelPeer = identity
        link.disconnect()
      }
      // The kernel's keys are those of the claimant by now.
      hasNewBonds = true
    }
  }

  /// The device gave a key that others know. The kernel must not encrypt with it, neither on this link nor later, and
  /// no other key of this pairing is kept. The bond before the pairing holds again.
  private func refuse(_ key: ManagementLongTermKey) {
    guard let index, let identity = key.device.device else { return }
    logger.warning("a device gave a key that is not secret; it is not paired", metadata: ["peer": "\(identity)"])
    let hasBegun = partialBonds.removeValue(forKey: identity) == nil
    var earlier = bond(with: identity)
    for link in links.values where link.kernelPeer == identity {
      link.keepsKeys = false
      let role: LinkRole = key.isCentral ? .central : .peripheral
      if hasBegun, let replaced = link.replaced, !replaced.roles.contains(role) { earlier = replaced.earlier }
    }
    failed(key.device, .authenticationFailed)
    lifecycle.bonds.removeAll { $0.local == address && $0.peer == identity }
    tell(key.device, .keysRefused(earlier: earlier))
    let packet = UnpairDevice {
      $0.device = key.device
      $0.disconnects = true
    }
    send(ManagementPacket(packet, index: index))
  }
}

extension DeviceAddress {
  /// Whether it is a private address that nobody can resolve: random, with 00 in the two top bits.
  fileprivate var isNonResolvablePrivate: Bool { kind == .random && value >> 46 == 0 }
}
