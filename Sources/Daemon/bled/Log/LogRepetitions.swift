import Bluetooth
import Logging

/// Counts too frequent log lines: the first are written, and for the others one, with their number, once a second.
///
/// Lines logged by one place in the program are of one kind: they differ at most in a number or a name. So the memory
/// is limited by the program's size.
///
/// | State   | Input                                       | Effect                                                   |
/// |---------|---------------------------------------------|----------------------------------------------------------|
/// | (none)  | a line                                      | it is written, a second begins → open                    |
/// | open    | a line like the last one, or one too many   | it is counted → counting                                 |
/// | open    | another line                                | it is written                                            |
/// | open    | the second is over                          | → (none)                                                 |
/// | counting| a line                                      | it is counted                                            |
/// | counting| the second is over, some were counted       | the last one and the number are written, another second  |
/// | counting| the second is over, none was counted        | → (none)                                                 |
struct LogRepetitions {
  /// The place in the code that logged a line.
  struct Kind: Hashable, Sendable {
    /// The source file.
    var file: String
    /// The line in it.
    var line: UInt
  }

  /// A line to be written.
  struct Line: Equatable, Sendable {
    /// The level.
    var level: Logger.Level
    /// The message.
    var text: String
    /// The subject: fields for the journal, see `JournalEntry`.
    var fields: [UInt8] = []

    /// Texts are compared as octets: they may contain text from clients, and comparing strings can be slow.
    static func == (left: Self, right: Self) -> Bool {
      left.level == right.level && left.text.utf8.elementsEqual(right.text.utf8) && left.fields == right.fields
    }
  }

  private struct Second {
    var end: Instant
    var last: Line
    var written = 1
    var counted = 0
    /// True if all counted ones are alike.
    var isSame = true
    var isCounting = false

    var summary: Line {
      guard counted > 1 || isSame else { return last }
      let note =
        switch counted {
        case 1 where isSame: "repeated once"
        case _ where isSame: "repeated \(counted.grouped) times"
        default: "the last of \(counted.grouped) lines like this"
        }
      return Line(level: last.level, text: "\(last.text) (\(note))", fields: last.fields)
    }
  }

  private static let second = Duration.seconds(1)
  private var seconds: [Kind: Second] = [:]

  /// Makes an empty account.
  init() {}

  /// When `due` has something to do; nil: never.
  var deadline: Instant? { seconds.values.lazy.map(\.end).min() }

  /// Takes a line.
  /// - Returns: true to write it now.
  mutating func admits(_ line: Line, of kind: Kind, at now: Instant) -> Bool {
    guard var second = seconds[kind] else {
      seconds[kind] = Second(end: now.advanced(by: Self.second), last: line)
      return true
    }
    let isSame = line == second.last
    second.last = line
    if !isSame, !second.isCounting, second.written < Self.maximum(at: line.level) {
      second.written += 1
      seconds[kind] = second
      return true
    }
    second.isSame = isSame && second.isSame
    second.isCounting = true
    second.counted += 1
    seconds[kind] = second
    return false
  }

  /// Ends the elapsed seconds.
  /// - Parameter isEnd: true to end all.
  /// - Returns: the counts in them.
  mutating func due(at now: Instant, isEnd: Bool = false) -> [Line] {
    var lines: [Line] = []
    for (kind, second) in seconds where isEnd || second.end <= now {
      seconds[kind] = nil
      guard second.counted > 0 else { continue }
      lines.append(second.summary)
      var next = Second(end: now.advanced(by: Self.second), last: second.last)
      next.isCounting = true
      seconds[kind] = next
    }
    return lines
  }

  /// Maximum different lines of a kind written in a second. A level below `info` is set to see details.
  private static func maximum(at level: Logger.Level) -> Int { level < .info ? 1000 : 20 }
}

extension Int {
  /// In digits, with a comma after each three.
  fileprivate var grouped: String {
    var text = ""
    for (index, digit) in String(self).reversed().enumerated() {
      if index > 0, index.isMultiple(of: 3) { text = ",\(text)" }
      text = "\(digit)\(text)"
    }
    return text
  }
}
