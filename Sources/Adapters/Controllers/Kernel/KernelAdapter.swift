import Adapter
import Bluetooth
import EventLoop
import HCI
import Logging
import Radio

/// A controller of this machine, used alongside the Linux kernel: power and settings over its management interface,
/// scan, advertising and connecting over the raw HCI socket, ATT over its L2CAP sockets.
///
/// The adapter composes the parts, each of which owns its state: `LifecycleRunner` (power, settings and removal),
/// `RadioRunner` (the controller), `PrivateAddressRunner`, `KernelLinks`, `KernelPairing` and `KernelChannels`.
package final class KernelAdapter: ControllerAdapter {
  /// The adapter's identity; its address and capabilities are known once it is on.
  package internal(set) var information: AdapterInformation
  /// The state of the controller; starts as `.absent`.
  package internal(set) var state = AdapterState.absent
  /// Called on the event loop with the kernel's numbers of present controllers: all of them when this adapter searches
  /// for its own, and each that appears later. So adapters can be made for them too.
  package var onControllers: (([UInt16]) -> Void)?

  private let loopContext: LoopContext
  let events: EventQueue
  private let management: ManagementInterface
  private let lifecycle: LifecycleRunner
  private let addresses: PrivateAddressRunner
  private let radio: RadioRunner
  private let links: KernelLinks
  private let pairing: KernelPairing
  private let channels: KernelChannels
  let end: AdapterEnd

  var context: AdapterContext { loopContext }
  var activities: RadioActivities { radio.activities }
  var requester: LinkRequester { links.requester }
  var pauses: AddressPauses { addresses.pauses }
  var openLinks: [any Link] { links.all }

  /// Describes an adapter; nothing happens before `start()`. Create and use it on the event loop.
  /// - Parameters:
  ///   - selector: which controller.
  ///   - isNamed: true if exactly this controller was chosen: then it is used beside bluetoothd, which has another.
  ///   - publicAddress: the address for a controller that the kernel does not use for lack of one.
  ///   - spare: the static random address for a controller without any address.
  ///   - loop: the loop on which everything happens.
  ///   - scheduler: the clock and the alarms of that loop.
  ///   - logger: for details that users need not know.
  package convenience init(
    selector: AdapterSelector, isNamed: Bool = false, publicAddress: DeviceAddress? = nil, spare: DeviceAddress,
    loop: EventLoop, scheduler: any Scheduler, logger: Logger
  ) {
    self.init(
      selector: selector, isNamed: isNamed, publicAddress: publicAddress, spare: spare,
      kernel: LinuxSockets(loop: loop), loop: loop, scheduler: scheduler, logger: logger)
  }

  /// Describes an adapter with other sockets.
  init(
    selector: AdapterSelector, isNamed: Bool = false, publicAddress: DeviceAddress? = nil, spare: DeviceAddress,
    kernel: any KernelSockets, loop: EventLoop, scheduler: any Scheduler, logger: Logger
  ) {
    information = AdapterInformation(id: selector.description, kind: "kernel")
    let context = LoopContext(name: selector.description, loop: loop, scheduler: scheduler, logger: logger)
    loopContext = context
    events = EventQueue(on: scheduler)
    management = ManagementInterface(kernel, in: context)
    lifecycle = LifecycleRunner(
      selector, isNamed: isNamed, publicAddress: publicAddress, spare: spare, kernel, management, in: context)
    radio = RadioRunner(kernel, management, in: context)
    addresses = PrivateAddressRunner(management, radio, in: context)
    links = KernelLinks(kernel, radio, in: context)
    pairing = KernelPairing(management, links, in: context) { [lifecycle] in lifecycle.pairing }
    channels = KernelChannels(kernel, management, links, pairing, in: context)
    end = AdapterEnd(in: context)
    lifecycle.owner = self
    addresses.owner = self
    pauses.owner = self
    radio.owner = self
    links.owner = self
    pairing.onEvent = { [weak self] peer, event in self?.events.emit(.pairing(peer, event)) }
  }

  // MARK: - Adapter

  package func start() { lifecycle.start() }

  package func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) { lifecycle.setPower(on, done) }

  /// Cancels the pending connection; a link established in the meantime is dropped unannounced.
  package func cancelConnect(to address: DeviceAddress) {
    links.abandonAttachment(to: address)
    activities.cancelConnect(to: address)
    events.withdrawConnection(to: address)
  }

  package func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    try channels.publish(psm, parameters, isInUse: activities.isReady)
  }

  package func unpublishChannel(_ psm: UInt16) { channels.unpublish(psm) }

  /// True if the kernel has enhanced channels and this process may listen for them under a number. Numbers below 0x80
  /// require CAP_NET_BIND_SERVICE.
  package static func mayListen(on psm: UInt16) -> Bool { KernelChannels.mayListen(on: psm, at: nil) }

  package func setBonds(_ bonds: any BondSource) { pairing.keys.stored = bonds }

  package func bondsAdded() { pairing.keys.bondsAdded(isInUse: activities.isReady) }

  package func setPairing(_ settings: PairingSettings) {
    guard settings != lifecycle.pairing else { return }
    lifecycle.pairing = settings
    if activities.isReady { pairing.applySettings() }
  }

  package func setPrivacy(_ settings: PrivacySettings?) { lifecycle.privacy = settings }

  package func answer(_ question: QuestionID, _ answer: PairingAnswer) { pairing.answer(question, answer) }

  package func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) {
    guard state == .on else { return context.fail(done, GAPError.adapterOff.error("the adapter is not on")) }
    pairing.outOfBand.read(done)
  }

  package func setOutOfBand(_ data: OutOfBandData, of address: DeviceAddress) throws(BluetoothError) {
    try pairing.outOfBand.set(data, of: address, isInUse: activities.isReady)
  }

  package func removeOutOfBand(of address: DeviceAddress) {
    pairing.outOfBand.remove(address, isInUse: activities.isReady)
  }

  /// Makes the kernel forget a device's keys. A controller that is off loads its keys again before use.
  package func unpair(_ address: DeviceAddress) {
    pairing.keys.unpair(address, tells: state == .on || state == .suspended || state == .starting)
  }

  package func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap {
    let socket = try MonitorSocket.tap(of: { [weak management] in management?.index }, on: loopContext.loop, onEvent)
    socket.links = links.all.filter { !$0.isOver }.flatMap(\.packetsOfPresence)
    return socket
  }

  // MARK: - The end

  /// Restores the controller's earlier settings.
  func finishStop() {
    end.isQuiet()
    // Without links a power cycle does no harm.
    let needsCycle = radio.hasScannedActively && links.all.isEmpty
    closeRadio(GAPError.adapterOff.error("bled is shutting down"))
    lifecycle.stop(needsCycle: needsCycle)
  }

  func close(for problem: AdapterProblem) {
    closeRadio(GAPError.adapterFailed.error(problem.message))
    lifecycle.radioFailed(problem)
  }

  /// Closes the radio for a socket that cannot be opened.
  private func fail(_ error: SystemError, _ part: String) {
    closeRadio(GAPError.adapterFailed.error("the adapter cannot be used"))
    lifecycle.radioFailed(AdapterProblem(error, part))
  }
}

