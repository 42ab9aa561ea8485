import Bluetooth
import HCI

/// A link's requests to its controllers, one procedure at a time: two with an instant cannot run at once (Core 5.4, Vol
/// 6, Part B, 5.3).
///
/// | State   | Input                                          | Actions, next state                                  |
/// |---------|------------------------------------------------|------------------------------------------------------|
/// | idle    | `want`                                         | `ask` → busy                                         |
/// | busy    | `want`                                         | it waits; one of its kind that waited is `replaced`  |
/// | busy    | its command is refused                         | `settled` with the status, then the next             |
/// | busy    | its command is executed: a data length         | `settled`, then the next                             |
/// | busy    | its command is executed: any other             | none; the controller's event says when it is settled |
/// | busy    | the event of its kind                          | `settled`, then the next                             |
/// | busy    | 10 s without that event                        | `settled` as "unspecified error", then the next      |
/// | busy    | it collided with a procedure of the other side | put off, three times at most; then `settled`         |
/// | put off | the end of a procedure, or its pause           | `ask` again → busy                                   |
/// | busy    | `askAgain`: the event may have been lost       | `ask` once more; "disallowed": it is still under way |
/// | any     | `end`                                          | all waiting ones are reported as `settled` → idle    |
package struct LinkRequests {
  package enum Kind: Hashable {
    /// The interval, with the other parameters.
    case parameters
    case subrate
    /// Reading the other controller's features.
    case features
    case phy
    case dataLength
  }

  package struct Request: Hashable {
    package let kind: Kind
    package let packet: CommandPacket
    /// The owner's number for it.
    package let number: Int
    /// The wait for the end of a colliding procedure.
    package let pause: Duration

    package init(kind: Kind, packet: CommandPacket, number: Int, pause: Duration = .milliseconds(250)) {
      self.kind = kind
      self.packet = packet
      self.number = number
      self.pause = pause
    }
  }

  package enum Action: Hashable {
    case ask(Request)
    case settled(Int, HCIStatus)
    /// Replaced by a newer request of its kind before it began.
    case replaced(Int)
  }

  /// A procedure needs six connection events and may be repeated; the longest intervals need more time, but then no
  /// request waits.
  private static let timeout = Duration.seconds(10)
  private static let maximumRepetitions = 3

  private var current: Request?
  private var isAskedAgain = false
  /// The number of collisions of the current one.
  private var collisions = 0
  /// True if the current one waits for its repetition.
  private var isPutOff = false
  /// At most one per kind.
  private var waiting: [Request] = []
  /// When `tick` is due.
  package private(set) var deadline: Instant?

  package init() {}

  package var isIdle: Bool { current == nil }

  package mutating func want(_ request: Request, at now: Instant) -> [Action] {
    guard current != nil else { return ask(request, at: now) }
    let replaced = waiting.filter { $0.kind == request.kind }.map { Action.replaced($0.number) }
    waiting.removeAll { $0.kind == request.kind }
    waiting.append(request)
    return replaced
  }

  /// This request's command was answered.
  package mutating func answered(_ number: Int, _ status: HCIStatus, at now: Instant) -> [Action] {
    guard let current, current.number == number else { return [] }
    if isAskedAgain {
      isAskedAgain = false
      guard status.code != .commandDisallowed else { return [] }
    }
    guard !status.isSuccess || current.kind == .dataLength else { return [] }
    return ended(status, at: now)
  }

  /// The controller's event of this kind was received, for any reason.
  package mutating func completed(_ kind: Kind, _ status: HCIStatus, at now: Instant) -> [Action] {
    guard let current else { return [] }
    // The other side's procedure has ended.
    if isPutOff { return ask(current, at: now) }
    return current.kind == kind ? ended(status, at: now) : []
  }

  package mutating func tick(at now: Instant) -> [Action] {
    guard let deadline, deadline <= now else { return [] }
    if isPutOff, let current { return ask(current, at: now) }
    return settle(HCIStatus(.unspecifiedError), at: now)
  }

  package mutating func askAgain() -> [Action] {
    guard let current, !isPutOff else { return [] }
    isAskedAgain = true
    return [.ask(current)]
  }

  /// The link has ended.
  package mutating func end() -> [Action] {
    let all = (current.map { [$0] } ?? []) + waiting
    self = LinkRequests()
    return all.map { .settled($0.number, HCIStatus(.unknownConnectionIdentifier)) }
  }

  private mutating func ask(_ request: Request, at now: Instant) -> [Action] {
    current = request
    isAskedAgain = false
    isPutOff = false
    deadline = now.advanced(by: Self.timeout)
    return [.ask(request)]
  }

  /// The procedure ended, or did not begin. A collision is no error: the procedure is repeated (Core 5.4, Vol 6, Part
  /// B, 5.3).
  private mutating func ended(_ status: HCIStatus, at now: Instant) -> [Action] {
    guard let current, status.isCollision, collisions < Self.maximumRepetitions else { return settle(status, at: now) }
    collisions += 1
    isPutOff = true
    isAskedAgain = false
    deadline = now.advanced(by: current.pause)
    return []
  }

  private mutating func settle(_ status: HCIStatus, at now: Instant) -> [Action] {
    guard let last = current else { return [] }
    current = nil
    deadline = nil
    collisions = 0
    isPutOff = false
    let settled = [Action.settled(last.number, status)]
    return waiting.isEmpty ? settled : settled + ask(waiting.removeFirst(), at: now)
  }
}

extension HCIStatus {
  /// True if a link's procedure collided with another one in progress, and can be repeated (Core 5.4, Vol 1, Part F,
  /// 2.35, 2.42 and 2.58).
  var isCollision: Bool {
    switch code {
    case .lmpErrorTransactionCollision, .differentTransactionCollision, .controllerBusy: true
    default: false
    }
  }
}
