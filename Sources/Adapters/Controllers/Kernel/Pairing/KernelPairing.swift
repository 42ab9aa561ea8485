import Adapter
import Bluetooth
import HCI
import Logging

/// The pairings of one controller, which the kernel executes: its questions, its keys, and the links with rising
/// protection.
final class KernelPairing {
  /// A pending question of the kernel.
  private struct Question {
    let peer: DeviceAddress
    let device: ManagementAddress
    let isPasskey: Bool
  }

  /// More events than a device causes while its link has to wait.
  private static let maximumDeferred = 64

  /// Called with the events of a pairing, by the device's address that users know.
  var onEvent: ((DeviceAddress, PairingEvent) -> Void)?
  let keys: KernelKeys
  let raises: SecurityRaises
  let outOfBand: OutOfBandPairing
  private let settings: () -> PairingSettings
  private let management: ManagementInterface
  private let links: KernelLinks
  private let context: AdapterContext
  /// The kernel's open questions, at most one per device.
  private var questions: [QuestionID: Question] = [:]
  private var lastQuestion: UInt64 = 0
  /// The kernel's pairing events, kept while links wait to be announced.
  private var deferred: [ManagementEvent] = []

  /// - Parameter settings: returns the pairing settings.
  init(
    _ management: ManagementInterface, _ links: KernelLinks, in context: AdapterContext,
    settings: @escaping () -> PairingSettings
  ) {
    self.settings = settings
    self.management = management
    self.links = links
    self.context = context
    keys = KernelKeys(management, links, in: context)
    raises = SecurityRaises(management, links, keys, in: context, settings: settings)
    outOfBand = OutOfBandPairing(management, in: context)
    keys.onAction = { [weak self] action in self?.perform(action) }
  }

  /// Applies the pairing settings to the kernel.
  func applySettings() {
    management.send(SetIOCapability(value: settings().ioCapability))
    raises.allowBonds()
  }

  /// The controller is closed.
  func close(_ error: BluetoothError) {
    deferred = []
    keys.close()
    outOfBand.close(error)
  }

  /// Answers a question of the kernel.
  func answer(_ id: QuestionID, _ answer: PairingAnswer) {
    guard let question = questions.removeValue(forKey: id) else { return }
    switch (question.isPasskey, answer) {
    case (false, .accept), (false, .passkey): management.send(UserConfirmationReply(device: question.device))
    case (false, .refuse): management.send(UserConfirmationNegativeReply(device: question.device))
    case (true, .passkey(let passkey)) where passkey <= 999_999:
      management.send(
        UserPasskeyReply {
          $0.device = question.device
          $0.passkey = passkey
        })
    case (true, _): management.send(UserPasskeyNegativeReply(device: question.device))
    }
  }

  // MARK: - Links

  /// Ends the pairing that the kernel begins by itself if a device requires more protection for a channel than a bond
  /// gives: no program requested it. A pairing under way is left alone.
  /// - Returns: true if it was ended.
  func endUnasked(on link: KernelLink) -> Bool {
    let level = link.security.level
    // Above level 2 the kernel gives up.
    guard level <= 2, keys.bond(with: link.peer)?.reaches(level + 1, as: link.role) != true, !raises.isRaising(link),
      !questions.values.contains(where: { $0.peer == link.peer })
    else { return false }
    // The kernel accepts it at any time during a pairing, and keeps the keys of a bond, which Unpair Device would
    // remove.
    management.send(UserConfirmationNegativeReply(device: ManagementAddress(keys.identity(on: link))))
    return true
  }

  /// A link was announced: the device may have encrypted it before.
  func linkBegan(_ link: KernelLink) {
    if keys.isEncryptedOtherwise(link) { onEvent?(link.peer, .encryptedOtherwise) }
  }

  /// Events were lost: links may be encrypted with unknown keys.
  func eventsLost() {
    keys.eventsLost()
    for link in links.all { linkBegan(link) }
  }

  /// The encryption of a link changed. After a loss of events its key may not have been received.
  /// - Returns: true if that caused an event.
  func securityChanges(on link: KernelLink) -> Bool {
    guard keys.isDoubtful(link), keys.isEncryptedOtherwise(link) else { return false }
    onEvent?(link.peer, .encryptedOtherwise)
    return true
  }

