import Adapter
import Bluetooth
import EventLoop
import HCI
import Host
import Logging
import Radio

/// A controller over a transport of its own, or the kernel's user channel, that no other host uses: this program is the
/// Bluetooth host, without the kernel's.
///
/// The adapter composes the parts, each of which owns its state: `ControllerHost` (the transport, the set-up and the
/// radio machines) and `HostLinks` (data and links). When its transport ends, the controller is absent, and is searched
/// for until it returns.
package final class HostAdapter: ControllerAdapter {
  /// The adapter's identity; its address and capabilities are known once it is on.
  package internal(set) var information: AdapterInformation
  /// The state of the controller; starts as `.absent`.
  package internal(set) var state = AdapterState.absent

  /// Once a controller has worked for this long, its loss resets the back-off of the attempts to find it.
  private static let steady = Duration.seconds(10)

  private let address: ControllerAddress
  let context: AdapterContext
  let events: EventQueue
  private let controller: ControllerHost
  private let addresses: HostAddresses
  private let links: HostLinks
  private let channels: HostChannels
  let end: AdapterEnd
  /// True if the controller is to have power.
  private var isPowered = true
  private var backOff = BackOff(first: .milliseconds(250), limit: .seconds(5))
  /// The time at which the controller was brought into use; nil while it is not.
  private var onSince: Instant?
  private var retry: (any ScheduledWork)?

  var activities: RadioActivities { controller.activities }
  var requester: LinkRequester { links.requester }
  var pauses: AddressPauses { addresses.pauses }
  var openLinks: [any Link] { links.all }

  /// Describes an adapter; nothing happens before `start()`. Create and use it on the event loop.
  /// - Parameters:
  ///   - address: where the controller is.
  ///   - spare: the static random address for a controller without one.
  ///   - others: the addresses of the other adapters: a controller that shares one is given the spare address.
  ///   - loop: the loop on which the transport is watched.
  ///   - scheduler: the clock and the alarms of that loop.
  ///   - logger: for details that users need not know.
  package convenience init(
    _ address: ControllerAddress, spare: DeviceAddress, others: @escaping () -> Set<DeviceAddress> = { [] },
    loop: EventLoop, scheduler: any Scheduler, logger: Logger
  ) {
    self.init(
      address, by: SystemTransports(address, of: LinuxUserChannel(), on: loop, by: scheduler), spare: spare,
      others: others, scheduler: scheduler, logger: logger)
  }

  /// Describes an adapter on a thread without an event loop.
  /// - Parameters:
  ///   - transports: opens the transport.
  ///   - scheduler: the clock and the alarms of that thread.
  package init(
    _ address: ControllerAddress, by transports: any TransportSource, spare: DeviceAddress,
    others: @escaping () -> Set<DeviceAddress> = { [] }, scheduler: any Scheduler, logger: Logger
  ) {
    self.address = address
    information = AdapterInformation(id: "\(address)", kind: "host")
    context = AdapterContext(name: information.id, scheduler: scheduler, logger: logger)
    events = EventQueue(on: scheduler)
    controller = ControllerHost(by: transports, spare: spare, others: others, in: context)
    addresses = HostAddresses(controller.activities, in: context)
    links = HostLinks(controller, in: context)
    channels = HostChannels(links, in: context)
    end = AdapterEnd(in: context)
    controller.owner = self
    addresses.owner = self
    pauses.owner = self
    links.owner = self
    links.pairing.onEvent = { [weak self] device, event in self?.told(device, event) }
  }

  // MARK: - Adapter

  package func start() { context.scheduler.execute { [self] in open() } }

  /// A controller need not notice that its transport is closed, and would keep advertising: its links are ended and it
  /// is reset first, which takes three seconds at most. The state is `off` at once.
  package func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) {
    context.scheduler.execute { [self] in
      if on != isPowered {
        isPowered = on
        if on {
          // A transport may take seconds to open.
          become(.starting)
          open()
        } else {
          activities.abandonTrial()
          controller.leave(links.handles)
          close(GAPError.adapterOff.error("the adapter was switched off"), .off)
          links.pairing.switchedOff()
          if end.isStopping { finishStop() }
        }
      }
      done(nil)
    }
  }

  package func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    activities.want(set, parameters.map(addresses.adapted))
  }

  package func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    try channels.publish(psm, parameters)
  }

  package func unpublishChannel(_ psm: UInt16) { channels.unpublish(psm) }

  /// The bonds of all adapters.
  package var bonds: (any BondSource)? { addresses.bonds }
  /// The key that resolves the controller's private addresses, 16 octets; nil if it has none.
  package var identityResolvingKey: [UInt8]? { addresses.key(of: information.address)?.littleEndian }

  package func setBonds(_ bonds: any BondSource) { (links.pairing.bonds.kept, addresses.bonds) = (bonds, bonds) }

  /// Bonds are looked up each time, except for the controller's resolving list.
  package func bondsAdded() { addresses.bondsChanged() }

  package func resolves(_ identity: DeviceAddress) -> Bool { addresses.resolves(identity) }
  package func callsPrivately(_ identity: DeviceAddress) -> Bool { addresses.isToResolve(identity) }
  package func doesNotResolve(_ identity: DeviceAddress, at address: DeviceAddress) {
    addresses.doesNotResolve(identity, at: address)
  }

  package func setLongestInterval(_ interval: Duration) { links.signalling.longestInterval = interval }

  package func setPairing(_ settings: PairingSettings) { links.pairing.settings = settings }
  package func answer(_ question: QuestionID, _ answer: PairingAnswer) { links.pairing.answer(question, answer) }
  package func setOutOfBand(_ data: OutOfBandData, of address: DeviceAddress) throws(BluetoothError) {
    links.pairing.outOfBand[address] = data
  }
  package func removeOutOfBand(of address: DeviceAddress) { links.pairing.outOfBand[address] = nil }

  /// The largest ATT MTU of links, 23 to 517.
  package var maximumMTU: Int {
    get { links.maximumMTU }
    set { links.maximumMTU = newValue }
  }

  /// The source of secrets and private addresses: that of the system at first, which simulations replace.
  package var random: any RandomNumberGenerator {
    get { context.random }
    set { context.random = newValue }
  }

  /// Changes the terms of each pairing: a simulated device has the features and the passkey of its description.
  package var changeTerms: ((inout PairingTerms) -> Void)? {
    get { links.pairing.changeTerms }
    set { links.pairing.changeTerms = newValue }
  }

  package func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) {
    guard let data = links.pairing.makeOutOfBand() else {
      return context.fail(done, GAPError.pairingFailed.error("the data could not be made"))
    }
    context.scheduler.execute { done(.success(data)) }
  }

  /// Ends the links to a device after the owner of the bonds has removed its keys.
  package func unpair(_ address: DeviceAddress) {
    for link in links.all where links.pairing.isLink(link, to: address) { link.disconnect() }
    addresses.bondsChanged()
  }

  /// Called with each event of a pairing at once: a simulated person sees the passkey that the adapter shows.
  package var onPairing: ((DeviceAddress, PairingEvent) -> Void)?

  private func told(_ device: DeviceAddress, _ event: PairingEvent) {
    onPairing?(device, event)
    events.emit(.pairing(device, event))
    guard case .bonded = event else { return }
    // The owner of the bonds has it by then.
    context.scheduler.execute { [weak self] in self?.addresses.bondsChanged() }
  }

  package func setPrivacy(_ settings: PrivacySettings?) { addresses.settings = settings }

  package func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap {
    let tap = controller.taps.make(onEvent)
    context.scheduler.execute { [weak self, weak tap] in
      guard let self, let tap else { return }
      let present = MonitorPacket.presence(context.name, information.address, isOn: controller.taps.isOpen)
      controller.taps.add(tap, present + links.all.filter { !$0.isOver }.flatMap(\.packetsOfPresence))
    }
    return tap
  }

  // MARK: - Opening and closing

  private func open() {
    retry?.cancel()
    retry = nil
    if isPowered, !end.isStopping { controller.open() }
  }

  private func close(_ error: BluetoothError, _ new: AdapterState) {
    retry?.cancel()
    retry = nil
    if let onSince, onSince.duration(to: context.scheduler.now) >= Self.steady { backOff.reset() }
    onSince = nil
    controller.close()
    forgetActivities()
    events.deliver()
    links.close(error)
    become(new)
  }

  private func openLater() {
    backOff.fail(at: context.scheduler.now)
    guard let deadline = backOff.deadline(after: context.scheduler.now) else { return open() }
    retry?.cancel()
    retry = context.scheduler.schedule(at: deadline) { [weak self] in self?.open() }
  }

  func finishStop() { controller.afterLeaving { [weak self] in self?.hasLeft() } }

  private func hasLeft() {
    end.isQuiet()
    close(GAPError.adapterOff.error("bled is shutting down"), .absent)
    end.hasStopped()
  }

  func close(for problem: AdapterProblem) {
    close(GAPError.adapterFailed.error(problem.message), .failed(problem))
    openAgain()
  }

  func reopen(_ words: String) {
    context.logger.info("the adapter \(words)")
    close(GAPError.adapterFailed.error("\(context.name) \(words)"), .starting)
    openAgain()
  }

  /// The controller may be present again, or work again: the next attempt to open it does not wait.
  package func lookAgain() { context.scheduler.execute { [self] in if retry != nil { open() } } }

  private func openAgain() { if end.isStopping { finishStop() } else { openLater() } }
}

