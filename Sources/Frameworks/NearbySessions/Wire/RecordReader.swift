/// Splits a channel's octets into Noise messages, each behind its length in two octets.
struct RecordReader: Sendable {
  private var held = OctetQueue()
  private var length: Int?

  /// The held octets.
  var heldCount: Int { held.count }

  mutating func append(_ octets: some Collection<UInt8>) { held.append(octets) }

  /// The next whole message; nil if more octets are needed. A length of two octets bounds the held rest.
  mutating func next() -> [UInt8]? {
    if length == nil { length = held.take(2).map { Int($0[0]) << 8 | Int($0[1]) } }
    guard let wanted = length, let record = held.take(wanted) else { return nil }
    length = nil
    return record
  }

  /// The next octets as they are; nil if there are fewer. For those before the first message.
  mutating func preface(_ count: Int) -> [UInt8]? { held.take(count) }

  /// A message on the wire: at most 65,535 octets.
  static func record(_ message: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: message.count >> 8), UInt8(truncatingIfNeeded: message.count)] + message
  }
}
