import Adapter
import Bluetooth
import DequeModule
import HCI

/// A controller on an `Air`: it executes the commands of its host, one at a time, and has links.
///
/// | State     | Input                      | Then                                                             |
/// |-----------|----------------------------|------------------------------------------------------------------|
/// | any       | a command                  | executed after `answerTime`, in order, and answered              |
/// | any       | Reset, or the host leaves  | everything ends; the other ends of links notice by their timeout |
/// | plugged   | `isPlugged` is false       | the transport ends; nothing is sent or received                  |
/// | answering | `isSilent` is true         | the same without the end: nothing is answered until it is false  |
/// | answering | `fail`                     | the same, with Hardware Error; it cannot be opened until `repair` |
package final class VirtualController {
  package let model: ControllerModel
  let air: Air
  /// The host's end of the transport.
  weak var host: VirtualTransport?

  private(set) lazy var activities = AirActivities(of: self)
  var eventMask: UInt64 = 0x1F
  /// The PHYs that the host prefers for links, as a mask: of sending and of receiving.
  var preferredPHYs: (tx: UInt8, rx: UInt8) = (7, 7)
  lazy var settings = HostSettings(model)
  /// Its ends of links.
  private(set) var ends: [ConnectionHandle: LinkEnd] = [:]

  /// The pending commands, and their arrival times.
  private var pending: Deque<(packet: CommandPacket, since: Instant)> = []
  /// Counts the resets: earlier operations do not count.
  private(set) var generation = 0
  /// The room of the host in packets, with flow control; nil without.
  var hostRoom: Int?
  /// Reports on their way to the host, and the time of the last.
  private var reports = 0
  private var lastReport = Instant.zero
  /// Reports that wait for room at the host, or while it is silent.
  private var held: Deque<(event: HCIEvent, done: () -> Void)> = []

  package init(_ model: ControllerModel, on air: Air) {
    self.model = model
    self.air = air
  }

  /// False while it is removed.
  package var isPlugged = true {
    didSet {
      guard isPlugged != oldValue else { return }
      host?.end("it was unplugged")
      reset()
    }
  }

  /// True if it answers nothing.
  package var isSilent = false { didSet { if isSilent != oldValue { answeringChanged() } } }
  /// True while it is out of order.
  private(set) var isBroken = false { didSet { if isBroken != oldValue { answeringChanged() } } }

  private func answeringChanged() {
    air.presenceChanged(of: self)
    flush()
    proceed()
  }

  /// Hardware Error (Core 5.4, Vol 4, Part E, 7.7.16), with a code of its own.
  private static let hardwareError = EventPacket(code: 0x10, parameters: [0])

  /// Puts it out of order: it reports a hardware error, and answers nothing.
  package func fail() {
    guard !isBroken else { return }
    let host = host
    air.scheduler.execute { host?.deliver(Self.hardwareError) }
    isBroken = true
  }

  /// Puts it in order again.
  package func repair() { isBroken = false }

  /// False while no packet on the air reaches it or leaves it; its host does not notice.
  package var isInReach = true {
    didSet { if isInReach != oldValue { air.presenceChanged(of: self) } }
  }

  /// Returns the signal strength of its next advertisement at a listener, in dBm; nil if it is lost.
  package var signal: () -> Int? = { -60 }
  /// Returns false to miss a connection request.
  package var receivesRequest: () -> Bool = { true }
  /// Returns the time from an advertisement to the connection request that it answers.
  package var requestDelay: () -> Duration = { .zero }
  /// Returns the signal strength of its next packet on a link, in dBm.
  package var linkSignal: () -> Int = { -60 }
  /// Returns true for a packet of its host that reaches the other host damaged.
  package var damages: (ACLDataPacket) -> Bool = { _ in false }
  /// The interval of its advertisements if it is longer than hosts can set.
  package var longInterval: Duration?
  /// Returns false for a sender whose advertisements do not concern it; nil is a device that only advertises.
  package var receivesFrom: (VirtualController?) -> Bool = { _ in true }

  /// False for one without power, or out of order.
  private var isWorking: Bool { isPlugged && !isSilent && !isBroken }
  var isOnAir: Bool { isWorking && isInReach }
  /// True if it receives advertisements.
  var isListening: Bool { activities.isListening && isOnAir }

  /// True if it receives this advertisement.
  func receives(_ broadcast: Broadcast) -> Bool {
    broadcast.sender !== self && isOnAir && activities.listens(to: broadcast.advertisement)
      && receivesFrom(broadcast.sender)
  }

  // MARK: - Its host

  /// A packet of the host that is not data.
  func receive(_ packet: HCIPacket) {
    switch packet {
    case .command(let packet) where packet.opcode == HostNumberOfCompletedPackets.opcode: freed(packet)
    case .command(let packet): take(packet)
    case .acl, .event: air.onFault?("a host sends an event")
    }
  }

  /// Ends everything, as after Reset.
  func reset() {
    generation += 1
    pending.removeAll()
    held.removeAll()
    (reports, lastReport) = (0, .zero)
    hostRoom = nil
    activities.reset()
    (eventMask, preferredPHYs) = (0x1F, (7, 7))
    settings = HostSettings(model)
    for end in allEnds { end.forget() }
    ends = [:]
    air.presenceChanged(of: self)
  }

  private func take(_ packet: CommandPacket) {
    let now = air.scheduler.now
    // A host that has waited for two seconds may check that the controller responds.
    if let first = pending.first, first.since.duration(to: now) < .seconds(2) {
      let (sent, executed) = (packet.opcode.rawValue, first.packet.opcode.rawValue)
      air.onFault?("command \(sent) is sent while \(executed) is executed")
    }
    pending.append((packet, now))
    if pending.count == 1 { proceed() }
  }

  private func proceed() {
    guard !pending.isEmpty, isWorking else { return }
    let now = generation
    air.scheduler.schedule(after: air.time(in: model.answerTime)) { [weak self] in
      guard let self, generation == now, isWorking, let packet = pending.popFirst()?.packet else { return }
      execute(packet)
      proceed()
    }
  }

  func tell(_ event: HCIEvent) {
    let packet = event.packet
    if isWorking, isUnmasked(packet) { host?.deliver(packet) }
  }

  /// True if the host wants this event (Core 5.4, Vol 4, Part E, 7.8.1).
  private func isUnmasked(_ packet: EventPacket) -> Bool {
    guard packet.code == HCIEvent.leMeta, let subevent = packet.parameters.first else { return true }
    return eventMask & 1 << (UInt64(subevent) &- 1) != 0
  }

  func complete(_ opcode: Opcode, _ status: HCIErrorCode = .success, _ values: [UInt8] = []) {
    tell(
      .commandComplete(
        CommandComplete {
          $0.opcode = opcode
          $0.returnParameters = [status.rawValue] + values
        }))
  }

  func begin(_ opcode: Opcode, _ status: HCIErrorCode = .success) {
    tell(
      .commandStatus(
        CommandStatus {
          $0.status = HCIStatus(status)
          $0.opcode = opcode
        }))
  }

  // MARK: - Reports of links

  /// Reports an event of a link to the host, in order, and late if that is its way.
  /// - Parameter done: called when the host has it.
  func report(_ event: HCIEvent, _ done: @escaping () -> Void = {}) {
    let (now, time) = (generation, air.scheduler.now.advanced(by: air.time(in: model.eventDelay)))
    lastReport = max(time, lastReport)
    guard reports > 0 || lastReport > air.scheduler.now else {
      return deliver(event, done)
    }
    reports += 1
    _ = air.scheduler.schedule(at: lastReport) { [weak self] in
      guard let self, generation == now else { return }
      reports -= 1
      deliver(event, done)
    }
  }

  /// Like Zephyr: events of links wait while the host has no room for data.
  private func deliver(_ event: HCIEvent, _ done: @escaping () -> Void) {
    held.append((event, done))
    flush()
  }

  private func flush() {
    while isWorking, hasHostRoom, let (event, done) = held.popFirst() {
      tell(event)
      done()
    }
  }

  // MARK: - Data

  /// Packets of a link have left. The report waits in the transport if the host wants it to.
  func reportCompleted(_ packets: UInt16, on handle: ConnectionHandle) {
    if model.eventDelay.upperBound == .zero, isWorking, let host, host.withhold(packets, on: handle) { return }
    report(.numberOfCompletedPackets(NumberOfCompletedPackets(packets, on: handle)))
  }

  /// True if the host has room for another packet.
  var hasHostRoom: Bool { hostRoom.map { room in ends.values.reduce(0) { $0 + $1.unread } < room } ?? true }

  /// The host has read packets.
  private func freed(_ packet: CommandPacket) {
    guard let command = try? HostNumberOfCompletedPackets(decoding: packet) else {
      air.onFault?("Host Number Of Completed Packets cannot be decoded")
      return
    }
    for link in command.links {
      guard let end = ends[link.handle] else { continue }
      end.unread -= Int(link.packets)
      if end.unread < 0 { air.onFault?("a host has read \(-end.unread) packets too many") }
    }
    flush()
  }

  func deliver(_ packet: ACLDataPacket, isDamaged: Bool) {
    if isWorking { host?.deliver(packet, isDamaged: isDamaged) }
  }

  /// Data of the host.
  func send(_ packet: ACLDataPacket) {
    if packet.data.count > model.dataLength {
      air.onFault?("a packet of \(packet.data.count) octets for \(model.dataLength)")
    }
    // The host may not know yet that a link has ended.
    guard let end = ends[packet.handle], !end.isOver else { return }
    end.send(packet)
    let waiting = ends.values.reduce(0) { $0 + $1.unfinished }
    if waiting > Int(model.dataPackets) { air.onFault?("\(waiting) packets for \(model.dataPackets) buffers") }
  }

  // MARK: - Links

  /// Adds an end of a link, with the lowest number that no other has.
  func add(_ end: LinkEnd) -> ConnectionHandle {
    let handle = (1...).first { ends[$0] == nil } ?? 0
    ends[handle] = end
    return handle
  }

  func remove(_ end: LinkEnd) {
    if ends[end.handle] === end { ends[end.handle] = nil }
    flush()
  }

  /// Ends its links with this reason, without its host.
  package func disconnect(_ reason: HCIStatus) {
    for end in allEnds where !end.isOver { end.disconnect(reason) }
  }

  /// Its ends of links, in order.
  private var allEnds: [LinkEnd] { ends.sorted { $0.key < $1.key }.map(\.value) }

  var hasRoomForLink: Bool { ends.count < model.links }

  /// True if it accepts a connection request.
  func accepts(_ request: ConnectionRequest, to broadcast: Broadcast) -> Bool {
    hasRoomForLink && receivesRequest()
      && activities.advertising.accepts(request.own, to: broadcast, by: activities.acceptList)
  }
}