// MARK: - The controller

extension HostAdapter: ControllerHostOwner {
  func controllerIsThere() { become(.starting) }

  func controllerIsMissing(_ error: SystemError) {
    activities.forgetTrial()
    let state = AdapterState(error, at: address)
    if state == .absent { isAbsent(AdapterProblem(absence: error, of: address)) }
    close(GAPError.adapterAbsent.error("\(context.name) is not there"), state)
    openAgain()
  }

  func controllerIsGone(_ reason: String) {
    activities.forgetTrial()
    isAbsent(AdapterProblem(goneBecause: reason, address))
    close(GAPError.adapterAbsent.error("\(context.name) is gone: \(reason)"), .absent)
    openAgain()
  }

  /// Logs a new reason: attempts are repeated.
  private func isAbsent(_ reason: AdapterProblem) {
    if information.absence != reason { context.logger.warning("\(reason.text)") }
    information.absence = reason
  }

  func controllerIsSetUp(_ found: HostController) {
    information.absence = nil
    identify(found.profile)
    if context.note(.eventMask, found.refusesEvents) { information.quirks = context.faults }
    (information.company, information.version) = (found.company, found.version)
    if let address = found.sharedAddress {
      context.logger.warning(
        "the controller's address \(address) is that of another device: \(found.profile.address) is used instead")
    }
    context.logger.debug("the controller is set up", metadata: ["profile": "\(found.profile)"])
    let address = addresses.begin(found.profile)
    activities.begin(
      address.map { found.profile.seen(under: $0) } ?? found.profile, holdsTargets: true)
    addresses.setFirst(address) { [weak self] in self?.use(found, address) }
  }

