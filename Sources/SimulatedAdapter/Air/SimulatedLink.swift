import Adapter
import Bluetooth
import Collections

/// One side of a connection on the air. Devices, phones and adapters all hold such a side.
final class SimulatedLink: Link {
  let id = LinkID.next()
  let peer: DeviceAddress
  let role: LinkRole
  let attempts: Int
  let maximumMTU: Int
  let security = LinkSecurity.none
  var onEvent: ((LinkEvent) -> Void)?
  /// Called before `.ended` is told, so that who holds the link has let go of it by then.
  var onEnd: (() -> Void)?

  /// What waits for the next connection event.
  fileprivate var queue = Deque<[UInt8]>()
  private var isFull = false
  fileprivate var pair: LinkPair?
  /// Measures the strength of the other side.
  private let signal: Signal

  /// What one side needs for its part of a link.
  struct End {
    var address: DeviceAddress
    var maximumMTU: Int
    var signal: Signal
  }

  fileprivate init(role: LinkRole, own: End, other: End, attempts: Int) {
    peer = other.address
    self.role = role
    self.attempts = attempts
    maximumMTU = own.maximumMTU
    signal = other.signal
  }

  /// False from the moment `.ended` was told.
  var isOpen: Bool { pair != nil }

  var parameters: LinkParameters? { pair?.parameters }

  var isWritable: Bool { queue.count < (pair?.room ?? 0) }

  func send(_ packet: [UInt8]) {
    guard let pair else { return }
    guard queue.count < LinkPair.limit else { return pair.overflow() }
    queue.append(packet)
    isFull = isFull || queue.count >= pair.room
    pair.wake()
  }

  func disconnect() { pair?.terminate(by: role) }

  func readRSSI(_ done: @escaping (Result<Int, BluetoothError>) -> Void) {
    guard let pair else { return done(.failure(GAPError.notConnected.error("The link is no more."))) }
    // The controller tells it from the next connection event.
    pair.scheduler.schedule(after: pair.parameters.interval) { [self] in
      guard isOpen else { return done(.failure(GAPError.disconnected.error("The link ended meanwhile."))) }
      done(.success(signal.next()))
    }
  }

  /// Ends this side, once; nothing is told afterwards.
  func finish(_ error: BluetoothError) {
    guard pair != nil else { return }
    pair = nil
    queue.removeAll()
    let tell = onEvent
    onEvent = nil
    onEnd?()
    onEnd = nil
    tell?(.ended(error))
  }

  fileprivate func deliver(_ packet: [UInt8]) { onEvent?(.received(packet)) }

  fileprivate func take(_ count: Int) -> [[UInt8]] {
    let packets = Array(queue.prefix(count))
    queue.removeFirst(packets.count)
    return packets
  }

  fileprivate func tellWhetherWritable() {
    guard isFull, isWritable else { return }
    isFull = false
    onEvent?(.writable)
  }
}

/// Both sides of a connection and the connection events at which packets pass between them.
final class LinkPair {
  let scheduler: any Scheduler
  let parameters: LinkParameters
  let central: SimulatedLink
  let peripheral: SimulatedLink

  /// How many packets each side sends in one connection event.
  private let packetsPerEvent: Int
  /// The instant from which connection events are counted.
  private let anchor: Instant
  private var alarm: (any ScheduledWork)?
  /// Who hung up and what each side is told about it, once the next connection event has passed.
  private var ending: (central: BluetoothError, peripheral: BluetoothError)?
  /// False when the sides do not hear each other any more.
  private var isCarrying = true

  /// A side that ignores `isWritable` until this many packets wait loses its link.
  static let limit = 4096