// MARK: - Power and settings

extension KernelAdapter: LifecycleRunnerOwner {
  func loadBonds() -> [Bond] { pairing.keys.load() }

  func identify(_ controller: ControllerInformation) {
    addresses.forget()
    var new = information
    new.id = context.name
    new.name = String(decoding: controller.name, as: UTF8.self)
    // The kernel has no other value for a manufacturer that it has not read.
    let isRead = controller.manufacturer != 0xFFFF
    new.company = isRead ? controller.manufacturer : nil
    new.version = isRead ? controller.version : nil
    if controller.address != 0 { new.address = DeviceAddress(value: controller.address, kind: .public) }
    guard new != information else { return }
    information = new
    events.emit(.stateChanged)
  }

  func openRadio(_ index: ControllerIndex, _ address: DeviceAddress) {
    // The system went to sleep before everything was closed.
    if radio.isOpen { closeRadio(LifecycleMachine.suspended) }
    pairing.keys.local = address
    do throws(SystemError) { try links.listen(at: address) } catch { return fail(error, "ATT on \(index.name)") }
    do throws(SystemError) { try radio.open(index, address) } catch { fail(error, "the HCI socket of \(index.name)") }
  }

  func closeRadio(_ error: BluetoothError) {
    radio.close()
    forgetActivities()
    end.isClosed()
    pairing.close(error)
    links.close(error)
  }

  func suspendRadio() {
    guard activities.isReady else { return closeRadio(LifecycleMachine.suspended) }
    closeAddresses()
    end.waitsToSleep { [weak self] in self?.closeRadio(LifecycleMachine.suspended) }
    activities.run(.quiet)
    links.close(LifecycleMachine.suspended)
  }

