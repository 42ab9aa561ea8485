import Adapter
import Bluetooth
import HCI
import Host
import Radio

/// The user of a `ControllerHost`, which receives the controller's events.
protocol ControllerHostOwner: ControllerOwner {
  /// The controller is present: it is being set up.
  func controllerIsThere()
  /// There is no controller.
  func controllerIsMissing(_ error: SystemError)
  /// The controller is set up: `begin` may follow.
  func controllerIsSetUp(_ controller: HostController)
  /// The transport ended.
  func controllerIsGone(_ reason: String)
  /// An event, before the machines receive it.
  func receive(_ event: HCIEvent)
  func receive(_ packet: ACLDataPacket)
  /// Packets have left the controller.
  func transmitted(_ report: CompletedPackets)
  /// Data of a link could not be decoded.
  func lostData(on handle: ConnectionHandle)
  /// A command of an activity is about to be sent.
  func sending(_ packet: CommandPacket)
}

/// A controller behind a transport: sets it up, and carries the commands of its activities, the answers, and data.
///
/// | State      | Input                  | Then                                                    |
/// |------------|------------------------|---------------------------------------------------------|
/// | shut       | `open`                 | opening; after `leave` when that transport is closed    |
/// | opening    | the other end is there | `controllerIsThere`, setting up: `HostSetUp`            |
/// | setting up | its answers            | `controllerIsSetUp`; the owner calls `begin`: ready     |
/// | any        | a failure              | notifies the owner, which calls `close`                 |
/// | in use     | `leave`                | `LeavingController` has the transport; `close` follows  |
/// | any        | `close`                | shut; questions that wait are answered with a failure   |
final class ControllerHost {
  weak var owner: (any ControllerHostOwner)?
  /// The wanted activities, kept while the controller is absent.
  let activities: RadioActivities

  /// The recordings of its packets.
  let taps = HostTaps()

  private let context: AdapterContext
  private let transports: any TransportSource
  /// The address for a controller without one.
  private let spare: DeviceAddress
  /// The addresses of the other adapters.
  private let others: () -> Set<DeviceAddress>
  private var transport: (any PacketTransport)?
  /// A controller that is being taken out of use.
  private var leaving: LeavingController?
  /// True if the controller is to be opened after that.
  private var isNext = false
  /// Called when that is done.
  private var hasLeft: (() -> Void)?
  private var setUp: HostSetUp?
  /// Meaningless octets received before the first packet.
  private var skipped = 0
  /// True while a packet of the controller is being handled.
  private var isReceiving = false
  /// The alarm of the set-up.
  private var alarm: (any ScheduledWork)?
  /// Its name for drivers.
  private var modalias = ""

  init(
    by transports: any TransportSource, spare: DeviceAddress, others: @escaping () -> Set<DeviceAddress>,
    in context: AdapterContext
  ) {
    self.context = context
    self.others = others
    self.transports = transports
    self.spare = spare
    activities = RadioActivities(in: context)
    activities.owner = self
  }

  // MARK: - Opening and closing

  /// Opens the transport and begins to set the controller up.
  func open() {
    isNext = leaving != nil
    guard !isNext else { return }
    do throws(SystemError) {
      let new = try transports.open()
      modalias = transports.modalias
      new.onEvent = { [weak self] event in self?.handle(event) }
      try new.start()
      transport = new
    } catch {
      owner?.controllerIsMissing(error)
    }
  }

  /// Ends the links of a controller in use, and its other activities: its transport is closed after that, or at the
  /// timeout. Until then no other is opened. `close` follows.
  func leave(_ links: [ConnectionHandle]) {
    guard let transport, let slot = activities.slot ?? setUp?.slot else { return }
    self.transport = nil
    let machine = HostTearDown(links: links, slot: slot)
    leaving = LeavingController(transport, machine, taps, in: context) { [weak self] in self?.left() }
  }

  private func left() {
    leaving = nil
    taps.closeIndex()
    if isNext { open() }
    hasLeft?()
    hasLeft = nil
  }

  /// Calls back once the transport of a controller taken out of use is closed, at once if there is none. No other is
  /// opened then.
  func afterLeaving(_ done: @escaping () -> Void) {
    guard leaving != nil else { return done() }
    isNext = false
    hasLeft = done
  }

  func close() {
    isNext = false
    activities.end()
    setUp = nil
    skipped = 0
    alarm?.cancel()
    alarm = nil
    transport?.close()
    transport = nil
    if leaving == nil { taps.closeIndex() }
  }

  // MARK: - The set-up

  /// Sends a packet to the controller.
  func send(_ packet: HCIPacket) { send(packet.octets) }

  /// Sends a whole data packet to the controller.
  func send(data packet: [UInt8]) { send(packet) }

