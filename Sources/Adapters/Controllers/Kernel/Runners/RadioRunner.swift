import Adapter
import Bluetooth
import HCI
import Logging
import Radio

/// The user of a `RadioRunner`, which receives the controller's events.
protocol RadioRunnerOwner: ControllerOwner {
  /// The controller was set up: `begin` may follow.
  func radioIsSetUp(_ profile: ControllerProfile)
  /// The kernel or another program sent a command to the controller.
  func observed(_ command: CommandPacket)
  /// The kernel dropped events of the controller.
  func radioLostEvents()
  /// The controller has transmitted this number of a link's packets.
  func completed(_ packets: Int, on handle: ConnectionHandle)
}

/// A controller behind its raw HCI sockets: sets it up, and carries the commands of its activities, the answers and the
/// events.
///
/// | State | Input         | Then                                                    |
/// |-------|---------------|---------------------------------------------------------|
/// | shut  | `open`        | setting up: `SetUpMachine` examines the controller      |
/// | setting up | its answers | `radioIsSetUp`; the owner calls `begin`: ready        |
/// | any   | a failure     | `radioFailed`; the owner calls `close`                  |
/// | any   | `close`       | shut; questions that wait are answered with a failure   |
final class RadioRunner {
  weak var owner: (any RadioRunnerOwner)?
  /// The wanted activities, kept while the controller is absent.
  let activities: RadioActivities
  /// Length of an ACL data packet in octets; nil if the controller did not report it.
  private(set) var fragmentLength: Int?

  private let kernel: any KernelSockets
  private let management: ManagementInterface
  private let context: LoopContext
  private var index = ControllerIndex(rawValue: 0)
  private var sockets: ControllerSockets?
  private var setUp: SetUpMachine?
  /// True while events are being read for a user's call.
  private(set) var isInCall = false
  /// The alarm of the set-up.
  private var alarm: (any ScheduledWork)?
  /// True if a closed radio ran an active scan since the controller was switched on.
  private var scannedActively = false
  /// True if the HCI socket receives a scan's reports: the kernel need not repeat them.
  private var hearsReports = false {
    didSet { if hearsReports != oldValue { management.ignoreDeviceFound(hearsReports) } }
  }

  init(_ kernel: any KernelSockets, _ management: ManagementInterface, in context: LoopContext) {
    self.kernel = kernel
    self.management = management
    self.context = context
    activities = RadioActivities(in: context)
    activities.owner = self
  }

  /// True while the sockets are open.
  var isOpen: Bool { sockets != nil }
  /// True if an active scan was run since the controller was switched on: it leaves the kernel in an endless discovery.
  var hasScannedActively: Bool { scannedActively || activities.scannedActively }

  // MARK: - Opening and closing

  /// Opens the controller's sockets and begins to set it up.
  /// - Throws: `SystemError`, for instance without the capability CAP_NET_RAW.
  func open(_ index: ControllerIndex, _ address: DeviceAddress) throws(SystemError) {
    let new = try ControllerSockets(index, of: kernel, on: context.loop)
    new.control.onEvent = { [weak self] event in self?.handle(event) }
    new.reports.onEvent = { [weak self] event in self?.handle(reports: event) }
    new.completions.onCompleted = { [weak self] handle, packets in self?.owner?.completed(packets, on: handle) }
    try new.start()
    self.index = index
    sockets = new
    setUp = SetUpMachine(address: address, modalias: Modalias.read(of: index.name), quirks: context.quirks)
    run(setUp: { $0.start(at: self.context.scheduler.now) })
  }

  /// Starts wanted activities. The state left behind by an earlier owner or a sleep is unknown.
  func startTargets() {
    activities.startTargets(.doubt)
    if activities.isReady { learnFragmentLength() }
  }

  func close() {
    scannedActively = hasScannedActively
    activities.end()
    hearsReports = false
    setUp = nil
    alarm?.cancel()
    alarm = nil
    sockets?.close()
    sockets = nil
  }

  /// The controller lost power: the kernel forgets its discovery.
  func lostPower() { scannedActively = false }

  /// A controller that shares its LE buffers with BR/EDR answers 0 (Core 5.4, Vol 4, Part E, 7.8.2).
  private func learnFragmentLength() {
    fragmentLength = nil
    activities.ask(CommandPacket(LEReadBufferSize())) { [weak self] answer in
      guard let self, let own = try? answer.complete?.decoded(as: LEReadBufferSize.self) else { return }
      if own.aclDataPacketLength > 0 { return fragmentLength = Int(own.aclDataPacketLength) }
      activities.ask(CommandPacket(ReadBufferSize())) { [weak self] answer in
        guard let shared = try? answer.complete?.decoded(as: ReadBufferSize.self) else { return }
        self?.fragmentLength = Int(shared.aclDataPacketLength)
      }
    }
  }

  // MARK: - The set-up

