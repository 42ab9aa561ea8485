import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc

/// The output of commands.
struct Output: Sendable {
  /// One JSON object a line instead of text for people.
  let json: Bool
  /// True if standard output is a terminal.
  let isTerminal: Bool
  private let color: Bool
  private let showsProgress: Bool
  /// True if the lines on standard output are comments of the Test Anything Protocol.
  private let isCommented: Bool

  init(json: Bool) {
    self.json = json
    isCommented = false
    isTerminal = isatty(STDOUT_FILENO) == 1
    let environment = ProcessInfo.processInfo.environment
    color = isTerminal && environment["NO_COLOR", default: ""].isEmpty && Self.drawsScreens && !json
    showsProgress = isatty(STDERR_FILENO) == 1 && Self.drawsScreens && !json
  }

  /// True if the terminal supports more than lines, and shows the characters of screens.
  static var drawsScreens: Bool {
    let terminal = getenv("TERM").map { String(cString: $0) } ?? ""
    return !terminal.isEmpty && terminal != "dumb" && hasUTF8
  }

  /// True if text beyond ASCII is shown: not if the environment names a locale without UTF-8.
  static let hasUTF8: Bool = {
    let environment = ProcessInfo.processInfo.environment
    let names = ["LC_ALL", "LC_CTYPE", "LANG"].map { environment[$0, default: ""].lowercased() }
    guard let locale = names.first(where: { !$0.isEmpty }) else { return true }
    return locale.contains("utf-8") || locale.contains("utf8")
  }()

  /// The sign for text that is left out.
  static var ellipsis: String { hasUTF8 ? "…" : "..." }

  /// True if a command can have the whole screen, and keys.
  var hasScreen: Bool { isTerminal && !json && Self.drawsScreens && isatty(STDIN_FILENO) == 1 }

  private init(json: Bool, like other: Output, isCommented: Bool) {
    self.json = json
    self.isCommented = isCommented
    isTerminal = other.isTerminal && !isCommented
    color = other.color && !json && !isCommented
    showsProgress = other.showsProgress && !json
  }

  /// The same output, as JSON if `json` is true.
  func with(json: Bool) -> Output {
    json == self.json ? self : Output(json: json, like: self, isCommented: isCommented)
  }

  /// This output with its lines as comments, for between the results of `run --tap`.
  var commented: Output { Output(json: json, like: self, isCommented: true) }

  /// Prints a line on standard output at once.
  func line(_ text: String) { self.text(text + "\n") }

  /// Prints text on standard output as it is.
  func text(_ text: String) {
    Self.write(STDOUT_FILENO, isCommented ? Self.comments(text).map { $0 + "\n" }.joined() : text)
  }

  /// Text as lines that readers of the Test Anything Protocol ignore.
  static func comments(_ text: String) -> [String] { text.split(whereSeparator: \.isNewline).map { "# \($0)" } }

  /// Prints an object as one line of JSON.
  func object(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    line(Self.escaped(String(decoding: try encoder.encode(value), as: UTF8.self)))
  }

