import Adapter
import Bluetooth
import Scenarios

/// Both sides of a connection and the connection events at which packets pass between them. The air holds it; the sides
/// and scheduled work do not.
final class LinkPair {
  let scheduler: any Scheduler
  private(set) var parameters: LinkParameters
  let central: SimulatedLink
  let peripheral: SimulatedLink
  private(set) lazy var security = SecurityManagerPair(self)
  /// Called when both sides have ended.
  var onEnd: ((ObjectIdentifier) -> Void)?

  /// The number of packets that each side sends in one connection event.
  let packetsPerEvent: Int
  /// The open sides of its channels, each with true if it is the central's.
  private var channels: [(side: SimulatedChannel, isOfCentral: Bool)] = []
  private var events: ConnectionEvents
  private var alarm: (any ScheduledWork)?
  /// The requested parameters that are not yet in force.
  private var wanted: ConnectionParameters?
  /// The requests that wait for new parameters.
  private var requests: [(BluetoothError?) -> Void] = []
  /// The side that disconnected and the reason for each side, to be reported after the next connection event.
  private var ending: (central: BluetoothError, peripheral: BluetoothError)?
  /// The side that sends all its packets before the link ends: the one that disconnected, as with a real controller.
  private var leaving: SimulatedLink?
  /// False when the sides no longer receive each other.
  private(set) var isCarrying = true

  /// A side that ignores `isWritable` until this many packets wait loses its link.
  static let limit = 4096

  init(
    _ centralEnd: SimulatedLink.End, _ peripheralEnd: SimulatedLink.End, attempts: Int, _ wanted: ConnectionParameters,
    phy: PHY = .le1M, packetsPerEvent: Int, scheduler: any Scheduler
  ) {
    self.phy = phy
    self.scheduler = scheduler
    self.packetsPerEvent = packetsPerEvent
    parameters = Self.chosen(from: wanted)
    events = ConnectionEvents(parameters, from: scheduler.now)
    central = SimulatedLink(role: .central, own: centralEnd, other: peripheralEnd, attempts: attempts)
    peripheral = SimulatedLink(role: .peripheral, own: peripheralEnd, other: centralEnd, attempts: 1)
    central.pair = self
    peripheral.pair = self
  }

  /// The side at the other end.
  func other(of side: SimulatedLink) -> SimulatedLink { side === central ? peripheral : central }

  // MARK: - PHY and packets

  private var phy: PHY
  /// The requested PHY that is not yet in force.
  private var wantedPHY: PHY?
  /// The requests that wait for it.
  private var phyRequests: [(BluetoothError?) -> Void] = []
  /// The longest payloads of the central's and the peripheral's packets, in octets.
  private var longest: (central: Int, peripheral: Int) = (27, 27)

  func layer(of role: LinkRole) -> LinkLayer {
    let (own, other) =
      role == .central ? (longest.central, longest.peripheral) : (longest.peripheral, longest.central)
    return LinkLayer(txPHY: phy, rxPHY: phy, txOctets: own, rxOctets: other)
  }

  /// One side requests another PHY: it is used six connection events later if both support it (Core 5.4, Vol 6, Part B,
  /// 5.1.10). Of several requests until then the newest counts.
  func request(_ wanted: PHY, by side: SimulatedLink, _ done: @escaping (BluetoothError?) -> Void) {
    let other = side === central ? peripheral : central
    guard side.radio.phys.contains(wanted) else {
      return done(GAPError.notSupported.error("the adapter does not have the \(wanted.word) PHY"))
    }
    guard other.radio.phys.contains(wanted) else {
      return done(GAPError.notSupported.error("\(side.peer) does not have the \(wanted.word) PHY"))
    }
    let isUnderWay = wantedPHY != nil
    wantedPHY = wanted
    phyRequests.append(done)
    guard !isUnderWay else { return }
    scheduler.schedule(after: parameters.interval * 6) { [weak self] in
      guard let self else { return }
      let settled = phyRequests
      phyRequests = []
      let wanted = wantedPHY
      wantedPHY = nil
      var error: BluetoothError?
      if !isCarrying || ending != nil {
        error = GAPError.notConnected.error("the link has ended")
      } else if let wanted, phy != wanted {
        phy = wanted
        tellParameters()
      }
      for done in settled { done(error) }
    }
  }

