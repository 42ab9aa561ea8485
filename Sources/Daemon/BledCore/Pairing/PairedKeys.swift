import Adapter
import Bluetooth
import Logging

/// The keys that pairings bring: stored as bonds, or removed again.
struct PairedKeys {
  unowned let broker: PairingBroker

  /// A bond was made, or a key was received. Keys without permission, or with silently weaker protection, are removed
  /// again, and the earlier ones restored in the kernel.
  func store(_ bond: Bond, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot) {
    if let hub, let level = bond.security?.level, !broker.pairing(hub).isAgreeing,
      broker.consent.outOfBand.reach(level, [hub.link.peer, bond.peer], on: slot)
    {
      // There was no question, and yet a man in the middle is excluded.
      broker.change(hub) { $0.approved(.outOfBand) }
    }
    guard let hub, broker.mayPair(hub) else {
      return reject(bond, peripheral, hub, slot, "no agent or policy allowed it")
    }
    let concern = broker.concern(hub, slot)
    if let reason = refusal(of: bond, with: peripheral, broker.pairing(hub), concern) {
      return reject(bond, peripheral, hub, slot, reason)
    }
    broker.directory.paired(peripheral, as: bond.peer)
    let earlier = broker.bonds.find(bond.local, bond.peer)
    let hasNewKeys = earlier?.longTermKeys != bond.longTermKeys
    let user = broker.pairing(hub).consenter(to: bond.peer)?.user
    guard broker.bondBroker.store(bond, for: concern.users.first ?? user) else {
      return reject(bond, peripheral, hub, slot, "too many devices are paired, and all are connected")
    }
    broker.passkeySucceeded(hub)
    broker.change(hub) { $0.bonded(replacing: earlier != nil) }
    if hasNewKeys { broker.directory.resolvesAddresses(hub.peripheral, nil) }
    hub.bondChanged(isMadeHere: hasNewKeys)
    guard bond.security != nil else { return }
    broker.reportEnd(peripheral, hub, slot, nil)
  }

  /// - Returns: the reason for refusing a bond, in view of the present ones; nil if it may be stored.
  private func refusal(
    of bond: Bond, with peripheral: Peripheral, _ pairing: LinkPairingMachine, _ concern: PairingConcern
  ) -> String? {
    let consenter = pairing.consenter(to: bond.peer)
    // Any device can claim another one's identity when it has paired, and would take its place.
    if consenter == nil, peripheral.identity != bond.peer, broker.bonds.contains(bond.peer) {
      return "\(bond.peer) is paired already: forget it on both sides, and pair again"
    }
    guard let old = broker.bonds.find(bond.local, bond.peer) else { return nil }
    return BondReplacement(
      old: old, new: bond, users: broker.bondBroker.users(of: old), consenter: consenter, cause: concern.causes.first,
      wanted: pairing.replacementLevel
    ).refusal
  }

  private func reject(_ bond: Bond, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot, _ reason: String) {
    broker.logger.warning(
      "\(peripheral.address) has paired, and its keys are removed: \(reason)",
      metadata: .about(peripheral, adapter: slot))
    slot.adapter.unpair(bond.peer)
    if let earlier = broker.bonds.find(bond.local, bond.peer) { broker.bondBroker.isAdded(earlier) }
    broker.change(hub) { $0.pairedWithoutBond() }
    broker.reportEnd(peripheral, hub, slot, GAPError.pairingFailed.error(reason))
  }
}
