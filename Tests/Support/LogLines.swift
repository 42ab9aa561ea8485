import Logging

/// The messages of a log, for a test that looks at them. For one thread.
public final class LogLines: @unchecked Sendable {
  /// The messages.
  public fileprivate(set) var all: [String] = []
  /// The metadata of each message's own.
  public fileprivate(set) var metadata: [Logger.Metadata] = []

  /// Makes an empty list.
  public init() {}

  /// A logger that writes here, from the level info on.
  public var logger: Logger { Logger(label: "test") { _ in CollectingLog(lines: self) } }
}

private struct CollectingLog: LogHandler {
  let lines: LogLines
  var metadata: Logger.Metadata = [:]
  var logLevel = Logger.Level.info

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    lines.all.append("\(event.message)")
    lines.metadata.append(event.metadata ?? [:])
  }
}
