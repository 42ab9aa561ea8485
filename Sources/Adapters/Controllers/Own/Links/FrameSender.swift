import Adapter
import Bluetooth
import HCI
import Host

/// The frames of all links on their way to the controller.
///
/// | Input                                | Then                                                                  |
/// |--------------------------------------|-----------------------------------------------------------------------|
/// | `send`, and there is room            | it leaves                                                             |
/// | `send`, and there is none            | reports that the transport keeps are taken, which may free room       |
/// | frames still wait                    | reports of transmitted packets are awaited, until `onRoom` was called |
/// |                                      | for each link whose frames waited                                     |
/// | `awaitTransmission`                  | the same, until the link has ended                                    |
/// | a report                             | frames leave; then `onRoom` for its links                             |
/// | no report for 40 s, but packets left | `onStall`                                                             |
///
/// While reports are not awaited no frame waits, and no sender waits for room: reports that are taken when a frame is
/// sent concern the queue alone. A frame may leave with a report about another link; its sender is notified of room
/// with the report about its own.
final class FrameSender {
  /// The outcome for a frame to be sent.
  enum Outcome {
    /// Too many frames of its link are queued.
    case refused
    /// Frames of its link wait, those of channels aside.
    case waiting
    case taken
  }

  /// A link may have room for more data. Not called from inside a sending call.
  var onRoom: ((ConnectionHandle) -> Void)?
  /// The device of a link acknowledges nothing.
  var onStall: ((ConnectionHandle) -> Void)?

  private let controller: ControllerHost
  private let context: AdapterContext
  private var queue = ACLQueue(length: 27, packets: 1)
  /// The links that end once their packets have left.
  private var leaving: Set<ConnectionHandle> = []
  /// The links with frames that waited, and senders not yet notified of room.
  private var blocked: Set<ConnectionHandle> = []
  /// True if reports of transmitted packets are delivered at once.
  private var isAwaiting = false
  /// Rings when the first link may have stalled.
  private var stall: (any ScheduledWork)?

  init(_ controller: ControllerHost, in context: AdapterContext) {
    self.controller = controller
    self.context = context
  }

  /// The controller is set up.
  func begin(_ controller: HostController) {
    queue = ACLQueue(length: controller.dataLength, packets: controller.dataPackets)
    (leaving, blocked, isAwaiting) = ([], [], false)
  }

  func linkBegan(_ handle: ConnectionHandle) { queue.begin(handle) }

  /// A link has ended. The reports that the transport keeps are taken first: a later link may reuse its handle.
  /// - Returns: the number of frames and packets that did not leave.
  func linkEnded(_ handle: ConnectionHandle) -> Int {
    let handles = takeCompletions()
    // Its sender receives nothing more, the others only once all of it has ended.
    if !handles.isEmpty { context.scheduler.execute { [weak self] in self?.proceed(handles) } }
    leaving.remove(handle)
    blocked.remove(handle)
    return queue.end(handle)
  }

  func send(_ frame: L2CAPFrame, on handle: ConnectionHandle, _ priority: ACLQueue.Priority) -> Outcome {
    guard queue.add(frame.octets(behind: ACLDataPacket.prefix), to: handle, priority) else { return .refused }
    guard pump(at: context.scheduler.now), queue.waiting(on: handle) > 0 else { return .taken }
    blocked.insert(handle)
    return queue.isWaiting(on: handle) ? .waiting : .taken
  }

  /// Octets in a packet of the controller.
  var dataLength: Int { queue.length }

  /// True if frames of a link, those of channels aside, wait for the controller's buffers.
  func isWaiting(on handle: ConnectionHandle) -> Bool { queue.isWaiting(on: handle) }

  /// True if frames of a link have not left the controller.
  func isUnsent(on handle: ConnectionHandle) -> Bool { queue.unsent(on: handle) > 0 }

  /// The number of channel pieces waiting for the controller's buffers.
  func waitingPieces(on handle: ConnectionHandle) -> Int { queue.waitingOfChannels(on: handle) }

  /// Drops the pieces of a channel that wait for the controller's buffers: a later channel may reuse its number at the
  /// device.
  func drop(_ remote: UInt16, on handle: ConnectionHandle) {
    guard queue.drop(remote, on: handle) else { return }
    context.scheduler.execute { [weak self] in self?.tellRoom(on: handle) }
  }

  /// A link is to end when its packets have left the controller.
  func awaitTransmission(on handle: ConnectionHandle) {
    leaving.insert(handle)
    awaitReports(true)
  }

  private func awaitReports(_ isAwaited: Bool) {
    if isAwaited != isAwaiting { isAwaiting = controller.awaitCompletions(isAwaited) }
  }

  /// Handles a report of transmitted packets.
  func completed(_ report: CompletedPackets) {
    credit(report, at: context.scheduler.now)
    proceed((0..<report.count).map { report[$0].handle })
  }

  /// Takes the reports that the transport keeps.
  /// - Returns: the links of each report; a link may occur several times.
  private func takeCompletions() -> [ConnectionHandle] {
    var handles: [ConnectionHandle] = []
    controller.takeCompletions { report in
      credit(report, at: context.scheduler.now)
      for place in 0..<report.count { handles.append(report[place].handle) }
    }
    return handles
  }

  /// There is room for links that have sent.
  private func proceed(_ handles: [ConnectionHandle]) {
    pump()
    for handle in handles { tellRoom(on: handle) }
    if leaving.isEmpty, blocked.isEmpty { awaitReports(false) }
  }

  private func tellRoom(on handle: ConnectionHandle) {
    onRoom?(handle)
    if queue.waiting(on: handle) == 0 { blocked.remove(handle) }
  }

  private func credit(_ report: CompletedPackets, at now: Instant) {
    for place in 0..<report.count {
      let (handle, packets) = report[place]
      let excess = queue.completed(packets, on: handle, at: now)
      guard excess > 0 else { continue }
      context.logger.debug(
        "the controller reports packets that were not sent",
        metadata: ["handle": "\(handle)", "packets": "\(excess)"])
    }
  }

  /// Sends as many packets as there is room for.
  func pump() { _ = pump(at: context.scheduler.now) }

  /// - Returns: true if frames still wait.
  private func pump(at now: Instant) -> Bool {
    var isFull = transmit(at: now)
    if isFull, !isAwaiting {
      controller.takeCompletions(queue.inFlight) { credit($0, at: now) }
      isFull = transmit(at: now)
      if isFull { awaitReports(true) }
    }
    watch()
    return isFull
  }

  /// - Returns: true if frames still wait.
  private func transmit(at now: Instant) -> Bool {
    while true {
      switch queue.next(at: now, mayGrow: controller.activities.awaitsLinks) {
      case .packet(let packet): controller.send(data: packet)
      case .full: return true
      case .idle: return false
      }
    }
  }

  private func watch() {
    guard stall == nil, let deadline = queue.deadline else { return }
    stall = context.scheduler.schedule(at: deadline) { [weak self] in
      guard let self else { return }
      stall = nil
      let handles = takeCompletions()
      if !handles.isEmpty { proceed(handles) }
      for handle in queue.stalled(at: context.scheduler.now) { onStall?(handle) }
      watch()
    }
  }
}
