import Adapter
import Bluetooth
import EventLoop
import HCI
import Host
import Logging
import Radio

/// A controller over a transport of its own, or the kernel's user channel, that no other host uses: Bluetooth's host is
/// this program, without a kernel.
///
/// The adapter composes the parts, each of which owns its state: `ControllerHost` (the transport, the set-up and the
/// radio machines) and `HostLinks` (data and links). A controller whose transport ends is absent, and is looked for
/// until it returns.
package final class HostAdapter: Adapter {
  /// The adapter's identity; its address and capabilities are known once it is on.
  package private(set) var information: AdapterInformation
  /// Whether the controller works; starts as `.absent`.
  package private(set) var state = AdapterState.absent
  /// Called on the event loop, after the call in which the event arose.
  package var onEvent: ((AdapterEvent) -> Void)? {
    get { events.onEvent }
    set { events.onEvent = newValue }
  }

  /// The attempts to find a controller that has worked for so long begin anew when it is gone.
  private static let steady = Duration.seconds(10)

  private let address: ControllerAddress
  private let context: AdapterContext
  private let events: EventQueue
  private let controller: ControllerHost
  private let addresses: HostAddresses
  private let links: HostLinks
  private let end: AdapterEnd
  /// Whether the controller is to have power.
  private var isPowered = true
  private var backOff = BackOff(first: .milliseconds(250), limit: .seconds(5))
  /// When the controller came into use; nil while it is not.
  private var onSince: Instant?
  private var retry: (any ScheduledWork)?

  /// Describes an adapter; nothing happens before `start()`. Create and use it on the event loop.
  /// - Parameters:
  ///   - address: where the controller is.
  ///   - spare: the static random address of a controller that has none.
  ///   - others: the addresses of the other adapters: a controller that shares one is given the spare address.
  ///   - loop: the loop on which everything happens.
  ///   - scheduler: the clock and the alarms of that loop.
  ///   - logger: for details that users need not know.
  package convenience init(
    _ address: ControllerAddress, spare: DeviceAddress, others: @escaping () -> Set<DeviceAddress> = { [] },
    loop: EventLoop, scheduler: any Scheduler, logger: Logger
  ) {
    self.init(
      address, spare: spare, others: others, of: LinuxUserChannel(), loop: loop, scheduler: scheduler, logger: logger)
  }

  /// - Parameter sockets: by which a controller is taken from the kernel.
  init(
    _ address: ControllerAddress, spare: DeviceAddress, others: @escaping () -> Set<DeviceAddress> = { [] },
    of sockets: any UserChannelSockets, loop: EventLoop, scheduler: any Scheduler, logger: Logger
  ) {
    self.address = address
    information = AdapterInformation(id: "\(address)", kind: "host")
    context = AdapterContext(name: information.id, loop: loop, scheduler: scheduler, logger: logger)
    events = EventQueue(on: loop)
    controller = ControllerHost(spare: spare, others: others, of: sockets, in: context)
    addresses = HostAddresses(controller.activities, in: context)
    links = HostLinks(controller, in: context)
    end = AdapterEnd(in: context)
    controller.owner = self
    addresses.owner = self
    links.owner = self
    links.pairing.onEvent = { [weak self] device, event in self?.told(device, event) }
  }

  // MARK: - Adapter

  package func start() { context.loop.execute { [self] in open() } }

  /// Ends scan, advertising and links within two seconds, or three if the adapter was just switched off; calls back.
  package func stop(_ done: @escaping () -> Void) {
    guard end.stops(done) else { return }
    controller.activities.wantNothing()
    guard controller.activities.isReady else { return controller.afterLeaving { [weak self] in self?.finishStop() } }
    for link in links.all { link.disconnect() }
    end.waitsToStop { [weak self] in self?.finishStop() }
  }

  /// A controller need not notice that its transport is closed, and would go on to advertise: it ends its links and is
  /// reset before, which takes three seconds at most. The state is `off` at once.
  package func setPower(_ on: Bool, _ done: @escaping (BluetoothError?) -> Void) {
    context.loop.execute { [self] in
      if on != isPowered {
        isPowered = on
        if on {
          // A transport may take seconds to open.
          become(.starting)
          open()
        } else {
          controller.leave(links.handles)
          close(GAPError.adapterOff.error("the adapter was switched off"), .off)
          links.pairing.switchedOff()
          if end.isStopping { controller.afterLeaving { [weak self] in self?.finishStop() } }
        }
      }
      done(nil)
    }
  }

  package func setScan(_ parameters: ScanParameters?) { controller.activities.want(scan: parameters) }

  package func setAdvertising(_ set: AdvertisingSetID, _ parameters: AdvertisingParameters?) {
    controller.activities.want(set, parameters.map(addresses.adapted))
  }

  package func setSubevent(
    _ data: SubeventData, of set: AdvertisingSetID, _ done: @escaping (BluetoothError?) -> Void
  ) { controller.activities.setSubevent(data, of: set, done) }

  package func setSubevents(
    _ subevents: [UInt8], of train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) { controller.activities.setSubevents(subevents, of: train, done) }

  package func respond(
    _ response: TrainResponse, to train: PeriodicTrain, _ done: @escaping (BluetoothError?) -> Void
  ) { controller.activities.respond(response, to: train, done) }

  package func setSync(_ train: PeriodicTrain, _ parameters: SyncParameters?) {
    controller.activities.want(train, parameters)
  }

  package func connect(to address: DeviceAddress, _ parameters: ConnectionParameters) {
    controller.activities.connect(to: address, parameters)
  }

  /// Cancels the pending connection; a link that came up in the meantime is dropped unannounced.
  package func cancelConnect(to address: DeviceAddress) {
    controller.activities.cancelConnect(to: address)
    events.withdrawConnection(to: address)
  }

  package func publishChannel(_ psm: UInt16?, _ parameters: ChannelParameters) throws(BluetoothError) -> UInt16 {
    try links.channels.publish(psm, parameters)
  }

  package func unpublishChannel(_ psm: UInt16) { links.channels.unpublish(psm) }

  package func setBonds(_ bonds: any BondSource) { (links.pairing.bonds.kept, addresses.bonds) = (bonds, bonds) }

  /// Bonds are looked up each time, but for the controller's list of devices that it resolves.
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

  package func readOutOfBand(_ done: @escaping (Result<OutOfBandData, BluetoothError>) -> Void) {
    guard let data = links.pairing.makeOutOfBand() else {
      return context.fail(done, GAPError.pairingFailed.error("the data could not be made"))
    }
    context.loop.execute { done(.success(data)) }
  }

  /// Ends the links to a device, of which the owner of the bonds has removed the keys.
  package func unpair(_ address: DeviceAddress) {
    for link in links.all where links.pairing.isLink(link, to: address) { link.disconnect() }
    addresses.bondsChanged()
  }

  private func told(_ device: DeviceAddress, _ event: PairingEvent) {
    events.emit(.pairing(device, event))
    guard case .bonded = event else { return }
    // The owner of the bonds has it by then.
    context.loop.execute { [weak self] in self?.addresses.bondsChanged() }
  }

  package func setPrivacy(_ settings: PrivacySettings?) { addresses.settings = settings }

  package func tap(_ onEvent: @escaping (TapEvent) -> Void) throws(BluetoothError) -> any PacketTap {
    let tap = controller.taps.make(onEvent)
    context.loop.execute { [weak self, weak tap] in
      guard let self, let tap else { return }
      controller.taps.add(tap, MonitorPacket.presence(context.name, information.address, isOn: controller.taps.isOpen))
    }
    return tap
  }

  // MARK: - Opening and closing

  private func open() {
    retry?.cancel()
    retry = nil
    if isPowered, !end.isStopping { controller.open(address) }
  }

  private func close(_ error: BluetoothError, _ new: AdapterState) {
    retry?.cancel()
    retry = nil
    if let onSince, onSince.duration(to: context.scheduler.now) >= Self.steady { backOff.reset() }
    onSince = nil
    controller.close()
    addresses.close()
    (information.takingTurns, information.heldBack) = ([], [])
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

  private func become(_ new: AdapterState) {
    guard new != state else { return }
    state = new
    if new == .on { controller.taps.openIndex(context.name, information.address) }
    events.emit(.stateChanged)
  }

  /// The radio is quiet, or the time to become quiet is over.
  private func finishStop() {
    end.isQuiet()
    close(GAPError.adapterOff.error("bled is shutting down"), .absent)
    end.hasStopped()
  }

  private func fail(_ words: String, remedy: String) {
    let problem = AdapterProblem(kind: .hardware, message: "\(context.name) \(words)", remedy: remedy)
    close(GAPError.adapterFailed.error(problem.message), .failed(problem))
    if end.isStopping { finishStop() } else { openLater() }
  }
}

// MARK: - The controller

extension HostAdapter: ControllerHostOwner {
  func controllerIsThere() { become(.starting) }

  func controllerIsMissing(_ error: SystemError) {
    controller.forgetFaults()
    close(GAPError.adapterAbsent.error("\(context.name) is not there"), AdapterState(error, at: address))
    if end.isStopping { finishStop() } else { openLater() }
  }

  func controllerIsGone(_ reason: String) {
    context.logger.warning("the controller is gone: \(reason)")
    close(GAPError.adapterAbsent.error("\(context.name) is gone: \(reason)"), .absent)
    if end.isStopping { finishStop() } else { openLater() }
  }

  func controllerIsSetUp(_ found: HostController) {
    information.adopt(found.profile)
    (information.company, information.version) = (found.company, found.version)
    if let address = found.sharedAddress {
      context.logger.warning(
        "the controller's address \(address) is that of another device: \(found.profile.address) is used instead")
    }
    context.logger.debug("the controller is set up", metadata: ["profile": "\(found.profile)"])
    let address = addresses.begin(found.profile)
    controller.activities.begin(
      address.map { found.profile.seen(under: $0) } ?? found.profile, holdsTargets: true)
    addresses.setFirst(address) { [weak self] in self?.use(found, address) }
  }

  /// The controller has its first resolving list and its first private address, or is to have none.
  private func use(_ found: HostController, _ address: DeviceAddress?) {
    onSince = context.scheduler.now
    information.privateAddress = address
    let profile = found.profile
    links.begin(found, seenAs: address ?? profile.addressOnAir, addresses.key(of: profile.address))
    controller.activities.adapt(addresses.adapted)
    // The state is reported before wanted activities start.
    become(.on)
    controller.activities.startTargets(.tick)
  }

  func controllerFailed(_ reason: String) {
    fail("does not work: \(reason)", remedy: "unplug it and plug it back in, or restart the program that emulates it")
  }

  func heard(_ report: AdvertisingReport) { events.emitAtOnce(.report(report)) }

  // Earlier events are told first: a pairing before the requests that follow it, and before the end of its link.

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

  func lostData(on handle: ConnectionHandle) { links.room.dropped(on: handle) }

  func sending(_ packet: CommandPacket) { links.sent(packet) }

  func perform(_ action: RadioAction) {
    guard !addresses.withholds(action) else { return }
    if let event = action.event { return events.emit(event) }
    switch action {
    case .trainReceived(let handle, let train): links.requester.trains.received(train, over: handle)
    case .trainNotReceived(let handle, let status): links.requester.trains.missed(status, over: handle)
    case .sharing(let activities, let heldBack): sharing(activities, heldBack)
    case .faulty:
      controller.avoidExtendedCommands()
      fail("does not work with extended commands", remedy: "the controller is switched to legacy commands")
    case .attach, .linkUp, .link, .linkDown: links.perform(action)
    case .quiet: becameQuiet()
    // Under another address.
    case .resumed: events.emit(.stateChanged)
    case .encryptionChanged, .keysMissing, .send, .answered, .broken, .log: break
    // Told above.
    case .scanning, .watching, .presence, .advertising, .periodic, .responses, .attemptFailed, .connectWaiting: break
    }
  }

  private func becameQuiet() {
    if !end.isStopping { addresses.becameQuiet() } else if links.all.isEmpty { finishStop() }
  }

  private func sharing(_ activities: Set<LEStates.Activity>, _ heldBack: Set<LEStates.Activity>) {
    (information.takingTurns, information.heldBack) = (activities.words, heldBack.words)
    context.logShortage(information)
    events.emit(.stateChanged)
  }
}

// MARK: - Private addresses

extension HostAdapter: HostAddressesOwner {
  var mayPause: Bool { controller.activities.isReady && !end.isStopping }

  func resume(under address: DeviceAddress, isScanOver: Bool, over: Set<AdvertisingSetID>) {
    if information.privateAddress != nil { information.privateAddress = address }
    links.pairing.addressOnAir = address
    if isScanOver { events.emit(.scanning(false)) }
    for set in over { events.emit(.advertising(set, .off)) }
  }
}

// MARK: - Links

extension HostAdapter: HostLinksOwner {
  func linkBegan(_ link: HostLink) { events.emit(.connected(link)) }
  func deliverEvents() { events.deliver() }
  func linkHasEnded() { if end.isStopping, links.all.isEmpty { controller.activities.run(.quiet) } }
}