  /// One side may send packets of this length; the other one answers with its own longest (Core 5.4, Vol 6, Part B,
  /// 5.1.9).
  func request(longestPacket octets: Int, by side: SimulatedLink) {
    let most = min(octets, central.radio.longestPacket, peripheral.radio.longestPacket)
    let isOfCentral = side === central
    scheduler.schedule(after: parameters.interval) { [weak self] in
      guard let self else { return }
      let before = longest
      longest = isOfCentral ? (most, max(most, before.peripheral)) : (max(most, before.central), most)
      if longest != before, isCarrying, ending == nil { tellParameters() }
    }
  }

  // MARK: - Channels

  /// One side opens a channel; the other one's listener is asked at the next connection event (Core 5.4, Vol 3, Part A,
  /// 4.22).
  func openChannel(
    to psm: UInt16, _ parameters: ChannelParameters, by side: SimulatedLink,
    _ done: @escaping (Result<any Channel, BluetoothError>) -> Void
  ) {
    let other = side === central ? peripheral : central
    scheduler.schedule(after: self.parameters.interval) { [weak self] in
      guard let self, isCarrying, ending == nil else {
        return done(.failure(GAPError.notConnected.error("the link has ended")))
      }
      guard let listener = other.onChannelRequest?(psm) else {
        return done(.failure(GAPError.connectionFailed.error("the device does not listen on PSM \(psm)")))
      }
      guard security.security.level >= listener.parameters.level else {
        return done(
          .failure(GAPError.connectionFailed.error("the device wants more security for PSM \(psm): pair with it")))
      }
      let ends = SimulatedChannel.ends(
        psm, on: self, opener: (side, parameters), listener: (other, listener.parameters))
      channels += [(ends.opener, side === central), (ends.listener, side !== central)]
      done(.success(ends.opener))
      listener.accept(ends.listener)
    }
  }

  /// A channel has ended.
  func forget(_ channel: SimulatedChannel) { channels.removeAll { $0.side === channel } }

  private func tellParameters() {
    central.tell(.parameters)
    peripheral.tell(.parameters)
  }

  /// True if a side accepts no more packets, since it has disconnected.
  func isLeaving(_ side: SimulatedLink) -> Bool { leaving === side }

  /// The number of packets that a side may queue before it has to stop.
  var room: Int { 2 * packetsPerEvent }

  /// The controller chooses within the range (Core 5.4, Vol 4, Part E, 7.8.12); the shortest makes the best simulation.
  /// - Parameters:
  ///   - subrate: 1 for a new link.
  ///   - shortest: the shortest interval.
  private static func chosen(
    from wanted: ConnectionParameters, subrate: Int = 1,
    shortest: Duration = ConnectionParameters.shortestOrdinaryInterval
  ) -> LinkParameters {
    LinkParameters(
      interval: min(max(wanted.interval.lowerBound, shortest), .seconds(4)), latency: wanted.latency,
      supervisionTimeout: min(max(wanted.supervisionTimeout, .milliseconds(100)), .seconds(32)), subrate: subrate,
      continuation: min(wanted.continuation, subrate - 1))
  }

  /// The side that lacks a wanted feature, unless every link supports the parameters.
  private func lacking(_ wanted: ConnectionParameters, _ side: SimulatedLink) -> BluetoothError? {
    lacking(\.subrating, "connection subrating", side, isWanted: wanted.subrate.lowerBound > 1)
      ?? lacking(
        \.shortIntervals, "shorter connection intervals", side,
        isWanted: wanted.interval.upperBound < ConnectionParameters.shortestOrdinaryInterval)
  }

  private func lacking(
    _ feature: KeyPath<RadioDescription, Bool>, _ name: String, _ side: SimulatedLink, isWanted: Bool
  ) -> BluetoothError? {
    guard isWanted else { return nil }
    guard side.radio[keyPath: feature] else {
      return GAPError.notSupported.error("the adapter does not have \(name)")
    }
    let other = side === central ? peripheral : central
    return other.radio[keyPath: feature] ? nil : GAPError.notSupported.error("\(side.peer) does not have \(name)")
  }

