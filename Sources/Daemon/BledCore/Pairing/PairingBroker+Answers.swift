import Adapter
import BledRPC
import Bluetooth
import Logging

extension PairingBroker {
  /// Lets an agent answer an adapter's question, else the policy.
  func ask(
    _ question: PairingQuestion, _ id: QuestionID, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot
  ) {
    let key = PairingKey(slot: slot, peripheral: peripheral)
    questions.forget(key)
    let concern = concern(hub, slot)
    let candidates = consent.agents.answering(question, concern)
    guard candidates.isEmpty else {
      return questions.ask(candidates, question, key, device(peripheral, hub, slot)) { [weak self] given, agent in
        guard let self else { return }
        // The link may have been announced after the question.
        let hub = links.link(with: peripheral, on: slot)
        if given != .refuse, let agent {
          change(hub) { $0.approved(.agent(agent, identity: peripheral.identity)) }
        }
        slot.adapter.answer(id, given)
      }
    }
    let given = policyAnswer(question, peripheral, hub, slot, concern)
    if given == .refuse {
      logger.notice(
        "refused to pair with \(peripheral.address): no agent answers for it, and the configuration does not allow it",
        metadata: .about(peripheral, adapter: slot))
    }
    slot.adapter.answer(id, given)
  }

  private func policyAnswer(
    _ question: PairingQuestion, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot,
    _ concern: PairingConcern
  ) -> PairingAnswer {
    // A known device that pairs again may be an impostor: it is forgotten first, or an agent decides.
    guard bonds.find(slot.adapter.information.address, peripheral.identity) == nil else { return .refuse }
    let adapter = slot.adapter.information
    switch (question, consent.policy.rule(for: peripheral.identity, on: adapter)) {
    case (.consent, _):
      guard !concern.causes.isEmpty || consent.allowsAnyone(as: peripheral.identity, on: adapter, concern) else {
        return .refuse
      }
      change(hub) { if $0.approval == nil { $0.approved(.policy) } }
      return .accept
    case (.passkey, .passkey(let passkey)):
      guard hub != nil, consent.gives(passkey, to: peripheral.address) else { return .refuse }
      change(hub) { $0.approved(.passkey(passkey)) }
      return .passkey(passkey)
    default: return .refuse
    }
  }

  /// The kernel asks no question before a passkey is typed at the device. An agent that shows it thereby consents.
  func show(
    _ passkey: UInt32, _ entered: Int, _ peripheral: Peripheral, _ hub: LinkHub?, _ slot: AdapterSlot
  ) {
    guard let hub, let session = consent.agents.showing(concern(hub, slot)) else {
      logger.notice(
        "refused to pair with \(peripheral.address): no agent can display the passkey",
        metadata: .about(peripheral, adapter: slot))
      // The pairing ends with the link, and no bond is lost because another device uses its address.
      hub?.disconnect(because: GAPError.pairingFailed.error("no agent could display the passkey of a pairing"))
      return
    }
    change(hub) { if $0.approval == nil { $0.approved(.agent(session, identity: peripheral.identity)) } }
    questions.show(
      passkey, entered: entered, PairingKey(slot: slot, peripheral: peripheral), device(peripheral, hub, slot),
      to: session)
  }
}
