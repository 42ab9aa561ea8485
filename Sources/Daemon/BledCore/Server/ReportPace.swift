/// The time for writing a program's queued reports: at once if nothing was written for 20 ms, else together with the
/// reports of that time. A daemon's turn and a program's wake-up cost more than a report. All other lines leave at
/// once, with the reports before them.
///
/// | Reports                              | Effect                              |
/// |--------------------------------------|-------------------------------------|
/// | 20 ms or more after the last writing | written at once                     |
/// | sooner                               | written 20 ms after the last writing |
struct ReportPace {
  /// In nanoseconds.
  static let interval: Int64 = 20_000_000
  private var written: Int64?

  /// Lines are written.
  mutating func wrote(at now: Int64) { written = now }

  /// - Returns: the time to write new reports; nil: at once.
  func due(at now: Int64) -> Int64? {
    guard let written, now - written < Self.interval else { return nil }
    return written + Self.interval
  }
}