  /// The kernel or another program sent a command to the controller.
  /// - Returns: true if it was reported as an event.
  func observed(_ command: CommandPacket) -> Bool {
    guard let handle = keys.observed(command), let link = links.link(handle), keys.isEncryptedOtherwise(link) else {
      return false
    }
    onEvent?(link.peer, .encryptedOtherwise)
    return true
  }

  /// A link ends, for this reason.
  func linkEnds(_ link: KernelLink, _ error: BluetoothError) {
    raises.linkEnds(link, error)
    keys.linkEnded(link)
    forgetQuestion(of: link.peer)
  }

  /// The controller could not encrypt a link: the device has no key, or the kernel had none for the device.
  func keysAreMissing(_ handle: ConnectionHandle, theirs: Bool) {
    guard let link = links.link(handle) else { return }
    onEvent?(link.peer, .keysLost(theirs: theirs))
  }

  // MARK: - The kernel's events

  /// Receives the kernel's events, after the links that it offers are announced: a device that pairs as soon as it has
  /// connected can finish before its link is accepted, and questions and keys of an unknown link are refused.
  func receive(_ event: ManagementEvent) {
    keys.receive(answer: event)
    guard event.isAboutPairing else { return }
    if !links.hasWaitingLinks { links.accept() }
    deferred.append(event)
    if !links.hasWaitingLinks || deferred.count >= Self.maximumDeferred { handleDeferred() }
  }

  /// The offered links are announced.
  func handleDeferred() {
    let events = deferred
    deferred = []
    for event in events { handle(event) }
  }

  private func handle(_ event: ManagementEvent) {
    switch event {
    case .userConfirmationRequest(let request):
      ask(request.device, request.confirmHint == 1 ? .consent : .comparison(request.value))
    case .userPasskeyRequest(let request): ask(request.device, .passkey)
    case .passkeyNotify(let notice):
      report(notice.device, .showPasskey(notice.passkey, entered: Int(notice.entered)))
    case .newLongTermKey, .newIdentityResolvingKey, .newSignatureResolvingKey: keys.receive(event)
    case .authenticationFailed(let failure): failed(failure.device, failure.status)
    case .deviceUnpaired(let event):
      guard let identity = event.device.device else { return }
      keys.forget(identity)
      report(event.device, .unbonded)
    case .commandComplete(let complete): answered(complete.opcode, complete.returnParameters, complete.status)
    case .commandStatus(let status): answered(status.opcode, [], status.status)
    default: break
    }
  }

  private func answered(_ opcode: UInt16, _ returned: [UInt8], _ status: ManagementStatus) {
    switch opcode {
    case PairDevice.opcode:
      if let (device, status) = raises.pairDeviceEnded(returned, status) { failed(device, status) }
    case ReadLocalOutOfBandExtendedData.opcode: outOfBand.answered(returned, status)
    default: break
    }
  }

  private func perform(_ action: KeyMachine.Action) {
    switch action {
    case .tell(let peer, let event):
      onEvent?(peer, event)
      guard case .bonded(let bond) = event else { return }
      for handle in keys.machine.identities.handles(of: bond.peer) {
        if let link = links.link(handle) { raises.securityMayHaveChanged(link) }
      }
    case .failed(let device, let status): failed(device, status)
    case .disconnect(let handle): links.link(handle)?.disconnect()
    case .warn(let text, let peer): context.logger.warning("\(text)", metadata: ["peer": "\(peer)"])
    case .unpair: break
    }
  }

  private func ask(_ device: ManagementAddress, _ question: PairingQuestion) {
    guard let address = device.device else { return }
    let known = keys.machine.identities.known(address)
    forgetQuestion(of: known)
    lastQuestion += 1
    let id = QuestionID(lastQuestion)
    questions[id] = Question(peer: known, device: device, isPasskey: question == .passkey)
    onEvent?(known, .question(id, question))
  }

  private func forgetQuestion(of peer: DeviceAddress) { questions = questions.filter { $0.value.peer != peer } }

  private func report(_ device: ManagementAddress, _ event: PairingEvent) {
    guard let address = device.device else { return }
    onEvent?(keys.machine.identities.known(address), event)
  }

  private func failed(_ device: ManagementAddress, _ status: ManagementStatus) {
    guard let address = device.device else { return }
    let known = keys.machine.identities.known(address)
    let error = status.pairingError(with: known)
    forgetQuestion(of: known)
    onEvent?(known, .failed(error))
    for handle in keys.machine.identities.handles(of: address) { raises.end(handle, error) }
  }
}
