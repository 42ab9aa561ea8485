import BledRPC

/// The reports of an upload for people and programs: its progress, and its rate at the end.
@MainActor struct UploadReport {
  /// The time between two reports for programs.
  private static let interval = Duration.seconds(1)

  /// The file's octets.
  let size: Int
  let output: Output
  private var last: ContinuousClock.Instant?
  /// The first offset that the device named, and when.
  private var start: (offset: Int, time: ContinuousClock.Instant)?

  init(size: Int, output: Output) { (self.size, self.output) = (size, output) }

  /// True if something was uploaded.
  var hasBegun: Bool { start != nil }

  /// The device has so many octets.
  mutating func reached(_ offset: Int) {
    let now = ContinuousClock.now
    if start == nil { start = (offset, now) }
    guard output.json, last.map({ $0.duration(to: now) >= Self.interval }) ?? true else { return }
    last = now
    try? output.object("progress", ["octets": .integer(offset), "of": .integer(size)] as JSONValue)
  }

  /// Prints that the device has all octets.
  func done() throws {
    let seconds = start.map { $0.time.duration(to: .now) / .seconds(1) } ?? 0
    guard !output.json else {
      return try output.object(
        "uploaded", ["octets": .integer(hasBegun ? size : 0), "seconds": .number(seconds)] as JSONValue)
    }
    // Octets of an earlier command do not count for the rate.
    let octets = Double(size - (start?.offset ?? size))
    let rate = seconds > 0.1 ? ", \(octetText(UInt64(octets / seconds)))/s" : ""
    output.line("uploaded \(octetText(UInt64(size))) in \(shortNumber(seconds)) s\(rate)")
  }
}
