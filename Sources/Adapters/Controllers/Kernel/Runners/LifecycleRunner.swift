import Adapter
import Bluetooth
import Glibc
import HCI
import Logging

/// The user of a `LifecycleRunner`, which opens and closes the radio.
protocol LifecycleRunnerOwner: AnyObject {
  /// The bonds of all adapters, which the kernel loads next.
  func loadBonds() -> [Bond]
  /// A usable controller was found.
  func identify(_ controller: ControllerInformation)
  func openRadio(_ index: ControllerIndex, _ address: DeviceAddress)
  /// Ends everything on the controller. Links end with the error.
  func closeRadio(_ error: BluetoothError)
  /// Ends links, and makes the controller quiet before the radio is closed.
  func suspendRadio()
  func stateChanged(to new: AdapterState)
  /// These controllers are present, ours or others', by their kernel numbers.
  func controllersArePresent(_ numbers: [UInt16])
  /// The kernel's event about our controller.
  func receive(_ event: ManagementEvent)
  /// True if advertisements received by the kernel matter.
  var awaitsKernel: Bool { get }
  /// The kernel received an advertisement of an LE device on our controller.
  func kernelFoundDevice()
  /// The controller has its earlier settings again.
  func lifecycleHasStopped()
}

/// The lifecycle of one controller: runs `LifecycleMachine` and `UnconfiguredMachine` on the kernel's management
/// interface and by the clock.
final class LifecycleRunner {
  weak var owner: (any LifecycleRunnerOwner)?
  private let kernel: any KernelSockets
  private let management: ManagementInterface
  private let context: LoopContext
  /// True if the controller was chosen by name.
  private let isNamed: Bool
  private var machine: LifecycleMachine
  private var unconfigured: UnconfiguredMachine
  private var alarm: (any ScheduledWork)?
  /// The source of events about blocked and unblocked radios.
  private var rfkill: Descriptor?
  private var powerDone: [(BluetoothError?) -> Void] = []

  init(
    _ selector: AdapterSelector, isNamed: Bool, publicAddress: DeviceAddress?, spare: DeviceAddress,
    _ kernel: any KernelSockets, _ management: ManagementInterface, in context: LoopContext
  ) {
    self.kernel = kernel
    self.management = management
    self.context = context
    self.isNamed = isNamed
    machine = LifecycleMachine(selector: selector, spareAddress: spare.value)
    unconfigured = UnconfiguredMachine(selector: selector, publicAddress: publicAddress)
    management.onEvent = { [weak self] event in self?.handle(event) }
  }

  /// The pairing settings.
  var pairing: PairingSettings {
    get { machine.pairing }
    set { machine.pairing = newValue }
  }

  /// The settings for the controller's private addresses from its next start; nil to use its own address.
  var privacy: PrivacySettings? {
    get { machine.privacy }
    set { machine.privacy = newValue }
  }

  /// Opens the management interface and brings the controller into use as soon as it is present.
  func start() {
    rfkill = rfkill ?? Rfkill.watch(context.loop) { [weak self] in self?.run(.rfkillChanged) }
    run(.start)
  }

