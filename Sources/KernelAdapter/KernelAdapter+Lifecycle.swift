import Adapter
import Bluetooth
import Glibc
import HCI
import Logging
import Radio

extension KernelAdapter {
  /// Gives the lifecycle machine an input and executes its actions.
  func run(lifecycle input: LifecycleMachine.Input) {
    for action in lifecycle.handle(input, at: scheduler.now) { perform(action) }
    lifecycleAlarm?.cancel()
    lifecycleAlarm = lifecycle.deadline.map { deadline in
      scheduler.schedule(at: deadline) { [weak self] in self?.run(lifecycle: .tick) }
    }
  }

  private func perform(_ action: LifecycleMachine.Action) {
    switch action {
    case .openManagement: openManagement()
    case .send(let packet): send(packet)
    case .findRival:
      run(
        lifecycle: .rival(
          isReserved ? nil : kernel.rival.map { Rival.problem(with: information.id, $0) }, bonds: keys.bonds))
    case .findBlock: run(lifecycle: .blocked(Rfkill.problem(with: information.id)))
    case .openRadio(let index, let address): openRadio(index, address)
    case .closeRadio(let error): closeRadio(error)
    case .suspendRadio: suspendRadio()
    case .state(let new):
      // Without power the kernel forgets its discovery.
      if new == .off || new == .absent { scannedActively = false }
      setState(new)
      guard new == .absent else { return }
      // Another controller may come in its place.
      index = nil
      faults = []
      configure(unconfigured.look())
    case .controllers(let indexes): onControllers?(indexes.map(\.rawValue))
    case .identity(let index, let controller): identify(index, controller)
    case .powerDone(let error):
      let waiting = powerDone
      powerDone = []
      for done in waiting { done(error) }
    case .stopped: stopped()
    case .log(let text): logger.debug("\(text)")
    }
  }

  private func configure(_ actions: [UnconfiguredMachine.Action]) {
    for action in actions {
      switch action {
      case .send(let packet): send(packet)
      case .problem(let problem): run(lifecycle: .unconfigured(problem))
      }
    }
  }

  private func openManagement() {
    do {
      let socket = PacketSocket(try kernel.management(), on: loop, priority: .highest)
      socket.onEvent = { [weak self] event in self?.handleManagement(event) }
      try socket.start()
      management = socket
      run(lifecycle: .managementOpened)
    } catch {
      run(lifecycle: .managementFailed(Self.problem(error, "the kernel's Bluetooth")))
    }
  }

  func send(_ packet: ManagementPacket) {
    guard management?.send(packet.octets) != false else {
      return logger.error("the kernel's management interface accepts no commands")
    }
  }

  private func handleManagement(_ event: PacketSocket.Event) {
    switch event {
    case .received(let octets):
      // The kernel tells of each advertisement in an active scan. It is heard on the HCI socket, unless that is silent.
      guard !ManagementPacket.isDeviceFound(octets) else {
        if radio?.isSilent == true, ManagementPacket.isOfLowEnergy(deviceFound: octets),
          let packet = try? ManagementPacket(decoding: octets), packet.index == index
        {
          run(radio: .kernelFound)
        }
        return
      }
      guard let packet = try? ManagementPacket(decoding: octets) else { return }
      if hci != nil, packet.index == index, let event = try? ManagementEvent(decoding: packet) {
        take(pairing: event)
        take(addressEvent: event)
        take(keysAnswer: event)
      }
      run(lifecycle: .packet(packet))
      configure(unconfigured.take(packet))
    case .lost(let count):
      logger.warning("events of the kernel were lost; its state is checked", metadata: ["count": "\(count)"])
      run(lifecycle: .eventsLost)
    case .writable: break
    case .ended(let error):
      management?.close()
      management = nil
      run(
        lifecycle: .managementFailed(Self.problem(error ?? SystemError(result: -EPIPE), "the kernel's Bluetooth")))
    }
  }

  private func identify(_ index: ControllerIndex, _ controller: ControllerInformation) {
    self.index = index
    // The controller gets power anew, and another address with that.
    addresses.forget()
    var new = information
    new.id = index.name
    new.name = String(decoding: controller.name, as: UTF8.self)
    if controller.address != 0 { new.address = DeviceAddress(value: controller.address, kind: .public) }
    logger[metadataKey: "adapter"] = "\(index.name)"
    guard new != information else { return }
    information = new
    emit(.stateChanged)
  }

  // MARK: - The end

  /// The radio is quiet, or the time to become quiet is over.
  func finishStop() {
    stopAlarm?.cancel()
    stopAlarm = nil
    // An active scan leaves the kernel in a discovery that never ends; without links a power cycle harms nobody.
    let needsCycle = (scannedActively || radio?.scannedActively == true) && links.isEmpty
    closeRadio(GAPError.adapterOff.error("bled is shutting down."))
    run(lifecycle: .stop(needsCycle: needsCycle))
  }

  private func stopped() {
    management?.close()
    management = nil
    lifecycleAlarm?.cancel()
    lifecycleAlarm = nil
    rfkill?.close()
    rfkill = nil
    loop.execute {
      let waiting = self.stopping
      self.stopping = []
      for done in waiting { done() }
    }
  }

  /// The meaning of an errno for the adapter.
  static func problem(_ error: SystemError, _ what: String) -> AdapterProblem {
    switch error.code {
    case EPERM, EACCES:
      AdapterProblem(
        kind: .permission,
        message: "bled may not use \(what): it lacks the capabilities CAP_NET_RAW and CAP_NET_ADMIN.",
        remedy: "Start it through its systemd unit, as root, or with these capabilities.")
    case EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT:
      AdapterProblem(
        kind: .unsupported, message: "The kernel has no Bluetooth here (errno \(error.code)).",
        remedy: "Load it with `modprobe bluetooth`; in a container, use the host's network namespace.")
    default:
      AdapterProblem(
        kind: .hardware, message: "\(what) cannot be used: \(String(cString: strerror(error.code))).",
        remedy: "Check the kernel log with `dmesg`.")
    }
  }
}
