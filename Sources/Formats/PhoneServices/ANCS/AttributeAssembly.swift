import Bluetooth

/// The parts of an answer from ANCS, which arrives in any number of Data Source notifications.
///
/// | Input                                      | Effect                                              |
/// |--------------------------------------------|-----------------------------------------------------|
/// | octets, and parts of the answer are missing | `incomplete`                                       |
/// | the end of the last part                   | `complete`                                          |
/// | another command or notification, a part that was not asked for, one that is too long | `invalid`  |
///
/// An answer has no length of its own: it ends with the last requested part.
public struct AttributeAssembly: Sendable {
  /// The state after some octets.
  public enum Progress: Hashable, Sendable {
    /// Octets are still missing.
    case incomplete
    /// The parts, as text; octets that are invalid UTF-8 are replaced.
    case complete([NotificationAttribute: String])
    /// This is not the answer; the text says why.
    case invalid(String)
  }

  /// The longest accepted part, in octets, if the request does not limit it.
  public static let maximumLength = 512

  private let notification: UInt32
  private let parts: [NotificationCommand.Part]
  private var octets: [UInt8] = []
  private var isOver = false

  /// Waits for the answer to a request for these parts.
  public init(notification: UInt32, parts: [NotificationCommand.Part]) {
    self.notification = notification
    self.parts = parts
  }

  /// Maximum octets of the answer.
  private var limit: Int { parts.reduce(5) { $0 + 3 + Self.limit(of: $1) } }

  private static func limit(of part: NotificationCommand.Part) -> Int {
    part.attribute.hasLength ? Int(part.length) : maximumLength
  }

  /// Octets have arrived. After `complete` and `invalid` all further ones are invalid.
  public mutating func received(_ more: [UInt8]) -> Progress {
    guard !isOver, octets.count + more.count <= limit else {
      isOver = true
      return .invalid("an answer that is longer than was asked for")
    }
    octets += more
    let progress = read()
    isOver = progress != .incomplete
    return progress
  }

  private func read() -> Progress {
    var reader = OctetReader(octets)
    guard let command = reader.uint8() else { return .incomplete }
    guard command == 0 else { return .invalid("an answer to command \(command)") }
    guard let identifier = reader.uint32() else { return .incomplete }
    guard identifier == notification else { return .invalid("an answer about notification \(identifier)") }
    var values: [NotificationAttribute: String] = [:]
    while values.count < parts.count {
      guard let number = reader.uint8() else { return .incomplete }
      guard let part = parts.first(where: { $0.attribute.rawValue == number }), values[part.attribute] == nil else {
        return .invalid("attribute \(number), which was not asked for")
      }
      guard let length = reader.uint16() else { return .incomplete }
      guard length <= Self.limit(of: part) else { return .invalid("\(length) octets of attribute \(number)") }
      guard let value = reader.octets(Int(length)) else { return .incomplete }
      values[part.attribute] = String(decoding: value, as: UTF8.self)
    }
    return reader.isAtEnd ? .complete(values) : .invalid("octets after the last attribute")
  }
}
