import Adapter
import Bluetooth
import HCI
import Logging
import Radio

extension KernelAdapter {
  /// Sets under which addresses the controller is seen from its next start; nil for the one that it keeps.
  public func setPrivacy(_ settings: PrivacySettings?) { lifecycle.privacy = settings }

  /// The controller was asked what it can do. With privacy it has no radio before it has an address.
  func awaitAddress(_ profile: ControllerProfile) {
    guard lifecycle.privacy != nil else { return radioReady(profile) }
    run(addresses: { $0.begin(profile, at: self.scheduler.now) })
  }

  /// The radio is closed.
  func closeAddresses() {
    addresses.close()
    addressAlarm?.cancel()
    addressAlarm = nil
    information.privateAddress = nil
  }

  /// The kernel's management interface answered.
  func take(addressEvent event: ManagementEvent) {
    switch event {
    case .commandComplete(let complete):
      run(addresses: { $0.answered(complete.opcode, complete.status, at: self.scheduler.now) })
    case .commandStatus(let status):
      run(addresses: { $0.answered(status.opcode, status.status, at: self.scheduler.now) })
    default: break
    }
  }

  func run(addresses step: (inout PrivateAddresses) -> [PrivateAddresses.Action]) {
    for action in step(&addresses) { perform(action) }
    addressAlarm?.cancel()
    addressAlarm = addresses.deadline.map { deadline in
      scheduler.schedule(at: deadline) { [weak self] in
        guard let self else { return }
        run(addresses: { $0.tick(rotation: self.lifecycle.privacy?.rotation, at: self.scheduler.now) })
      }
    }
  }

  private func perform(_ action: PrivateAddresses.Action) {
    switch action {
    case .send(.prepareAdvertisement):
      send(AddExtendedAdvertisingParameters { $0.instance = PrivateAddressMachine.advertisement })
    case .send(.removeAdvertisement): send(RemoveAdvertising(value: PrivateAddressMachine.advertisement))
    case .send(.startDiscovery): send(StartDiscovery())
    case .send(.stopDiscovery): send(StopDiscovery())
    case .made(let address?):
      logger.debug("the adapter is seen under another address", metadata: ["address": "\(address)"])
    case .made(nil): logger.warning("the kernel made no new private address; that is tried again in a minute")
    case .open(let profile, let address):
      information.privateAddress = address
      send(CommandPacket(LESetRandomAddress { $0.address = address.value }))
      radioReady(profile.seen(under: address))
    case .failed: noAddress()
    case .pauseIsDue: pause()
    case .resume(let address, let scanEnded, let ended): resume(under: address, scanEnded, ended)
    }
  }

  private func send(_ command: some ManagementCommand) {
    if let index { send(ManagementPacket(command, index: index)) }
  }

  private func noAddress() {
    let problem = AdapterProblem(
      kind: .hardware, message: "The kernel gives \(information.id) no private address.",
      remedy: "Switch `privacy` off in the configuration, or check the kernel log with `dmesg`.")
    closeRadio(GAPError.adapterFailed.error(problem.message))
    run(lifecycle: .radioFailed(problem))
  }

  private func pause() {
    guard radio != nil, stopping.isEmpty, suspendAlarm == nil else { return }
    // A link that gets its socket now would be given up.
    guard attaching.isEmpty else { return addresses.postpone(at: scheduler.now) }
    addresses.pause(at: scheduler.now)
    run(radio: .pause)
  }

  private func resume(under address: DeviceAddress, _ scanEnded: Bool, _ ended: Set<AdvertisingSetID>) {
    information.privateAddress = address
    if scanEnded, targets.scan == nil { emit(.scanning(false)) }
    for set in ended where targets.advertising[set] == nil { emit(.advertising(set, .off)) }
    run(radio: .command(CommandPacket(LESetRandomAddress { $0.address = address.value })))
    run(radio: .resume(address, targets))
    emit(.stateChanged)
  }
}
