import BledRPC
import FoundationEssentials

/// The lines about a phone, on all links to it.
@MainActor final class PhoneLines {
  let output: Output
  /// The number of lines still to print; nil: no limit.
  private var left: Int?

  init(_ output: Output, left: Int?) { (self.output, self.left) = (output, left) }

  /// True after all lines.
  var isDone: Bool { left == 0 }

  /// Prints a line about a phone, unless there were enough.
  /// - Parameter text: The line for people.
  func add(_ kind: String, _ object: [String: JSONValue], _ text: String, about device: Device) throws {
    guard !isDone else { return }
    left = left.map { $0 - 1 }
    let now = Date()
    guard output.json else { return output.line(output.styled(clockText(now), .dim) + "  " + text) }
    let phone: [String: JSONValue] = [
      "peripheral": .text(device.peripheral.identifier), "device": .text(device.name),
    ]
    try output.object(kind, object.merging(phone) { $1 }, at: now.timeIntervalSince1970)
  }
}
