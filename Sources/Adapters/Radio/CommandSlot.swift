import Bluetooth
import HCI

/// Our command in progress: the controller processes one at a time.
///
/// | State    | Input                                     | Outcome                                   |
/// |----------|-------------------------------------------|-------------------------------------------|
/// | free     | `send`                                    | busy, with a deadline                     |
/// | busy     | its Command Complete or Command Status    | free, `.ours`                             |
/// | busy     | the deadline                              | free, `.ours` with "unspecified error"    |
/// | either   | an answer to another program's command    | `.foreign`                                |
/// | busy     | one that names another link: it is late   | `.foreign`                                |
/// | busy     | `doubt`                                   | the deadline is near                      |
/// | busy     | the end of the command's link             | the deadline is near                      |
/// | free     | `doubt`                                   | `isFree`                                  |
/// | either   | credits                                   | `isFree` only with at least one           |
/// | free     | no credits, then the deadline             | `isFree`: a controller may forget to give one |
package struct CommandSlot {
  /// A command's outcome.
  package struct Answer: Hashable {
    package var opcode: Opcode
    package var status: HCIStatus
    /// The Command Complete; nil after a Command Status.
    package var complete: CommandComplete?
    /// True if the command was sent to the controller: otherwise too many others were queued.
    package var wasSent: Bool

    package init(opcode: Opcode, status: HCIStatus, complete: CommandComplete?, wasSent: Bool = true) {
      self.opcode = opcode
      self.status = status
      self.complete = complete
      self.wasSent = wasSent
    }
  }

  /// The answered command's sender.
  package enum Outcome: Hashable {
    case ours(Answer)
    case foreign(Answer)
  }

  /// The kernel allows a command two seconds, and others may be ahead of ours in its queue.
  package static let timeout = Duration.seconds(5)
  /// Maximum wait for a doubtful answer.
  private static let doubtful = Duration.seconds(1)

  package private(set) var outstanding: Opcode?
  /// The command's link.
  private var link: ConnectionHandle?
  package private(set) var deadline: Instant?
  /// Consecutive commands without any answer.
  private(set) var timeouts = 0
  private var credits = 1
  /// When a command was last answered, from this program or another.
  private var lastAnswer: Instant?

  package init() {}

  /// True if a command may be sent now.
  package var isFree: Bool { outstanding == nil && credits > 0 }

  /// Records a sent command.
  package mutating func send(_ packet: CommandPacket, at now: Instant, timeout: Duration = Self.timeout) {
    outstanding = packet.opcode
    link = packet.link
    deadline = now.advanced(by: timeout)
  }

  /// True if the controller says that it takes commands, though it did (Core 5.4, Vol 4, Part E, 7.7.14: opcode 0).
  /// Firmware that starts says so; before the first answer it is that of the set-up.
  func isUnasked(_ event: HCIEvent) -> Bool {
    guard case .commandComplete(let complete) = event, complete.opcode == .none, complete.credits > 0, isFree else {
      return false
    }
    return lastAnswer != nil
  }

  /// True if an answer came just before: some controllers give a credit behind each.
  func hasJustAnswered(at now: Instant) -> Bool { lastAnswer.map { now < $0.advanced(by: .seconds(1)) } ?? false }

  /// Takes an event.
  /// - Returns: nil if it answers no command.
  package mutating func receive(_ event: HCIEvent, at now: Instant) -> Outcome? {
    defer { awaitCredit(at: now) }
    let answer: Answer
    switch event {
    case .commandComplete(let complete):
      credits = Int(complete.credits)
      answer = Answer(opcode: complete.opcode, status: complete.status, complete: complete)
    case .commandStatus(let status):
      credits = Int(status.credits)
      answer = Answer(opcode: status.opcode, status: status.status, complete: nil)
    default: return nil
    }
    guard answer.opcode != .none else { return nil }
    lastAnswer = now
    guard answer.opcode == outstanding, !isOfAnotherLink(answer) else { return .foreign(answer) }
    clear()
    timeouts = 0
    return .ours(answer)
  }

  /// True for a late answer to an earlier command with the same opcode, or to another program's. A Command Status names
  /// no link, and a handle of zero, or without a link, may not have been filled in.
  private func isOfAnotherLink(_ answer: Answer) -> Bool {
    guard let link, let octets = answer.complete?.returnParameters, octets.count >= 3 else { return false }
    let handle = (ConnectionHandle(octets[1]) | ConnectionHandle(octets[2]) << 8) & 0x0FFF
    return handle != 0 && handle <= ControllerLinks.lastHandle && handle != link
  }

  /// Events were lost, perhaps including the pending answer, or the credit for the next command.
  mutating func doubt(at now: Instant) {
    credits = 1
    deadline = outstanding == nil ? nil : deadline.map { min($0, now.advanced(by: Self.doubtful)) }
  }

  /// A link has ended: some controllers no longer answer a command for it.
  mutating func linkEnded(_ handle: ConnectionHandle, at now: Instant) {
    guard outstanding != nil, link == handle else { return }
    deadline = deadline.map { min($0, now.advanced(by: Self.doubtful)) }
  }

  /// The command after its deadline has passed, as an answer.
  /// - Returns: nil if no command waits so long; but then `isFree` may have become true.
  package mutating func expire(at now: Instant) -> Answer? {
    guard let deadline, deadline <= now else { return nil }
    let expired = outstanding
    clear()
    credits = 1
    guard let opcode = expired else { return nil }
    timeouts += 1
    return Answer(opcode: opcode, status: HCIStatus(.unspecifiedError), complete: nil)
  }

  /// The next command waits for a credit, but not indefinitely.
  private mutating func awaitCredit(at now: Instant) {
    guard outstanding == nil else { return }
    deadline = credits > 0 ? nil : deadline ?? now.advanced(by: Self.timeout)
  }

  private mutating func clear() {
    outstanding = nil
    deadline = nil
  }
}
