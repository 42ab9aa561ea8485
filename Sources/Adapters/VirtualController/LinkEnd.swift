import Adapter
import Bluetooth
import DequeModule
import HCI

/// One controller's end of a link: its procedures, and the packets that it is to send.
package final class LinkEnd {
  package let controller: VirtualController
  package private(set) var handle: ConnectionHandle = 0
  /// Its address on this link, and the other side's.
  let own: HCIAddress
  let peer: HCIAddress
  private(set) var layer: LinkProcedures
  private unowned let link: VirtualLink

  /// True once it is over, which its host may not know yet.
  package private(set) var isOver = false
  /// True once its host is to know of the link.
  private(set) var isReported = false
  /// Called after the report of the link to the host.
  var onReported: (() -> Void)?

  /// A packet on the air until it is acknowledged.
  private enum Transmission {
    case control(ControlPDU)
    /// So many octets of the first data packet.
    case data(octets: Int)
  }

  private var control: Deque<ControlPDU> = []
  private var data: Deque<ACLDataPacket> = []
  /// Octets of the first data packet that are acknowledged.
  private var progress = 0
  private var current: Transmission?
  /// True if the current packet has arrived, but not its acknowledgement.
  private var hasArrived = false
  /// Control packets from the next connection event on.
  private var later: [ControlPDU] = []
  /// Packets that have left, not reported to the host yet.
  private var completed: UInt16 = 0
  /// Received packets that the host has not read yet.
  var unread = 0
  /// The time of the last packet from the other side; nil if there was none.
  var lastHeard: Instant?
  /// Set by our own wish to end the link.
  private var isTerminating = false
  /// The reason to send behind the first data packets, and the number of those.
  private var farewell: (reason: HCIStatus, behind: Int)?
  private var alarm: (any ScheduledWork)?

  /// The way in which it follows the other side's trains; nil if it does not.
  var followed: LESetPeriodicAdvertisingSyncTransferParameters?

  /// The time for an answer of the other side (Core 5.4, Vol 6, Part B, 5.2).
  private static let procedureTimeout = Duration.seconds(40)

  init(
    _ role: LinkRole, of controller: VirtualController, own: HCIAddress, peer: HCIAddress, _ times: LinkTimes,
    on link: VirtualLink
  ) {
    (self.controller, self.own, self.peer, self.link) = (controller, own, peer, link)
    layer = LinkProcedures(role, 0, controller.model, times)
  }

  private var air: Air { controller.air }

  // MARK: - Beginning and end

  /// The controller has the link from now on.
  func join() {
    handle = controller.add(self)
    layer = LinkProcedures(
      layer.role, handle, controller.model, layer.times, on: link.phy, preferred: controller.preferredPHYs,
      asksHost: controller.eventMask & 1 << 5 != 0, features: controller.settings.features,
      acceptable: controller.settings.acceptable)
  }

  /// The other side does not have it.
  func forget() {
    guard !isOver else { return }
    isOver = true
    alarm?.cancel()
    control.removeAll()
    data.removeAll()
    current = nil
    if !isReported { controller.remove(self) }
    link.endIsOver()
  }

  /// The host learns of the link.
  func report() {
    guard !isReported, !isOver else { return }
    isReported = true
    let (role, times) = (UInt8(layer.role == .central ? 0 : 1), layer.times)
    let isEnhanced = controller.eventMask & 1 << 9 != 0
    controller.report(
      isEnhanced
        ? .leEnhancedConnectionComplete(
          LEEnhancedConnectionComplete {
            ($0.handle, $0.role, $0.peer) = (handle, role, peer)
            ($0.interval, $0.latency, $0.supervisionTimeout) = (times.wholeInterval, times.latency, times.timeout)
          })
        : .leConnectionComplete(
          LEConnectionComplete {
            ($0.handle, $0.role, $0.peer) = (handle, role, peer)
            ($0.interval, $0.latency, $0.supervisionTimeout) = (times.wholeInterval, times.latency, times.timeout)
          }))
    onReported?()
    onReported = nil
  }

  /// The link is over for this side.
  func end(_ reason: HCIErrorCode) {
    guard !isOver else { return }
    report()
    forget()
    controller.report(
      .disconnectionComplete(
        DisconnectionComplete {
          ($0.handle, $0.reason) = (handle, HCIStatus(isTerminating ? .terminatedByLocalHost : reason))
        }
      )
    ) { [controller, self] in controller.remove(self) }
  }

  /// The host ends the link: data that it has sent before still leave.
  func disconnect(_ reason: HCIStatus) {
    guard !isTerminating else { return }
    isTerminating = true
    if data.isEmpty || layer.isPaused { send(.terminate(reason)) } else { farewell = (reason, data.count) }
    // The other side need not answer (5.1.6).
    _ = air.scheduler.schedule(after: layer.times.supervision) { [weak self] in self?.end(.terminatedByLocalHost) }
  }

  // MARK: - Procedures

  /// The signal strength of the other side's packets, in dBm.
  var rssi: Int8 { Int8(clamping: link.other(of: self).controller.linkSignal()) }

  /// The host wants a procedure.
  func begin(_ procedure: Procedure) { perform(layer.begin(procedure, at: link.upcoming)) }
  func reply(_ times: LinkTimes) throws(Refusal) { perform(try layer.replied(times, at: link.upcoming)) }
  func refuse(_ reason: HCIErrorCode) throws(Refusal) { perform(try layer.refused(reason, at: link.upcoming)) }
  func giveKey(_ key: [UInt8]?) throws(Refusal) { perform(try layer.keyed(key, at: link.upcoming)) }

  /// A connection event begins.
  /// - Returns: the change of the link that it brings.
  func begins(_ event: UInt16) -> LinkChange? {
    control += later
    later = []
    guard !isOver, let step = layer.begins(event) else { return nil }
    perform(step.actions)
    return step.change
  }

  /// An event carried data.
  func hadData(at event: UInt16) { layer.hadData(at: event) }

  private func perform(_ actions: [LinkProcedures.Action]) {
    for action in actions where !isOver {
      switch action {
      case .send(let packet): send(packet)
      case .report(let event): controller.report(event)
      case .follow(let train, let serviceData):
        guard let followed else { continue }
        controller.activities.syncs.transferred(train, serviceData: serviceData, over: handle, followed)
      case .end(let reason): end(reason)
      case .terminate(let reason): disconnect(HCIStatus(reason))
      }
    }
    watch()
  }

  /// The other side has some time to answer.
  private func watch() {
    guard layer.isRunning, !isOver else {
      alarm?.cancel()
      return alarm = nil
    }
    guard alarm == nil else { return }
    alarm = air.scheduler.schedule(after: Self.procedureTimeout) { [weak self] in self?.end(.lmpResponseTimeout) }
  }

  func send(_ packet: ControlPDU) {
    later.append(packet)
    link.wake()
  }

  // MARK: - Packets

  /// A packet of the host.
  func send(_ packet: ACLDataPacket) {
    data.append(packet)
    link.wake()
  }

  /// The packets of the host that are not reported to it yet.
  var unfinished: Int { isOver ? 0 : data.count + Int(completed) }

  /// Data do not overtake control packets.
  private var sendsData: Bool {
    !data.isEmpty && later.isEmpty && !layer.isPaused && (!isTerminating || farewell != nil)
  }
  /// The packet that it sends next; nil for an empty one.
  private var next: Transmission? {
    if let current { return current }
    if let packet = control.first { return .control(packet) }
    guard sendsData else { return nil }
    return .data(octets: min(data[0].data.count - progress, Int(layer.lengths.tx)))
  }

  /// True if this connection event can carry more of it.
  var hasMore: Bool { !isOver && next != nil }
  /// True if it listens at each connection event.
  var isBusy: Bool { hasMore || !later.isEmpty || layer.isBusy }

  /// The octets of the packet that it sends next; 0 for an empty one.
  var nextOctets: Int {
    switch next {
    case .control: Self.longestControl
    case .data(let octets): octets
    case nil: 0
    }
  }

  private static let longestControl = 27

  /// Its next packet arrives at the other side.
  /// - Returns: false if there is none, or no room for it.
  func deliver(to other: LinkEnd) -> Bool {
    guard !isOver, let packet = next else { return false }
    if current == nil, case .control = packet { control.removeFirst() }
    current = packet
    guard !hasArrived else { return true }
    switch packet {
    case .control(let packet):
      hasArrived = true
      other.perform(other.layer.receive(packet, at: link.event))
    case .data(let octets):
      let isLast = progress + octets >= data[0].data.count
      hasArrived = !isLast || other.controller.hasHostRoom
      if isLast, hasArrived { other.receive(data[0], isDamaged: controller.damages(data[0])) }
    }
    return hasArrived
  }

  /// The acknowledgement of the current packet arrives.
  func acknowledge() {
    guard hasArrived, let packet = current else { return }
    (current, hasArrived) = (nil, false)
    switch packet {
    case .control(.terminate(let reason)): end(reason.code ?? .remoteUserTerminatedConnection)
    case .control(let packet): perform(layer.acknowledged(packet, at: link.event))
    case .data(let octets):
      progress += octets
      guard progress >= data[0].data.count else { return }
      data.removeFirst()
      progress = 0
      completed += 1
      sayFarewell()
    }
  }

  /// A data packet has left.
  private func sayFarewell() {
    farewell?.behind -= 1
    guard let (reason, left) = farewell, left == 0 else { return }
    farewell = nil
    send(.terminate(reason))
  }

  private func receive(_ packet: ACLDataPacket, isDamaged: Bool) {
    unread += 1
    var packet = packet
    packet.handle = handle
    controller.deliver(packet, isDamaged: isDamaged)
  }

  /// Reports the packets that have left.
  func reportCompleted() {
    guard completed > 0, !isOver else { return }
    controller.reportCompleted(completed, on: handle)
    completed = 0
  }
}