  private func send(_ octets: [UInt8]) {
    guard let transport else { return }
    taps.tell(octets, isSent: true)
    transport.send(octets)
  }

  /// Has reports of transmitted packets delivered at once, or withheld until `takeCompletions`, as from the start.
  /// - Returns: true if they are delivered at once.
  func awaitCompletions(_ isAwaited: Bool) -> Bool { transport?.awaitCompletions(isAwaited) ?? false }

  /// Takes the withheld reports. Not to be called from inside `body`.
  /// - Parameter most: the maximum, 1 or more. A few more may be taken; others stay for the next call.
  func takeCompletions(_ most: Int = .max, _ body: (CompletedPackets) -> Void) {
    transport?.takeCompletions(most) { octets in
      taps.tell(octets, isSent: false)
      if let report = try? CompletedPackets(packet: octets) { body(report) }
    }
  }

  private func run(setUp step: (inout HostSetUp) -> [HostSetUp.Action]) {
    guard var machine = setUp else { return }
    let actions = step(&machine)
    setUp = machine
    for action in actions {
      switch action {
      case .warned(let words): context.logger.warning("\(words)")
      case .send(let packet): send(.command(packet))
      case .done(let controller):
        setUp = nil
        owner?.controllerIsSetUp(controller)
      case .failed(let reason):
        let remark = skipped > 0 ? ", though it sends octets: is the speed of its line right?" : ""
        fail(reason + remark)
      }
    }
    context.arm(&alarm, at: setUp?.deadline) { [weak self] now in self?.run(setUp: { $0.tick(at: now) }) }
  }

  private func fail(_ reason: String) {
    let obstacle = transport?.obstacle.map { "; \($0)" } ?? ""
    owner?.radioFailed(reason + obstacle)
  }

  // MARK: - The controller's packets

  /// The arrival time in this machine of the packet being handled; now, if there is none.
  var arrival: Instant { (isReceiving ? transport?.arrival : nil) ?? context.scheduler.now }

  private func handle(_ event: TransportEvent) {
    switch event {
    case .starting: owner?.controllerIsThere()
    case .opened:
      owner?.controllerIsThere()
      setUp = HostSetUp(
        spare: spare, modalias: modalias, quirks: context.quirks,
        avoidsExtended: activities.triesLegacyScan, others: others())
      run(setUp: { $0.start(at: self.context.scheduler.now) })
    case .packet(let octets):
      if skipped > 0 {
        context.logger.info("\(skipped) octets before the controller's answer to Reset were dropped")
        skipped = 0
      }
      receive(octets)
    case .skipped(let count): skipped += count
    case .ended(let reason): owner?.controllerIsGone(reason)
    case .refused(let error): owner?.controllerIsMissing(error)
    }
  }

  private func receive(_ octets: [UInt8]) {
    isReceiving = true
    defer { isReceiving = false }
    taps.tell(octets, isSent: false)
    do throws(HCICodingError) {
      if let packet = try ACLDataPacket(packet: octets) { owner?.receive(packet) } else { try receive(event: octets) }
    } catch {
      context.logger.debug("an HCI packet could not be decoded: \(error)")
      if let handle = HCIPacket.dataHandle(of: octets) { owner?.lostData(on: handle) }
    }
  }

  /// The most frequent events are read in place.
  private func receive(event octets: [UInt8]) throws(HCICodingError) {
    if setUp == nil, let report = try CompletedPackets(packet: octets[...]) {
      activities.received()
      return owner?.transmitted(report) ?? ()
    }
    if let reports = try AdvertisingReports(decoding: octets), activities.isReady {
      for report in activities.heard(reports) { owner?.heard(report) }
      return
    }
    // A host receives no commands.
    if case .event(let packet) = try HCIPacket(decoding: octets) { receive(try HCIEvent(decoding: packet)) }
  }

  /// Hardware Error (Core 5.4, Vol 4, Part E, 7.7.16).
  private static let hardwareError: UInt8 = 0x10

  private func receive(_ event: HCIEvent) {
    if case .other(let packet) = event, packet.code == Self.hardwareError {
      owner?.radioFailed("it reports a hardware error")
      return
    }
    if setUp != nil { return run(setUp: { $0.handle(event, at: self.context.scheduler.now) }) }
    owner?.receive(event)
    activities.run(.event(event))
  }
}

extension ControllerHost: RadioActivitiesOwner {
  func send(_ packet: CommandPacket) {
    owner?.sending(packet)
    send(.command(packet))
  }
  func radioFailed(_ reason: String) { fail(reason) }
  func perform(_ action: RadioAction) { owner?.perform(action) }
  func fail(_ words: String, remedy: String) { owner?.fail(words, remedy: remedy) }
  func reopen(_ words: String) { owner?.reopen(words) }
}
