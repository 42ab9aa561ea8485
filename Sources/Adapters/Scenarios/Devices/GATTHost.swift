import ATT
import Adapter
import Bluetooth
import GATT

/// Runs GATT on one side of a link: passes packets and time to the machine and executes its actions.
package final class GATTHost {
  /// The database of this side; it outlasts links.
  var database = AttributeDatabase()
  /// Receives the machine's actions other than sending.
  var onAction: ((GATTAction) -> Void)?
  /// Replaces a packet that is to be sent; nil drops it. Without it all packets are sent as they are.
  var onSend: (([UInt8]) -> [UInt8]?)?
  /// The reception of a packet from the peer; without it at once.
  var onReceive: (([UInt8]) -> Reception)?
  /// The first octet of the packet that is being processed.
  private(set) var opcode: ATTOpcode?
  /// The link has room again.
  var onWritable: (() -> Void)?
  /// The protection of the link has changed.
  var onSecurity: (() -> Void)?
  /// The link has ended, and with it everything pending.
  var onEnded: (() -> Void)?

  /// True if this side has a key for the link, which decides between two errors.
  package var isBonded: () -> Bool = { false }
  /// True if a procedure refused for lack of security waits for `resume`.
  var asksForSecurity = false

  private let scheduler: any Scheduler
  package private(set) var link: (any Link)?
  private var connection: GATTConnection?
  private var actions: [GATTAction] = []
  private var isExecuting = false
  private var alarm: (time: Instant, work: any ScheduledWork)?
  /// The time at which the last waiting packet is passed on: none overtakes another.
  private var lastArrival = Instant.zero

  /// The reception of a packet.
  package struct Reception {
    /// The delay.
    package var delay = Duration.zero
    /// The error that answers it instead of the machine.
    package var error: ATTErrorCode?
  }

  package init(scheduler: any Scheduler) { self.scheduler = scheduler }

  /// Starts afresh on this link.
  /// - Parameter maximumMTU: the largest ATT MTU of this side.
  package func attach(_ link: any Link, maximumMTU: Int = 517) {
    self.link = link
    lastArrival = .zero
    connection = GATTConnection(maximumMTU: min(link.maximumMTU, maximumMTU), security: security(of: link))
    connection?.asksForSecurity = asksForSecurity
    link.onEvent = { [weak self, weak link] event in
      guard let self, let link else { return }
      handle(event, link)
    }
  }

  /// Starts a procedure of the client.
  package func start(_ procedure: GATTProcedure, id: ProcedureID) {
    connection?.start(procedure, id: id, now: scheduler.now, actions: &actions)
    execute()
  }

  /// Continues a procedure that was refused for lack of security.
  func resume(_ id: ProcedureID, isSecured: Bool) {
    connection?.resume(id, isSecured: isSecured, now: scheduler.now, actions: &actions)
    execute()
  }

  private func security(of link: any Link) -> SecurityState {
    SecurityState(
      level: UInt8(clamping: link.security.level), keySize: UInt8(clamping: link.security.keySize),
      isBonded: isBonded())
  }

  /// The peer's subscription to a value.
  func subscription(of handle: UInt16) -> ClientConfiguration { connection?.subscription(of: handle) ?? [] }

  /// Indicates to the peer, if it has subscribed, that attributes were added or removed.
  func databaseChanged(_ range: ClosedRange<UInt16>) {
    connection?.databaseChanged(range, now: scheduler.now, database: database, actions: &actions)
    execute()
  }

  /// The settings of the peer as our client; nil without a link.
  var clientState: GATTClientState? { connection?.clientState(database: &database) }

  /// Restores the settings of the peer from an earlier link, and reports the changes since.
  func restore(_ state: GATTClientState) {
    connection?.restore(state, now: scheduler.now, database: &database, actions: &actions)
    execute()
  }

  /// The ATT MTU of the link; nil without a link.
  package var mtu: Int? { connection?.mtu }

  /// Notifies a value.
  package func notify(_ value: [UInt8], of handle: UInt16) {
    _ = connection?.notify(value, of: handle, actions: &actions)
    execute()
  }

  /// Indicates a value.
  func indicate(_ value: [UInt8], of handle: UInt16, id: IndicationID) {
    connection?.indicate(value, of: handle, id: id, now: scheduler.now, actions: &actions)
    execute()
  }

  /// Answers a read with the value, from the requested offset on.
  package func answer(_ question: ReadQuestion, _ value: [UInt8]) {
    let offset = Int(question.offset)
    connection?.answerRead(
      question.token, offset <= value.count ? .success(Array(value.dropFirst(offset))) : .failure(.invalidOffset),
      now: scheduler.now, database: &database, actions: &actions)
    execute()
  }

  private func handle(_ event: LinkEvent, _ link: any Link) {
    switch event {
    case .received(let packet):
      let reception = onReceive?(packet) ?? Reception()
      let arrival = max(scheduler.now.advanced(by: reception.delay), lastArrival)
      guard arrival > scheduler.now else { return receive(packet, reception.error) }
      lastArrival = arrival
      _ = scheduler.schedule(at: arrival) { [weak self, weak link] in
        guard let self, link === self.link else { return }
        receive(packet, reception.error)
      }
    case .writable: onWritable?()
    case .ended(let reason):
      connection?.linkEnded(reason, actions: &actions)
      execute()
      connection = nil
      self.link = nil
      alarm?.work.cancel()
      alarm = nil
      onEnded?()
    case .securityChanged:
      connection?.securityChanged(security(of: link))
      onSecurity?()
    case .lost, .parametersChanged, .channel: break
    }
  }

  private func receive(_ packet: [UInt8], _ error: ATTErrorCode?) {
    opcode = packet.first.map(ATTOpcode.init)
    if let error, let opcode, packet.count >= 3 {
      let handle = UInt16(packet[1]) | UInt16(packet[2]) << 8
      return send(ATTPDU.errorResponse(request: opcode, handle: handle, error: error).encoded)
    }
    connection?.received(packet, now: scheduler.now, database: &database, actions: &actions)
    execute()
  }

  private func send(_ packet: [UInt8]) {
    if let packet = onSend.map({ $0(packet) }) ?? packet { link?.send(packet) }
  }

  private func execute() {
    // Nested calls append to the same list.
    guard !isExecuting else { return }
    isExecuting = true
    var next = 0
    while next < actions.count {
      let action = actions[next]
      next += 1
      switch action {
      // The fixed bearer is the only one.
      case .send(_, let packet): send(packet)
      case .bearerEnded: link?.disconnect()
      default: onAction?(action)
      }
    }
    actions.removeAll(keepingCapacity: true)
    isExecuting = false
    setAlarm()
  }

  private func setAlarm() {
    let deadline = connection?.deadline
    guard deadline != alarm?.time else { return }
    alarm?.work.cancel()
    alarm = deadline.map { time in
      let work = scheduler.schedule(at: time) { [weak self] in
        guard let self else { return }
        alarm = nil
        connection?.timePassed(now: scheduler.now, actions: &actions)
        execute()
      }
      return (time, work)
    }
  }
}
