import Logging

/// The journal's fields, as octets in its native protocol (systemd.io/JOURNAL_NATIVE_PROTOCOL): a line `KEY=value`, or
/// for a value with a line feed the key, a line feed, the length in 8 octets little-endian, the value and a line feed.
enum JournalEntry {
  private static let lineFeed = UInt8(ascii: "\n")

  /// A field.
  /// - Parameters:
  ///   - key: capitals, digits and underscores, the first a capital.
  ///   - value: any text.
  static func field(_ key: String, _ value: String) -> [UInt8] {
    let value = Array(value.utf8)
    guard value.contains(lineFeed) else { return Array("\(key)=".utf8) + value + [lineFeed] }
    let length = (0..<8).map { UInt8(truncatingIfNeeded: UInt64(value.count) >> (8 * UInt64($0))) }
    return Array(key.utf8) + [lineFeed] + length + value + [lineFeed]
  }

  /// The datagram for a log line.
  static func octets(of line: LogRepetitions.Line) -> [UInt8] {
    field("MESSAGE", line.text) + field("PRIORITY", "\(line.level.priority)") + field("SYSLOG_IDENTIFIER", "bled")
      + line.fields
  }
}

extension Logger.Level {
  /// The priority of syslog(3), 2 to 7.
  var priority: Int {
    switch self {
    case .trace, .debug: 7
    case .info: 6
    case .notice: 5
    case .warning: 4
    case .error: 3
    case .critical: 2
    }
  }
}