  /// Sends a command past the machines.
  func send(_ packet: CommandPacket) {
    if sockets?.control.send(HCIPacket.command(packet).octets) == false {
      context.logger.error("the controller accepts no commands")
    }
  }

  private func run(setUp step: (inout SetUpMachine) -> [SetUpMachine.Action]) {
    guard var machine = setUp else { return }
    let actions = step(&machine)
    setUp = machine
    for action in actions {
      switch action {
      case .warned(let words): context.logger.warning("\(words)")
      case .send(let packet): send(packet)
      case .done(let profile):
        setUp = nil
        owner?.radioIsSetUp(profile)
      case .failed(let reason): owner?.radioFailed(reason)
      }
    }
    context.arm(&alarm, at: setUp?.deadline) { [weak self] now in self?.run(setUp: { $0.tick(at: now) }) }
  }

  // MARK: - The controller's packets

  /// Handles the queued events, before anything that depends on them.
  func drain() { sockets?.control.drain() }

  /// A packet is about to be sent on a link.
  func packetSent() { sockets?.completions.packetSent(at: context.scheduler.now) }

  /// Reports the packets that the controller has transmitted.
  func readCompletions() { sockets?.completions.read() }

  /// Sets whether a link waits for the transmission of its last packets.
  func awaitCompletions(_ isAwaited: Bool) { sockets?.completions.isAwaited = isAwaited }

  private func handle(_ event: PacketSocket.Event) {
    switch event {
    case .received(let octets):
      do {
        switch try HCIPacket(decoding: octets) {
        case .event(let packet): receive(try HCIEvent(decoding: packet))
        case .command(let command): owner?.observed(command)
        default: break
        }
      } catch {
        context.logger.debug("an HCI packet could not be decoded: \(error)")
      }
    case .lost(let count):
      context.logger.warning(
        "events of the controller were lost; its state is checked", metadata: ["count": "\(count)"])
      guard activities.isReady else { return }
      activities.run(.doubt)
      owner?.radioLostEvents()
    case .writable: break
    case .ended(let error):
      // The controller was removed or lost its power; the management interface reports which, just after or before.
      context.logger.debug("the HCI socket ended", metadata: ["errno": "\(error?.code ?? 0)"])
      sockets?.close()
      context.scheduler.schedule(after: .seconds(1)) { [weak self, weak sockets] in
        guard let self, let sockets, sockets === self.sockets else { return }
        owner?.radioFailed("its socket was closed")
      }
    }
  }

  private func receive(_ event: HCIEvent) {
    if setUp != nil {
      run(setUp: { $0.handle(event, at: self.context.scheduler.now) })
    } else {
      activities.run(.event(event))
    }
  }

  private func handle(reports event: PacketSocket.Event) {
    switch event {
    case .received(let octets):
      do {
        guard setUp == nil, let reports = try AdvertisingReports(decoding: octets) else { return }
        hearsReports = true
        for report in activities.heard(reports) { owner?.heard(report) }
      } catch {
        context.logger.debug("an advertising report could not be decoded: \(error)")
      }
    case .lost(let count): context.logger.debug("advertising reports were lost", metadata: ["count": "\(count)"])
    // The other socket ends as well.
    case .writable, .ended: break
    }
  }
  // MARK: - The kernel's links

  /// Returns true if a link is up, once all pending events are handled. For a call of the user.
  func isUp(_ handle: ConnectionHandle) -> Bool {
    let wasInCall = isInCall
    isInCall = true
    drain()
    isInCall = wasInCall
    guard activities.isReady else { return false }
    return knownLinks()?.contains { $0.handle == handle } ?? true
  }

  /// Compares the machines' links with the kernel's list, which misses no event. The list counts only if it is
  /// identical before and after all pending events are read.
  ///
  /// This is not mgmt's Get Connections, which reports neither the handle nor the role.
  /// - Parameter offered: the device of the link that the kernel offers; the list lacks address types.
  func compareLinks(offered: DeviceAddress?) {
    guard activities.isReady, let sockets, let before = knownLinks() else { return }
    sockets.control.drain()
    // Draining may have ended the radio.
    guard activities.isReady, sockets === self.sockets, let after = knownLinks() else { return }
    let links = before.filter(after.contains).map { link in
      let candidates = [offered].compactMap { $0 } + activities.targets.connects.keys
      let peer = candidates.first { $0.value == link.address } ?? DeviceAddress(value: link.address, kind: .random)
      return ExistingLink(handle: link.handle, role: link.role, peer: peer)
    }
    activities.run(.links(links))
  }

  private func knownLinks() -> [KnownLink]? {
    sockets.flatMap { kernel.links(of: index, over: $0.control.descriptor) }
  }
}

extension RadioRunner: RadioActivitiesOwner {
  func radioFailed(_ reason: String) { owner?.radioFailed(reason) }
  func perform(_ action: RadioAction) { owner?.perform(action) }
  func fail(_ words: String, remedy: String) { owner?.fail(words, remedy: remedy) }
  func reopen(_ words: String) { owner?.reopen(words) }
}