  /// Asks the kernel to switch the controller's power.
  func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) {
    powerDone.append(done)
    context.scheduler.execute { self.run(.setPower(on)) }
  }

  /// The radio works.
  func radioOpened() { run(.radioOpened) }

  /// The radio does not work and is closed.
  func radioFailed(_ problem: AdapterProblem) { run(.radioFailed(problem)) }

  /// Restores the controller's earlier settings; the radio is closed.
  /// - Parameter needsCycle: true if the kernel's discovery has to be reset by a power cycle.
  func stop(needsCycle: Bool) { run(.stop(needsCycle: needsCycle)) }

  // MARK: - The machines

  private func run(_ input: LifecycleMachine.Input) {
    for action in machine.handle(input, at: context.scheduler.now) { perform(action) }
    context.arm(&alarm, at: machine.deadline) { [weak self] _ in self?.run(.tick) }
  }

  private func perform(_ action: LifecycleMachine.Action) {
    switch action {
    case .openManagement: openManagement()
    case .send(let packet): management.send(packet)
    case .findRival: run(.rival(rival, bonds: owner?.loadBonds() ?? []))
    case .findBlock: run(.blocked(Rfkill.problem(with: context.name)))
    case .openRadio(let index, let address): owner?.openRadio(index, address)
    case .closeRadio(let error): owner?.closeRadio(error)
    case .suspendRadio: owner?.suspendRadio()
    case .state(let new):
      owner?.stateChanged(to: new)
      guard new == .absent else { return }
      // Another controller may take its place.
      management.index = nil
      perform(unconfigured.look())
    case .controllers(let indexes): owner?.controllersArePresent(indexes.map(\.rawValue))
    case .identity(let index, let controller):
      management.index = index
      context.name = index.name
      owner?.identify(controller)
    case .powerDone(let error):
      let waiting = powerDone
      powerDone = []
      for done in waiting { done(error) }
    case .stopped: stopped()
    case .log(let text): context.logger.debug("\(text)")
    }
  }

  private func perform(_ actions: [UnconfiguredMachine.Action]) {
    for action in actions {
      switch action {
      case .send(let packet): management.send(packet)
      case .problem(let problem): run(.unconfigured(problem))
      }
    }
  }

  /// The problem that bluetoothd uses the controller. It claims every controller, but leaves one alone without a
  /// request to use it: with several, a controller chosen by name is ours.
  private var rival: AdapterProblem? {
    if isNamed, Controllers.present().count > 1 { return nil }
    return kernel.rival.map { Rival.problem(with: context.name, $0) }
  }

  private func openManagement() {
    do throws(SystemError) {
      try management.open()
      run(.managementOpened)
    } catch {
      run(.managementFailed(AdapterProblem(error, "the kernel's Bluetooth")))
    }
  }

  private func stopped() {
    management.close()
    alarm?.cancel()
    alarm = nil
    rfkill?.close()
    rfkill = nil
    owner?.lifecycleHasStopped()
  }

  // MARK: - The kernel's packets

  private func handle(_ event: PacketSocket.Event) {
    switch event {
    case .received(let octets):
      // The kernel reports each advertisement during an active scan.
      guard !ManagementPacket.isDeviceFound(octets) else {
        guard let owner, owner.awaitsKernel, ManagementPacket.isOfLowEnergy(deviceFound: octets),
          let packet = try? ManagementPacket(decoding: octets), packet.index == management.index
        else { return }
        return owner.kernelFoundDevice()
      }
      guard let packet = try? ManagementPacket(decoding: octets) else { return }
      if packet.index == management.index, let event = try? ManagementEvent(decoding: packet) { owner?.receive(event) }
      run(.packet(packet))
      perform(unconfigured.receive(packet))
    case .lost(let count):
      context.logger.warning("events of the kernel were lost; its state is checked", metadata: ["count": "\(count)"])
      run(.eventsLost)
    case .writable: break
    case .ended(let error):
      run(.managementFailed(AdapterProblem(error ?? SystemError(result: -EPIPE), "the kernel's Bluetooth")))
    }
  }
}

extension AdapterProblem {
  /// The meaning of an errno for an adapter.
  init(_ error: SystemError, _ part: String) {
    switch error.code {
    case EPERM, EACCES:
      self.init(
        kind: .permission,
        message: "bled may not use \(part): it lacks the capabilities CAP_NET_RAW and CAP_NET_ADMIN",
        remedy: "start it through its systemd unit, as root, or with these capabilities")
    case EAFNOSUPPORT, EPROTONOSUPPORT, ESOCKTNOSUPPORT: self = .noBluetooth(error)
    default:
      self.init(
        kind: .hardware, message: "\(part) cannot be used: \(String(cString: strerror(error.code)))",
        remedy: "check the kernel log with `dmesg`")
    }
  }
}