  func stateChanged(to new: AdapterState) {
    if new == .off || new == .absent { radio.lostPower() }
    become(new)
  }

  func controllersArePresent(_ numbers: [UInt16]) { onControllers?(numbers) }

  func receive(_ event: ManagementEvent) {
    guard radio.isOpen else { return }
    pairing.receive(event)
    addresses.receive(answer: event)
  }

  // An active scan is received on the HCI socket, unless that is silent.
  var awaitsKernel: Bool { activities.isSilent }
  func kernelFoundDevice() { activities.kernelFound() }

  func lifecycleHasStopped() { end.hasStopped() }
}

// MARK: - The controller

extension KernelAdapter: RadioRunnerOwner {
  func radioIsSetUp(_ profile: ControllerProfile) {
    addresses.begin(profile, isPrivate: lifecycle.privacy != nil)
  }

  private func begin(_ profile: ControllerProfile) {
    identify(profile)
    context.logger.debug("the controller is set up", metadata: ["profile": "\(profile)"])
    activities.begin(profile)
    lifecycle.radioOpened()
    // The state is reported before wanted activities start.
    radio.startTargets()
    guard activities.isReady else { return }
    pairing.applySettings()
    pairing.outOfBand.begin()
    channels.begin()
    // Bonds may have been added since the kernel last loaded them.
    pairing.keys.reload()
    links.begin()
  }

  func radioFailed(_ reason: String) {
    fail("does not work: \(reason)", remedy: "unplug it and plug it back in, or check the kernel log with `dmesg`")
  }

  func observed(_ command: CommandPacket) {
    if lifecycle.privacy != nil { addresses.observed(command) }
    // Delivered before the controller reports the link encrypted, which also waits for the end of a call.
    if pairing.observed(command), !radio.isInCall { events.deliver() }
  }

  func radioLostEvents() {
    pairing.eventsLost()
    links.eventsLost()
  }
  func completed(_ packets: Int, on handle: ConnectionHandle) { links.completed(packets, on: handle) }

  func perform(onLinks action: RadioAction) {
    if case .linkUp(let handle, _, _, let parameters) = action {
      pairing.keys.linkIsUp(handle, isHeard: parameters != nil)
    }
    if case .linkDown(let handle, _) = action { pairing.keys.linkIsDown(handle) }
    guard case .keysMissing(let handle, let theirs) = action else { return links.perform(action) }
    pairing.keysAreMissing(handle, theirs: theirs)
  }

  // The kernel owns all other settings.
  func renewed() {}

  /// A power cycle makes the controller forget extended commands before it accepts legacy ones.
  func avoid(_ quirk: Quirk) {
    let feature = quirk == .extendedScanning ? "extended scanning" : "extended connecting"
    fail(
      "does not work with \(feature)",
      remedy: "the controller is switched to legacy commands, which takes a few seconds")
  }
}

// MARK: - Private addresses

extension KernelAdapter: PrivateAddressRunnerOwner {
  var pauseIsHarmless: Bool? {
    guard activities.isReady, !end.isStopping, !end.isSuspending else { return nil }
    // A link that gets its socket now would be given up.
    return !links.isAttaching
  }

  var rotation: Duration? { lifecycle.privacy?.rotation }
  func addressIsMade(_ address: DeviceAddress?, for profile: ControllerProfile) {
    information.privateAddress = address
    begin(profile.seen(under: address ?? profile.address))
  }

  func addressIsMissing() {
    fail(
      "gets no private address from the kernel",
      remedy: "switch `privacy` off in the configuration, or check the kernel log with `dmesg`")
  }

  func restoreBonds() { pairing.raises.allowBonds() }
}

// MARK: - Links

extension KernelAdapter: KernelLinksOwner {
  func linkBegan(_ link: KernelLink, identity: DeviceAddress) {
    pairing.keys.linkBegan(link, identity: identity)
    events.emit(.connected(link))
    pairing.linkBegan(link)
  }

  func securityChanges(on link: KernelLink) {
    if pairing.securityChanges(on: link), !radio.isInCall { events.deliver() }
  }

  func linkEnds(_ link: KernelLink, _ error: BluetoothError) { pairing.linkEnds(link, error) }
  func linkHasEnded() {
    if activities.isReady { pairing.keys.reload() }
    quietWithoutLinks()
  }

  func linksAreAccepted() { pairing.handleDeferred() }
  func listeningFailed(_ error: SystemError) { fail(error, "ATT on \(context.name)") }
}
