import Adapter
import Bluetooth
import HCI
import Logging

/// A link whose protection is being raised.
struct SecurityRaise {
  /// Whether the kernel was asked to pair; otherwise it encrypts with the keys of a bond.
  let pairs: Bool
  /// The means of a person if it pairs.
  let capability: PairingCapability
  /// The requests that wait, and their levels, 2 to 4.
  var waiting: [(level: Int, done: (BluetoothError?) -> Void)]
  /// Whether the kernel was asked a second time, after it forgot keys that were not to be kept.
  var wasRepeated = false
  /// Rings when it has taken too long: SMP gives up after 30 s (Core 5.4, Vol 3, Part H, 3.4).
  let alarm: any ScheduledWork
}

extension KernelAdapter {
  private static let patience = Duration.seconds(35)
  /// More than a device causes while its link has to wait.
  private static let mostHeld = 64

  /// Tells the kernel how to pair.
  public func setPairing(_ settings: PairingSettings) {
    let old = lifecycle.pairing
    lifecycle.pairing = settings
    if settings != old, radio != nil { applyPairing() }
  }

  /// Tells the kernel the settings, which may have changed since the controller was set up.
  func applyPairing() {
    guard let index else { return }
    send(ManagementPacket(SetIOCapability(value: lifecycle.pairing.ioCapability), index: index))
    allowBonds(lifecycle.pairing.acceptsDevices || isPairing)
  }

  /// Answers what the kernel asked.
  public func answer(_ address: DeviceAddress, _ answer: PairingAnswer) {
    guard let index, let question = pairingQuestions.removeValue(forKey: address) else { return }
    let packet: ManagementPacket
    switch (question.isPasskey, answer) {
    case (false, .accept), (false, .passkey):
      packet = ManagementPacket(UserConfirmationReply(device: question.device), index: index)
    case (false, .refuse):
      packet = ManagementPacket(UserConfirmationNegativeReply(device: question.device), index: index)
    case (true, .passkey(let passkey)) where passkey <= 999_999:
      packet = ManagementPacket(
        UserPasskeyReply {
          $0.device = question.device
          $0.passkey = passkey
        }, index: index)
    case (true, _): packet = ManagementPacket(UserPasskeyNegativeReply(device: question.device), index: index)
    }
    send(packet)
  }

  // MARK: - Raising the protection of a link

  func raiseSecurity(
    of link: KernelLink, to level: Int, as capability: PairingCapability, _ done: @escaping (BluetoothError?) -> Void
  ) {
    guard link.security.level < level else { return loop.execute { done(nil) } }
    guard let index, isUp(link) else {
      return loop.execute { done(GAPError.notConnected.error("\(link.peer) is not connected.")) }
    }
    let bond = keys.bond(with: link.peer)
    if let bond, !bond.reaches(level, as: link.role) {
      let words = "the keys shared with \(link.peer) do not reach this level: forget them, and pair again"
      return loop.execute { done(GAPError.pairingFailed.error(words)) }
    }
    guard raises[link.handle] == nil else {
      raises[link.handle]?.waiting.append((level, done))
      return
    }
    let alarm = scheduler.schedule(after: Self.patience) { [weak self] in
      let error = GAPError.pairingFailed.error("\(link.peer) did not finish the pairing in time.")
      self?.endRaise(link.handle, error)
    }
    raises[link.handle] = SecurityRaise(
      pairs: bond == nil, capability: capability, waiting: [(level, done)], alarm: alarm)
    guard bond == nil else {
      if let error = link.secure(level: level) { endRaise(link.handle, error) }
      return
    }
    allowBonds(true)
    pair(link, capability, index)
  }

  private func pair(_ link: KernelLink, _ capability: PairingCapability, _ index: ControllerIndex) {
    let packet = PairDevice {
      $0.device = ManagementAddress(identity(on: link))
      $0.capability = capability.code
    }
    send(ManagementPacket(packet, index: index))
  }

  /// A link has ended while it was paired: the kernel would connect to the device to go on.
  func cancelPairing(on link: KernelLink) {
    guard raises[link.handle]?.pairs == true, let index else { return }
    let packet = CancelPairDevice { $0.device = ManagementAddress(identity(on: link)) }
    send(ManagementPacket(packet, index: index))
  }

  /// The protection of a link changed, or may have.
  func securityMayHaveChanged(_ link: KernelLink) {
    guard let raise = raises[link.handle], raise.waiting.contains(where: { $0.level <= link.security.level }) else {
      return
    }
    // A pairing ends with Command Complete, when all keys have come.
    if !raise.pairs { endRaise(link.handle, nil) }
  }

  func endRaise(_ handle: UInt16, _ error: BluetoothError?) {
    guard let raise = raises.removeValue(forKey: handle) else { return }
    raise.alarm.cancel()
    let link = links[handle]
    let level = link?.security.level ?? 1
    if error != nil, link?.isSecuring == true {
      // The kernel takes no packets on it any more.
      link?.disconnect()
    }
    link?.endSecuring()
    let keepsKeys = keys.keepsKeys(on: handle)
    if raise.pairs, !isPairing { allowBonds(lifecycle.pairing.acceptsDevices) }
    loop.execute {
      for waiting in raise.waiting {
        let missed = GAPError.pairingFailed.error(
          "The device and this machine cannot reach this security level together; the link has level \(level).")
        let isReached = level >= waiting.level && keepsKeys
        waiting.done(isReached ? nil : error ?? missed)
      }
    }
  }

