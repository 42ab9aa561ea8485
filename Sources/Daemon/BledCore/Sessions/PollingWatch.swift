import Bluetooth

/// Detects sessions that poll a value instead of subscribing.
///
/// | State    | Input                                          | Effect                            |
/// |----------|------------------------------------------------|-----------------------------------|
/// | watching | a read of a value that notifies or indicates   | counted                           |
/// | watching | the tenth such read of a value within a minute | logged → silent                   |
/// | watching | more values than can be counted                | counting begins anew              |
/// | silent   | a read                                         | nothing: once a session is enough |
struct PollingWatch {
  /// A device's value.
  struct Value: Hashable {
    let device: Int
    let handle: UInt16
  }

  /// The number of reads within `span` that is too many.
  static let limit = 10
  static let span = Duration.seconds(60)
  /// Maximum values counted simultaneously.
  private static let maximumValues = 32

  private var reads: [Value: (first: Instant, count: Int)] = [:]
  private var isSilent = false

  /// Records a read.
  /// - Returns: true to log it.
  mutating func read(_ value: Value, at now: Instant) -> Bool {
    guard !isSilent else { return false }
    var entry = reads[value] ?? (now, 0)
    if entry.first.duration(to: now) > Self.span { entry = (now, 0) }
    entry.count += 1
    guard entry.count < Self.limit else {
      isSilent = true
      reads = [:]
      return true
    }
    if reads[value] == nil, reads.count >= Self.maximumValues { reads = [:] }
    reads[value] = entry
    return false
  }
}
