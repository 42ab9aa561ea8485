import Bluetooth
import HCI
import Testing

@testable import VirtualController

/// Both ends of a link that a test connects, and what they report.
struct ProcedurePair {
  static let times = LinkTimes(interval: 24, latency: 0, timeout: 400)

  var ends: [LinkRole: LinkProcedures] = [:]
  var reports: [LinkRole: [HCIEvent]] = [.central: [], .peripheral: []]
  var over: [LinkRole: HCIErrorCode] = [:]
  /// The packets that have not arrived yet.
  private var waiting: [(to: LinkRole, packet: ControlPDU)] = []

  /// - Parameters:
  ///   - change: changes both controllers.
  ///   - features: those of both controllers and their hosts; nil without features of the hosts.
  ///   - acceptable: what the peripheral may request.
  init(
    _ change: (inout ControllerModel) -> Void = { _ in }, features: ControllerFeatures? = nil,
    acceptable: AcceptableRates = AcceptableRates()
  ) {
    var model = ControllerModel(address: 1)
    change(&model)
    for role in [LinkRole.central, .peripheral] {
      ends[role] = LinkProcedures(role, 1, model, Self.times, features: features, acceptable: acceptable)
    }
  }

  /// The host of one end wants a procedure; nothing arrives yet.
  mutating func begin(_ role: LinkRole, _ procedure: Procedure, at event: UInt16 = 0) {
    perform(ends[role]?.begin(procedure, at: event) ?? [], role)
  }

  mutating func answerKey(_ key: [UInt8]?) throws {
    perform(try #require(try ends[.peripheral]?.keyed(key, at: 0)), .peripheral)
  }

  mutating func perform(_ actions: [LinkProcedures.Action], _ role: LinkRole) {
    for action in actions {
      switch action {
      case .send(let packet): waiting.append((role == .central ? .peripheral : .central, packet))
      case .report(let event): reports[role, default: []].append(event)
      case .follow: break
      case .end(let reason), .terminate(let reason): over[role] = reason
      }
    }
  }

  /// All packets arrive, are acknowledged, and answered.
  mutating func settle(at event: UInt16 = 0) {
    while !waiting.isEmpty { arrive(at: event, isAcknowledged: true) }
  }

  /// The first packet arrives.
  mutating func arrive(at event: UInt16, isAcknowledged: Bool) {
    let (role, packet) = waiting.removeFirst()
    perform(ends[role]?.receive(packet, at: event) ?? [], role)
    if isAcknowledged { acknowledge(packet, from: role == .central ? .peripheral : .central, at: event) }
  }

  /// The acknowledgement of a packet arrives at its sender.
  mutating func acknowledge(_ packet: ControlPDU, from role: LinkRole, at event: UInt16) {
    perform(ends[role]?.acknowledged(packet, at: event) ?? [], role)
  }

  /// A connection event begins at both ends.
  mutating func begins(_ event: UInt16) -> [LinkRole: LinkChange] {
    var changes: [LinkRole: LinkChange] = [:]
    for role in [LinkRole.central, .peripheral] {
      guard let step = ends[role]?.begins(event) else { continue }
      changes[role] = step.change
      perform(step.actions, role)
    }
    return changes
  }

  /// The number of ends whose data wait.
  var paused: Int { ends.values.count { $0.isPaused } }

  /// The statuses of the reports about parameters, PHYs and rates.
  func statuses(_ role: LinkRole) -> [HCIErrorCode?] {
    (reports[role] ?? []).compactMap { event -> HCIErrorCode?? in
      switch event {
      case .leConnectionUpdateComplete(let event): event.status.code
      case .lePHYUpdateComplete(let event): event.status.code
      case .leSubrateChange(let event): event.status.code
      case .leConnectionRateChange(let event): event.status.code
      default: nil
      }
    }
  }

  /// The used events among the first ones of one end.
  func used(_ role: LinkRole, _ events: ClosedRange<UInt16>) -> [UInt16] {
    events.filter { ends[role]?.next(from: $0) == $0 }
  }
}
