import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc

/// The output of commands.
struct Output: Sendable {
  /// One JSON object a line instead of text for people.
  let json: Bool
  /// Whether standard output is a terminal.
  let isTerminal: Bool
  private let color: Bool
  private let showsProgress: Bool

  init(json: Bool) {
    self.json = json
    isTerminal = isatty(STDOUT_FILENO) == 1
    let environment = ProcessInfo.processInfo.environment
    let wanted = environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    color = isTerminal && wanted && !json
    showsProgress = isatty(STDERR_FILENO) == 1 && wanted && !json
  }

  private init(json: Bool, like other: Output) {
    self.json = json
    isTerminal = other.isTerminal
    color = other.color && !json
    showsProgress = other.showsProgress && !json
  }

  /// The same output, as JSON if `json` is true.
  func with(json: Bool) -> Output { json == self.json ? self : Output(json: json, like: self) }

  /// Prints a line on standard output at once.
  func line(_ text: String) { Self.write(STDOUT_FILENO, text + "\n") }

  /// Prints text on standard output as it is.
  func text(_ text: String) { Self.write(STDOUT_FILENO, text) }

  /// Prints an object as one line of JSON.
  func object(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    line(String(decoding: try encoder.encode(value), as: UTF8.self))
  }

  /// Reports on standard error what went wrong, or an event.
  func problem(_ text: String) { Self.write(STDERR_FILENO, "bleshell: \(text)\n") }

  /// Shows progress on standard error if that is a terminal, until it is ended.
  func progress(_ text: String) -> Progress {
    if showsProgress { Self.write(STDERR_FILENO, "\(Output.clean(text)) …") }
    return Progress(shown: showsProgress)
  }

  /// See `progress`.
  struct Progress: Sendable {
    fileprivate let shown: Bool

    /// Shows other text instead.
    func change(_ text: String) {
      if shown { Output.write(STDERR_FILENO, "\r\u{1B}[K\(Output.clean(text)) …") }
    }

    /// Removes the line from the terminal.
    func end() {
      if shown { Output.write(STDERR_FILENO, "\r\u{1B}[K") }
    }
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
    let unsafe = { (scalar: Unicode.Scalar) in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: true
      default: false
      }
    }
    guard text.unicodeScalars.contains(where: unsafe) else { return text }
    var cleaned = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { cleaned.append(unsafe(scalar) ? "\u{FFFD}" : scalar) }
    return String(cleaned)
  }

  /// Columns and rows of the terminal.
  static var terminalSize: (columns: Int, rows: Int) {
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return (80, 24) }
    return (Int(size.ws_col), Int(size.ws_row))
  }

  private static func write(_ descriptor: Int32, _ text: String) {
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if written > 0 {
        rest = rest.dropFirst(written)
      } else if errno == EAGAIN {
        var wanted = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        poll(&wanted, 1, -1)
      } else if errno != EINTR {
        exitProcess(1)  // The reader has gone, such as "head" after its lines.
      }
    }
  }
}

/// A value as text: its meaning if that is known, else its characters if they are printable, else nil.
func meaning(_ value: [UInt8], of uuid: BluetoothUUID) -> String? {
  (AssignedValue.text(for: uuid, value: value) ?? AssignedValue.printableText(value).map { "\"\($0)\"" })
    .map(Output.clean)
}

extension Output {
  /// Prints a value of an attribute.
  /// - Parameter time: When it came; printed if given.
  func value(_ value: [UInt8], of attribute: Attribute, device: Device, time: Date? = nil) throws {
    if json {
      var object: [String: JSONValue] = [
        "peripheral": .text(device.peripheral.identifier), "handle": .integer(Int(attribute.handle)),
        "uuid": .text("\(attribute.uuid)"), "value": .text(Hex.encode(value)),
      ]
      object["name"] = attribute.uuid.assignedName.map { .text($0) }
      object["text"] = meaning(value, of: attribute.uuid).map { .text($0) }
      object["time"] = time.map { .number($0.timeIntervalSince1970) }
      return try self.object(object)
    }
    let hex = value.isEmpty ? "(empty)" : Hex.encode(value)
    let shown =
      meaning(value, of: attribute.uuid).map { "\(styled($0, .bold))  \(styled(hex, .dim))" } ?? styled(hex, .bold)
    line((time.map { styled(clockText($0), .dim) + "  " } ?? "") + "\(attribute.title): \(shown)")
  }
}

/// "14:03:02.123", in the local time zone.
func clockText(_ date: Date) -> String {
  let seconds = date.timeIntervalSince1970
  var (whole, parts) = (time_t(seconds), tm())
  localtime_r(&whole, &parts)
  func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
  let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
  return time + "." + digits(Int((seconds - Double(whole)) * 1000), 3)
}
