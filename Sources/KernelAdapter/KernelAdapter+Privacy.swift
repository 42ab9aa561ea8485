import Adapter
import Bluetooth
import HCI
import Logging
import Radio

/// The private addresses of a controller: what waits for the next one, and what was not told meanwhile.
struct AddressRotation {
  var machine = PrivateAddressMachine()
  /// The controller that has no radio yet, because it has no address.
  var profile: ControllerProfile?
  /// Whether scan, advertising and connecting pause until there is a new address.
  var isPausing = false
  /// Advertisements that ended for the pause.
  var paused: Set<AdvertisingSetID> = []
  /// Whether the scan ended for the pause.
  var scanPaused = false
  /// Rings when the address has been used for long enough.
  var next: (any ScheduledWork)?
  /// Rings when a pause or the kernel takes too long.
  var patience: (any ScheduledWork)?
}

extension KernelAdapter {
  /// The kernel's own time, which it counts where commands are legacy, must be over before it makes a new address.
  private static let margin = Duration.seconds(2)
  /// After the kernel gave no new address.
  private static let retry = Duration.seconds(60)
  /// How long the activities of a controller may take to end.
  private static let patience = Duration.seconds(5)

  /// Sets under which addresses the controller is seen from its next start; nil for the one that it keeps.
  public func setPrivacy(_ settings: PrivacySettings?) { lifecycle.privacy = settings }

  /// The controller was asked what it can do. With privacy it has no radio before it has an address.
  func awaitAddress(_ profile: ControllerProfile) {
    guard lifecycle.privacy != nil else { return radioReady(profile) }
    rotation.profile = profile
    information.hasExtendedAdvertising = profile.advertisesExtended
    makeAddress()
  }

  /// The radio is closed.
  func forgetRotation() {
    rotation.next?.cancel()
    rotation.patience?.cancel()
    rotation = AddressRotation()
    information.privateAddress = nil
  }

  /// The kernel, or another program, sent a command to the controller.
  func heard(_ packet: CommandPacket) {
    rotation.machine.heard(packet)
  }

  /// The kernel's management interface answered.
  func take(addressEvent event: ManagementEvent) {
    switch event {
    case .commandComplete(let complete): run(rotation.machine.answered(complete.opcode, complete.status))
    case .commandStatus(let status): run(rotation.machine.answered(status.opcode, status.status))
    default: break
    }
  }

  /// What the radio reports during the pause, which programs need not notice.
  func isHidden(_ action: RadioAction) -> Bool {
    guard rotation.isPausing else { return false }
    switch action {
    case .scanning(false): rotation.scanPaused = true
    case .advertising(let set, .off): rotation.paused.insert(set)
    default: return false
    }
    return true
  }

  /// All activities have ended for the pause.
  func pauseBegan() { makeAddress() }

  private func makeAddress() {
    run(rotation.machine.begin(isExtended: information.hasExtendedAdvertising, at: scheduler.now))
  }

  private func run(_ actions: [PrivateAddressMachine.Action]) {
    for action in actions {
      switch action {
      case .send(.prepareAdvertisement):
        send(AddExtendedAdvertisingParameters { $0.instance = PrivateAddressMachine.advertisement })
      case .send(.removeAdvertisement): send(RemoveAdvertising(value: PrivateAddressMachine.advertisement))
      case .send(.startDiscovery): send(StartDiscovery())
      case .send(.stopDiscovery): send(StopDiscovery())
      // What the controller still answers to the kernel is heard before.
      case .done(let address):
        rotation.patience?.cancel()
        rotation.patience = scheduler.schedule(after: .zero) { [weak self] in self?.addressIsMade(address) }
      }
    }
    guard let deadline = rotation.machine.deadline else { return }
    awaitPatiently(until: deadline) { $0.run($0.rotation.machine.tick(at: $0.scheduler.now)) }
  }

  private func send(_ command: some ManagementCommand) {
    if let index { send(ManagementPacket(command, index: index)) }
  }

  private func awaitPatiently(until time: Instant, _ done: @escaping (KernelAdapter) -> Void) {
    rotation.patience?.cancel()
    rotation.patience = scheduler.schedule(at: time) { [weak self] in if let self { done(self) } }
  }

  private func addressIsMade(_ made: DeviceAddress?) {
    rotation.patience?.cancel()
    if let made {
      lastPrivateAddress = made
      logger.debug("the adapter is seen under another address", metadata: ["address": "\(made)"])
    } else {
      logger.warning("the kernel made no new private address; that is tried again in a minute")
    }
    if let profile = rotation.profile { begin(profile) } else { endPause() }
    guard radio != nil, let privacy = lifecycle.privacy else { return }
    let kernels: Duration = information.hasExtendedAdvertising ? .zero : .seconds(900)
    let time = made == nil ? Self.retry : max(privacy.rotation, kernels) + Self.margin
    rotation.next = scheduler.schedule(after: time) { [weak self] in self?.pause() }
  }

  /// The radio starts. A controller that was only asleep has the address that it had.
  private func begin(_ profile: ControllerProfile) {
    rotation.profile = nil
    guard let address = lastPrivateAddress else {
      let problem = AdapterProblem(
        kind: .hardware, message: "The kernel gives \(information.id) no private address.",
        remedy: "Switch `privacy` off in the configuration, or check the kernel log with `dmesg`.")
      closeRadio(GAPError.adapterFailed.error(problem.message))
      return run(lifecycle: .radioFailed(problem))
    }
    information.privateAddress = address
    send(CommandPacket(LESetRandomAddress { $0.address = address.value }))
    radioReady(profile.seen(under: address))
  }

  private func pause() {
    guard radio != nil, stopping.isEmpty, suspendAlarm == nil else { return }
    // A link that gets its socket now would be given up.
    guard attaching.isEmpty else {
      rotation.next = scheduler.schedule(after: .seconds(1)) { [weak self] in self?.pause() }
      return
    }
    rotation.isPausing = true
    awaitPatiently(until: scheduler.now.advanced(by: Self.patience)) { $0.addressIsMade(nil) }
    run(radio: .pause)
  }

  private func endPause() {
    guard rotation.isPausing, let address = lastPrivateAddress else { return }
    rotation.isPausing = false
    information.privateAddress = address
    if rotation.scanPaused, targets.scan == nil { emit(.scanning(false)) }
    for set in rotation.paused where targets.advertising[set] == nil { emit(.advertising(set, .off)) }
    rotation.scanPaused = false
    rotation.paused = []
    run(radio: .command(CommandPacket(LESetRandomAddress { $0.address = address.value })))
    run(radio: .resume(address, targets))
    emit(.stateChanged)
  }
}
