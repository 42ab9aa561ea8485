import Bluetooth

/// The first values of a link with a bonded device, kept for the first session that subscribes: the device remembers
/// the configuration of an earlier link (Core 5.4, Vol 3, Part G, 3.3.3.3), and a keyboard sends the key that woke it
/// as soon as the link is encrypted. A device that has not encrypted the link with the keys may be another one.
struct EarlyValues {
  /// The time after the beginning of the link during which values are kept.
  private static let time = Duration.seconds(5)
  /// The maximum number of values; the newest stay.
  private static let maximum = 32

  private let end: Instant
  private var values: [(handle: UInt16, octets: [UInt8])] = []

  init(since beginning: Instant) { end = beginning.advanced(by: Self.time) }

  /// A value was received that no session has subscribed to.
  mutating func keep(_ value: [UInt8], of handle: UInt16, at now: Instant) {
    guard now < end else { return }
    values = values.suffix(Self.maximum - 1) + [(handle, value)]
  }

  /// A session subscribes: returns the values of the characteristic, which are kept no longer.
  mutating func remove(of handle: UInt16, at now: Instant) -> [[UInt8]] {
    defer { values.removeAll { $0.handle == handle || now >= end } }
    return now < end ? values.filter { $0.handle == handle }.map(\.octets) : []
  }
}