  /// One side requests other parameters. Centrals on this air agree; the change follows after six more connection
  /// events (Vol 6, Part B, 5.1.1), without the features that one side lacks.
  /// Of several requests until then the newest counts.
  func request(
    _ newest: ConnectionParameters, by side: SimulatedLink, _ done: @escaping (BluetoothError?) -> Void
  ) {
    let isUnderWay = wanted != nil
    wanted = newest
    let lacking = self.lacking(newest, side)
    requests.append { error in done(error ?? lacking) }
    guard !isUnderWay else { return }
    scheduler.schedule(after: parameters.interval * 6) { [weak self] in
      guard let self else { return }
      let settled = requests
      requests = []
      guard isCarrying, ending == nil, let wanted else {
        for done in settled { done(GAPError.notConnected.error("the link has ended")) }
        return
      }
      self.wanted = nil
      let canSubrate = central.radio.subrating && peripheral.radio.subrating
      let canShorten = central.radio.shortIntervals && peripheral.radio.shortIntervals
      let former = parameters
      parameters = Self.chosen(
        from: wanted, subrate: canSubrate ? min(max(1, wanted.subrate.lowerBound), 500) : 1,
        shortest: canShorten ? .microseconds(375) : ConnectionParameters.shortestOrdinaryInterval)
      events = ConnectionEvents(parameters, from: scheduler.now)
      alarm?.cancel()
      alarm = nil
      wake()
      if parameters != former { tellParameters() }
      for done in settled { done(nil) }
    }
  }

  /// Schedules a connection event if a packet waits for one. A quiet link causes no wake-up.
  func wake() {
    guard alarm == nil, isCarrying else { return }
    guard
      ending != nil || !central.queue.isEmpty && peripheral.isReading || !peripheral.queue.isEmpty && central.isReading
    else { return }
    alarm = scheduler.schedule(at: events.next(after: scheduler.now)) { [weak self] in self?.connectionEvent() }
  }

  private func connectionEvent() {
    alarm = nil
    guard isCarrying else { return }
    // Both sides send before either has received: an answer is sent in the next event.
    let down = central.dequeue(peripheral.isReading || ending != nil ? packetsPerEvent : 0)
    let up = peripheral.dequeue(central.isReading || ending != nil ? packetsPerEvent : 0)
    if !down.isEmpty || !up.isEmpty { events.carriedData(at: scheduler.now) }
    for packet in down { peripheral.deliver(packet) }
    for packet in up { central.deliver(packet) }
    central.tellWhetherWritable()
    peripheral.tellWhetherWritable()
    if let ending, leaving?.queue.isEmpty ?? true { return end(central: ending.central, peripheral: ending.peripheral) }
    wake()
  }

  private func end(central centralReason: BluetoothError, peripheral peripheralReason: BluetoothError) {
    isCarrying = false
    alarm?.cancel()
    alarm = nil
    let open = channels
    channels = []
    for channel in open {
      let reason = channel.isOfCentral ? centralReason : peripheralReason
      channel.side.end(GAPError.disconnected.error("the link ended: \(reason.message)"))
    }
    central.finish(centralReason)
    peripheral.finish(peripheralReason)
    onEnd?(ObjectIdentifier(self))
  }

  /// One side disconnects; both are notified after the connection event that carries its last accepted packet.
  /// - Parameter other: the reason reported to the other side.
  func terminate(
    by role: LinkRole, telling other: BluetoothError = HCIReason.remoteUserTerminatedConnection.error
  ) {
    if ending == nil { leaving = role == .central ? central : peripheral }
    let own = HCIReason.connectionTerminatedByLocalHost.error
    if role == .central {
      terminate(central: own, peripheral: other)
    } else {
      terminate(central: other, peripheral: own)
    }
  }

  /// Ends the link after the next connection event, with a reason for each side.
  func terminate(central: BluetoothError, peripheral: BluetoothError) {
    guard ending == nil else { return }
    ending = (central, peripheral)
    wake()
  }

  /// One side sent more than can be buffered.
  func overflow() {
    guard ending == nil else { return }
    let error = HCIReason.memoryCapacityExceeded.error
    ending = (error, error)
    wake()
  }

  /// One side is switched off: it ends at once, the other side is notified in the next connection event.
  func switchOff(_ side: SimulatedLink, _ reason: BluetoothError) {
    side.finish(reason)
    let other = HCIReason.remoteDeviceTerminatedConnectionDueToPowerOff.error
    ending = ending ?? (other, other)
    wake()
  }

  /// One side vanishes: it ends at once, the other side notices when the supervision timeout has passed.
  func vanish(_ side: SimulatedLink, _ reason: BluetoothError) {
    side.finish(reason)
    lose()
  }

  /// No more packets are received; both sides notice when the supervision timeout has passed.
  func lose() {
    guard isCarrying else { return }
    isCarrying = false
    alarm?.cancel()
    alarm = nil
    scheduler.schedule(after: parameters.supervisionTimeout) { [weak self] in
      let error = HCIReason.connectionTimeout.error
      self?.end(central: error, peripheral: error)
    }
  }
}
