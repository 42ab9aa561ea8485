import BledClient

/// The values that subscriptions brought, for pages that fetch them: at most 1,024, and the newest 768 in any case.
struct ValueLog: Sendable {
  /// A value that a device notified or indicated.
  struct Entry: Sendable, Encodable {
    var device: String
    var handle: UInt16
    var value: ValueDescription
  }

  static let maximum = 1024

  private var entries: [Entry] = []
  /// The number of values so far.
  private(set) var count: UInt64 = 0

  /// The number of values that were dropped.
  var forgotten: UInt64 { count - UInt64(entries.count) }

  /// Adds a value; the oldest one gives way.
  mutating func append(_ entry: Entry) {
    if entries.count == Self.maximum { entries.removeFirst(Self.maximum / 4) }
    entries.append(entry)
    count += 1
  }

  /// The values after the known ones, and the number of those no longer kept.
  /// - Parameter known: the number of values that the page was given.
  func entries(after known: UInt64) -> (entries: ArraySlice<Entry>, lost: UInt64) {
    let wanted = count - min(known, count)
    let kept = min(wanted, UInt64(entries.count))
    return (entries.suffix(Int(kept)), wanted - kept)
  }
}
