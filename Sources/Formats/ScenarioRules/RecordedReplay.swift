/// The values of a recording on a link.
///
/// | Input                | Effect                                                           |
/// |----------------------|------------------------------------------------------------------|
/// | a new link           | it restarts                                                      |
/// | a client subscribed  | the first value is the next to be sent                           |
/// | a value was sent     | reads return it, and its successor is the next                   |
package struct RecordedReplay {
  /// Values that follow one another without delay would stop time.
  private static let shortestDelay = Duration.milliseconds(1)
  private let values: RecordedValues
  /// The age of the simulation when the link was established.
  private var linkUp = Duration.zero
  private var next = 0
  private var lastSent: [UInt8]?

  package init(_ values: RecordedValues) { self.values = values }

  package mutating func linkIsUp(at age: Duration) { (linkUp, next, lastSent) = (age, 0, nil) }

  package mutating func subscribed() { next = 0 }

  /// The time until the next value is due; nil if none is ever sent.
  package var delay: Duration? {
    values.sent.indices.contains(next) ? max(Self.shortestDelay, values.sent[next].after) : nil
  }

  /// The due value, which reads return from now on.
  package mutating func send() -> [UInt8]? {
    guard values.sent.indices.contains(next) else { return nil }
    lastSent = values.sent[next].value
    next = (next + 1) % values.sent.count
    return lastSent
  }

  /// The value that reads return at an age of the simulation; nil: the description's.
  package func value(at age: Duration) -> [UInt8]? {
    lastSent ?? values.read.last { $0.at <= age - linkUp }?.value
  }
}
