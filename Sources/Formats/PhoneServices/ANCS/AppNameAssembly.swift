import Bluetooth

/// The parts of the answer with an application's name, which arrives in any number of Data Source notifications.
///
/// | Input                                       | Effect       |
/// |---------------------------------------------|--------------|
/// | octets, and parts of the answer are missing | `incomplete` |
/// | the end of the name                         | `complete`   |
/// | another command or application, another attribute, a name that is too long | `invalid` |
public struct AppNameAssembly: Sendable {
  /// The state after some octets.
  public enum Progress: Hashable, Sendable {
    /// Octets are still missing.
    case incomplete
    /// The name; octets that are invalid UTF-8 are replaced.
    case complete(String)
    /// This is not the answer; the text says why.
    case invalid(String)
  }

  /// The longest accepted name, in octets.
  public static let maximumLength = 256

  /// The answer's beginning: the command, and the application's identifier with a zero octet.
  let head: [UInt8]
  private var octets: [UInt8] = []
  private var isOver = false

  /// Waits for an application's name.
  /// - Parameter identifier: from ANCS, such as "com.apple.MobileSMS"; a zero octet ends it.
  public init(_ identifier: String) { head = [1] + identifier.utf8.prefix { $0 != 0 } + [0] }

  /// Octets have arrived. After `complete` and `invalid` all further ones are invalid.
  public mutating func received(_ more: [UInt8]) -> Progress {
    guard !isOver, octets.count + more.count <= head.count + 3 + Self.maximumLength else {
      isOver = true
      return .invalid("a name that is too long")
    }
    octets += more
    let progress = read()
    isOver = progress != .incomplete
    return progress
  }

  private func read() -> Progress {
    guard zip(octets, head).allSatisfy({ $0 == $1 }) else { return .invalid("an answer about something else") }
    guard octets.count > head.count else { return .incomplete }
    var reader = OctetReader(Array(octets.dropFirst(head.count)))
    guard reader.uint8() == 0 else { return .invalid("an attribute that was not asked for") }
    guard let length = reader.uint16() else { return .incomplete }
    guard length <= Self.maximumLength else { return .invalid("a name that is too long") }
    guard let name = reader.octets(Int(length)) else { return .incomplete }
    return reader.isAtEnd ? .complete(String(decoding: name, as: UTF8.self)) : .invalid("octets after the name")
  }
}
