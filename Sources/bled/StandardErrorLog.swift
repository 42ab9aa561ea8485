import Glibc
import Logging
import Synchronization

/// Log messages on standard error: with the journal's priorities (sd-daemon(3)) when it goes to the journal, else with
/// the time of day and the level.
struct StandardErrorLog: LogHandler {
  /// The lowest level that is logged. Any thread.
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
  private let isJournal = getenv("JOURNAL_STREAM") != nil

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    var line = isJournal ? "<\(event.level.priority)>" : "\(Self.timeOfDay) \(event.level.rawValue) "
    line += "\(event.message)"
    if let error = event.error { line += ": \(error)" }
    let all = metadata.merging(event.metadata ?? [:]) { _, new in new }
    for (key, value) in all.sorted(by: { $0.key < $1.key }) { line += " \(key)=\(value)" }
    // One message is one line, whatever it contains.
    line = String(line.map { $0.isNewline ? " " : $0 })
    line += "\n"
    line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
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

extension Logger.Level {
  /// The priority of syslog(3).
  fileprivate var priority: Int {
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