  private var isPairing: Bool { raises.values.contains(where: \.pairs) }

  private func allowBonds(_ on: Bool) {
    guard let index else { return }
    send(ManagementPacket(SetBondable(value: on ? 1 : 0), index: index))
  }

  // MARK: - What the kernel tells

  /// The controller could not encrypt a link: the device has no key, or the kernel had none for the device.
  func keysAreMissing(_ handle: UInt16, theirs: Bool) {
    guard let link = links[handle] else { return }
    if theirs { link.peerLacksKeys = true }
    emit(.pairing(link.peer, .keysLost(theirs: theirs)))
  }

  /// Takes what the kernel tells, when the links that it offers are announced: a device that pairs as soon as it has
  /// connected can be done with it before its link is accepted, and what is asked or made for a link that nobody knows
  /// is refused.
  func take(pairing event: ManagementEvent) {
    guard event.isAboutPairing else { return }
    if acceptAlarm == nil { acceptLinks() }
    heldPairing.append(event)
    if acceptAlarm == nil || heldPairing.count >= Self.mostHeld { takeHeldPairing() }
  }

  /// The links that were offered are announced.
  func takeHeldPairing() {
    let held = heldPairing
    heldPairing = []
    for event in held { handle(pairing: event) }
  }

  private func handle(pairing event: ManagementEvent) {
    switch event {
    case .userConfirmationRequest(let request):
      ask(request.device, request.confirmHint == 1 ? .consent : .comparison(request.value))
    case .userPasskeyRequest(let request): ask(request.device, .passkey)
    case .passkeyNotify(let notice):
      tell(notice.device, .showPasskey(notice.passkey, entered: Int(notice.entered)))
    case .newLongTermKey, .newIdentityResolvingKey, .newSignatureResolvingKey: take(key: event)
    case .authenticationFailed(let failure):
      failed(failure.device, failure.status)
    case .deviceUnpaired(let event):
      guard let identity = event.device.device else { return }
      keys.forget(identity)
      tell(event.device, .unbonded)
    case .commandComplete(let complete) where complete.opcode == PairDevice.opcode:
      pairDeviceEnded(complete.returnParameters, complete.status)
    case .commandStatus(let status) where status.opcode == PairDevice.opcode:
      pairDeviceEnded([], status.status)
    case .commandComplete(let complete) where complete.opcode == ReadLocalOutOfBandExtendedData.opcode:
      outOfBandRead(complete.returnParameters, complete.status)
    case .commandStatus(let status) where status.opcode == ReadLocalOutOfBandExtendedData.opcode:
      outOfBandRead([], status.status)
    default: break
    }
  }

  private func pairDeviceEnded(_ octets: [UInt8], _ status: ManagementStatus) {
    let device = octets.count >= 7 ? try? ManagementAddress(decoding: Array(octets.prefix(7))) : nil
    // Without an address it is about the only one that can be meant, or else its alarm rings.
    let candidates = links.values.filter { link in
      raises[link.handle]?.pairs == true && device.map { ManagementAddress(identity(on: link)) == $0 } ?? true
    }
    guard let link = candidates.count == 1 ? candidates.first : nil, let index, let raise = raises[link.handle] else {
      return
    }
    if status == .alreadyPaired, !raise.wasRepeated {
      // The kernel has keys that were not to be kept, of an earlier link.
      raises[link.handle]?.wasRepeated = true
      send(ManagementPacket(UnpairDevice { $0.device = ManagementAddress(identity(on: link)) }, index: index))
      return pair(link, raise.capability, index)
    }
    guard status == .success else { return failed(ManagementAddress(identity(on: link)), status) }
    link.updateSecurity()
    endRaise(link.handle, nil)
  }

  private func ask(_ device: ManagementAddress, _ question: PairingQuestion) {
    guard let address = device.device else { return }
    let known = keys.known(address)
    pairingQuestions[known] = PendingQuestion(device: device, isPasskey: question == .passkey)
    emit(.pairing(known, .question(question)))
  }

  func tell(_ device: ManagementAddress, _ event: PairingEvent) {
    guard let address = device.device else { return }
    emit(.pairing(keys.known(address), event))
  }

  func failed(_ device: ManagementAddress, _ status: ManagementStatus) {
    guard let address = device.device else { return }
    let known = keys.known(address)
    let error = status.pairingError(with: known)
    pairingQuestions[known] = nil
    emit(.pairing(known, .failed(error)))
    if let handle = keys.handle(of: address) { endRaise(handle, error) }
  }
}

extension BluetoothError {
  /// Why the protection of a link could not be raised, if this is how the link ended.
  func ofRaise(with link: KernelLink?) -> BluetoothError {
    let causes: [HCIErrorCode] = [.authenticationFailure, .pinOrKeyMissing, .terminatedMICFailure]
    guard let link, domain == .hci, causes.contains(where: { Int($0.rawValue) == code }) else { return self }
    return GAPError.pairingFailed.error(
      "\(link.peer) and this machine do not share keys any more: forget each on the other, and pair again (\(message))")
  }
}

/// A question of the kernel that waits for an answer.
struct PendingQuestion {
  let device: ManagementAddress
  let isPasskey: Bool
}
