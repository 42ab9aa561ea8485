import Bluetooth
import HCI

/// A sequence of mgmt commands, and the command with a pending answer.
struct ManagementScript {
  /// The kernel's answer to a command.
  struct Answer: Hashable {
    let opcode: UInt16
    let status: ManagementStatus
    /// The return parameters.
    let octets: [UInt8]
  }

  /// The packets that follow.
  var rest: [ManagementPacket] = []
  private(set) var outstanding: UInt16?

  /// True while an answer is pending.
  var isBusy: Bool { outstanding != nil }

  /// This command was sent.
  mutating func sent(_ packet: ManagementPacket) { outstanding = packet.code }

  /// The answer to the sent command, if an event is one.
  mutating func receive(_ event: ManagementEvent) -> Answer? {
    let answer: Answer
    switch event {
    case .commandComplete(let complete):
      answer = Answer(opcode: complete.opcode, status: complete.status, octets: complete.returnParameters)
    case .commandStatus(let status): answer = Answer(opcode: status.opcode, status: status.status, octets: [])
    default: return nil
    }
    guard answer.opcode == outstanding else { return nil }
    outstanding = nil
    return answer
  }

  /// Stops waiting for an answer.
  mutating func giveUp() { outstanding = nil }

  /// Nor does anything follow.
  mutating func clear() {
    rest = []
    outstanding = nil
  }
}