  /// The controller has its first resolving list and its first private address, or is to have none.
  private func use(_ found: HostController, _ address: DeviceAddress?) {
    onSince = context.scheduler.now
    information.privateAddress = address
    let profile = found.profile
    links.begin(found, seenAs: address ?? profile.addressOnAir, addresses.key(of: profile.address))
    activities.adapt(addresses.adapted)
    controller.taps.openIndex(context.name, information.address)
    // The state is reported before wanted activities start.
    become(.on)
    activities.startTargets(.tick)
  }

  func radioFailed(_ reason: String) {
    close(for: AdapterProblem(failing: context.name, reason))
  }

  // Earlier events are delivered first: a pairing before the requests that follow it, and before the end of its link.

  func receive(_ event: HCIEvent) {
    events.deliver()
    links.receive(event)
  }

  func receive(_ packet: ACLDataPacket) {
    events.deliver()
    links.receive(packet)
  }

  func transmitted(_ report: CompletedPackets) {
    events.deliver()
    links.transmitted(report)
  }

  func lostData(on handle: ConnectionHandle) {
    links.room.dropped(on: handle)
    events.deliver()
    links.link(handle)?.lost()
  }

  func sending(_ packet: CommandPacket) { links.sent(packet) }

  func perform(onLinks action: RadioAction) { links.perform(action) }

  func renewed() { addresses.listIsForgotten() }

  func avoid(_ quirk: Quirk) {
    fail("does not work with extended commands", remedy: "the controller is switched to legacy commands")
  }
}

// MARK: - Private addresses

extension HostAdapter: HostAddressesOwner {
  var pauseIsHarmless: Bool? { activities.isReady && !end.isStopping ? true : nil }
  func isSeen(under address: DeviceAddress) { links.pairing.addressOnAir = address }
}

// MARK: - Links

extension HostAdapter: HostLinksOwner {
  func linkBegan(_ link: HostLink) { events.emit(.connected(link)) }
  func deliverEvents() { events.deliver() }
  func linkHasEnded() { quietWithoutLinks() }
}