  init(
    _ centralEnd: SimulatedLink.End, _ peripheralEnd: SimulatedLink.End, attempts: Int, _ wanted: ConnectionParameters,
    packetsPerEvent: Int, scheduler: any Scheduler
  ) {
    self.scheduler = scheduler
    self.packetsPerEvent = packetsPerEvent
    // The controller chooses within the range (Core 5.4, Vol 4, Part E, 7.8.12); the quickest makes the best simulation.
    parameters = LinkParameters(
      interval: min(max(wanted.interval.lowerBound, .microseconds(7500)), .seconds(4)), latency: wanted.latency,
      supervisionTimeout: min(max(wanted.supervisionTimeout, .milliseconds(100)), .seconds(32)))
    anchor = scheduler.now
    central = SimulatedLink(role: .central, own: centralEnd, other: peripheralEnd, attempts: attempts)
    peripheral = SimulatedLink(role: .peripheral, own: peripheralEnd, other: centralEnd, attempts: 1)
    central.pair = self
    peripheral.pair = self
  }

  /// How many packets a side may have waiting before it is told to stop.
  var room: Int { 2 * packetsPerEvent }

  /// Sees to it that there is a connection event if something waits for one. A quiet link wakes nobody.
  func wake() {
    guard alarm == nil, isCarrying else { return }
    guard ending != nil || !central.queue.isEmpty || !peripheral.queue.isEmpty else { return }
    let interval = parameters.interval.wholeNanoseconds
    let next = (anchor.duration(to: scheduler.now).wholeNanoseconds / interval + 1) * interval
    alarm = scheduler.schedule(at: anchor.advanced(by: .nanoseconds(next))) { [self] in connectionEvent() }
  }

  private func connectionEvent() {
    alarm = nil
    guard isCarrying else { return }
    // Both sides speak before either has heard the other: an answer goes out in the next event.
    let down = central.take(packetsPerEvent)
    let up = peripheral.take(packetsPerEvent)
    for packet in down { peripheral.deliver(packet) }
    for packet in up { central.deliver(packet) }
    central.tellWhetherWritable()
    peripheral.tellWhetherWritable()
    if let ending { return end(central: ending.central, peripheral: ending.peripheral) }
    wake()
  }

  private func end(central centralReason: BluetoothError, peripheral peripheralReason: BluetoothError) {
    isCarrying = false
    alarm?.cancel()
    alarm = nil
    central.finish(centralReason)
    peripheral.finish(peripheralReason)
  }

  /// One side hangs up; both hear of it after the next connection event, which still carries what fits into it.
  func terminate(by role: LinkRole) {
    guard ending == nil else { return }
    let own = HCIReason.connectionTerminatedByLocalHost.error
    let other = HCIReason.remoteUserTerminatedConnection.error
    ending = role == .central ? (own, other) : (other, own)
    wake()
  }

  /// One side sent more than can be held.
  func overflow() {
    guard ending == nil else { return }
    let error = HCIReason.memoryCapacityExceeded.error
    ending = (error, error)
    wake()
  }

  /// One side is switched off: it ends at once, the other side is told in the next connection event.
  func switchOff(_ side: SimulatedLink, _ reason: BluetoothError) {
    side.finish(reason)
    let other = HCIReason.remoteDeviceTerminatedConnectionDueToPowerOff.error
    ending = ending ?? (other, other)
    wake()
  }

  /// One side is gone without a word: it ends at once, the other side notices when the supervision timeout has passed.
  func vanish(_ side: SimulatedLink, _ reason: BluetoothError) {
    side.finish(reason)
    lose()
  }

  /// Nothing comes through any more; both sides notice when the supervision timeout has passed.
  func lose() {
    guard isCarrying else { return }
    isCarrying = false
    alarm?.cancel()
    alarm = nil
    scheduler.schedule(after: parameters.supervisionTimeout) { [self] in
      let error = HCIReason.connectionTimeout.error
      end(central: error, peripheral: error)
    }
  }
}

extension SimulatedLink {
  /// This side is switched off.
  func switchOff(_ reason: BluetoothError) { pair?.switchOff(self, reason) }
  /// This side is gone without a word.
  func vanish(_ reason: BluetoothError) { pair?.vanish(self, reason) }
  /// Nothing comes through any more.
  func lose() { pair?.lose() }
}