  /// JSON with escapes for the characters that a terminal would act on: outside of its strings there are none.
  static func escaped(_ json: String) -> String {
    guard json.utf8.contains(where: { $0 >= 0x7F }), json.unicodeScalars.contains(where: isUnsafe) else { return json }
    var escaped = String.UnicodeScalarView()
    for scalar in json.unicodeScalars {
      guard isUnsafe(scalar) else {
        escaped.append(scalar)
        continue
      }
      for unit in String(scalar).utf16 {
        let digits = String(unit, radix: 16)
        escaped += ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).unicodeScalars
      }
    }
    return String(escaped)
  }

  /// Reports a problem or an event on standard error.
  func problem(_ text: String) {
    // The text may name devices.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { Self.clean(String($0)) }
    Self.write(STDERR_FILENO, "bleshell: \(lines.joined(separator: "\n"))\n")
  }

  /// Shows on standard error, if that is a terminal, the awaited event and the waiting time, until it is ended.
  func progress(_ text: String) -> Progress { Progress(showsProgress ? text : nil) }

  /// Reports an error on standard error: as a sentence, or as a line of JSON.
  func failure(_ error: BluetoothError) {
    guard json else { return problem("\(error)") }
    failure(domain: error.domain.rawValue, error.code, error.name, error.message)
  }

  /// Reports an error of bleshell itself.
  func failure(_ failure: Failure) {
    guard !failure.message.isEmpty else { return }
    guard json else { return problem(failure.message) }
    let name = failure.status == 64 ? "usage" : "failed"
    self.failure(domain: "bleshell", Int(failure.status), name, failure.message)
  }

  private func failure(domain: String, _ code: Int, _ name: String, _ message: String) {
    let error: JSONValue = [
      "error": ["domain": .text(domain), "code": .integer(code), "name": .text(name), "message": .text(message)]
    ]
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let line = try? encoder.encode(error) else { return }
    Self.write(STDERR_FILENO, Self.escaped(String(decoding: line, as: UTF8.self)) + "\n")
  }

  /// The styles of text.
  enum Style: String, Sendable {
    case plain = ""
    case bold = "1"
    case dim = "2"
    case good = "32"
    case bad = "31"
    case name = "36"
  }

  /// The text in a style, if colour is enabled.
  func styled(_ text: String, _ style: Style) -> String {
    color && style != .plain ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }

  /// Text from a device without control characters that a terminal would act on.
  static func clean(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var cleaned = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { cleaned.append(isUnsafe(scalar) ? "\u{FFFD}" : scalar) }
    return String(cleaned)
  }

  /// A text in quotation marks, which the text itself cannot end: for lines on which a person compares a code.
  static func quoted(_ text: String) -> String {
    "\"" + String(clean(text).map { $0 == "\"" ? "'" : $0 }) + "\""
  }

  /// True if a terminal acts on it: controls, directions of text, ends of lines.
  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }

  /// Columns and rows of the terminal.
  static var terminalSize: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  /// Prints octets on standard output as they are.
  func octets(_ octets: [UInt8]) {
    if isCommented { text(String(decoding: octets, as: UTF8.self)) } else { Self.write(STDOUT_FILENO, octets) }
  }

  /// Standard output, for octets that are no lines.
  /// - Throws: `Failure` between the results of `run --tap`.
  func descriptor() throws(Failure) -> CInt {
    guard !isCommented else {
      throw Failure("standard output has the results of run --tap: give a file, or run it without --tap", status: 64)
    }
    return STDOUT_FILENO
  }

  static func write(_ descriptor: Int32, _ text: String) { write(descriptor, Array(text.utf8)) }

  private static func write(_ descriptor: Int32, _ octets: [UInt8]) {
    Progress.hide()
    writeDirectly(descriptor, octets)
  }

  /// Writes text beside the line of a progress.
  static func writeDirectly(_ descriptor: Int32, _ text: String) { writeDirectly(descriptor, Array(text.utf8)) }

  private static func writeDirectly(_ descriptor: Int32, _ octets: [UInt8]) {
    var rest = octets[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 {
        rest = rest.dropFirst(written)
      } else if errno == EAGAIN {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wanted, 1, -1)
      } else if errno != EINTR {
        let error = errno
        // The reader has ended, such as "head" after its lines.
        if error != EPIPE, descriptor == STDOUT_FILENO {
          writeDirectly(STDERR_FILENO, "bleshell: the output cannot be written: \(String(cString: strerror(error)))\n")
        }
        exitProcess(1)
      }
    }
  }
}

/// "14:03:02.123", in the local time zone.
func clockText(_ date: Date) -> String {
  // From 1970 to 9999: the time may come from the daemon, and be any number.
  let seconds = min(max(date.timeIntervalSince1970, 0), 253_402_300_799)
  var (whole, parts) = (time_t(seconds), tm())
  localtime_r(&whole, &parts)
  func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
  let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
  return time + "." + digits(Int((seconds - Double(whole)) * 1000), 3)
}
