import Glibc
import Logging
import Synchronization

/// Log messages on standard error: entries with fields when it goes to the journal, or lines with priorities
/// (sd-daemon(3)) when the journal does not accept entries, else lines with the time of day and the level. Repeated
/// messages are counted, and their reader delays nothing.
///
/// | Key of the metadata                | in the text   | field of the journal |
/// |------------------------------------|---------------|----------------------|
/// | `adapter`                          | adapter=value | ADAPTER              |
/// | `peer`                             | peer=value    | PERIPHERAL           |
/// | `ADAPTER`, `PERIPHERAL`, `SESSION` | no            | the same             |
/// | any other                          | key=value     | none                 |
struct StandardErrorLog: LogHandler {
  /// The lowest logged level. Any thread.
  static var level: Logger.Level {
    get { Logger.Level.allCases[levelIndex.load(ordering: .relaxed)] }
    set { levelIndex.store(Logger.Level.allCases.firstIndex(of: newValue) ?? 0, ordering: .relaxed) }
  }
  private static let levelIndex = Atomic(0)

  var logLevel: Logger.Level {
    get { ownLevel ?? Self.level }
    set { ownLevel = newValue }
  }
  private var ownLevel: Logger.Level?
  var metadata = Logger.Metadata()
  var metadataProvider: Logger.MetadataProvider?
  private let writer: LogWriter

  init(_ writer: LogWriter) { self.writer = writer }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var text = "\(event.message)"
    if let error = event.error { text += ": \(error)" }
    let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
    var fields: [UInt8] = []
    for (key, value) in all.sorted(by: { $0.key < $1.key }) {
      let field = Self.fields[key]
      if field != key { text += " \(key)=\(value)" }
      if let field, Self.isJournal { fields += value.values.flatMap { JournalEntry.field(field, $0) } }
    }
    writer.log(
      .init(level: event.level, text: Self.plain(text), fields: fields), of: .init(file: event.file, line: event.line))
  }

  private static let fields = [
    "adapter": "ADAPTER", "peer": "PERIPHERAL", "ADAPTER": "ADAPTER", "PERIPHERAL": "PERIPHERAL", "SESSION": "SESSION",
  ]
  private static let isJournal = JournalSocket.isJournal(STDERR_FILENO, stream: variable("JOURNAL_STREAM"))

  private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

  /// Starts the thread writing to standard error.
  static func startWriter() throws -> LogWriter {
    let isJournal = isJournal
    // The variable is for tests.
    let path = variable("BLED_JOURNAL_SOCKET") ?? "/run/systemd/journal/socket"
    return try LogWriter(STDERR_FILENO, journal: isJournal ? JournalSocket(path: path) : nil) { line in
      let start = isJournal ? "<\(line.level.priority)>" : "\(timeOfDay) \(line.level.rawValue) "
      return Array("\(start)\(line.text)\n".utf8)
    }
  }

  /// A message is always one line, of limited length and without characters that act on a terminal.
  private static func plain(_ text: String) -> String {
    // Room for the beginning of the line and a count.
    let most = LogWriter.longestLine - 128
    var plain = String.UnicodeScalarView()
    var octets = 0
    for scalar in text.unicodeScalars {
      octets += UTF8.width(scalar)
      guard octets <= most else { return "\(plain)…" }
      let isControl = scalar.properties.generalCategory == .control || scalar == "\u{2028}" || scalar == "\u{2029}"
      plain.append(isControl ? " " : scalar)
    }
    return String(plain)
  }

  private static var timeOfDay: String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    var local = tm()
    localtime_r(&now.tv_sec, &local)
    func two(_ number: some BinaryInteger) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let milliseconds = String("\(1000 + now.tv_nsec / 1_000_000)".dropFirst())
    return "\(two(local.tm_hour)):\(two(local.tm_min)):\(two(local.tm_sec)).\(milliseconds)"
  }
}

extension Logger.MetadataValue {
  /// A field's values, which may be several.
  fileprivate var values: [String] {
    if case .array(let values) = self { values.map { "\($0)" } } else { ["\(self)"] }
  }
}
