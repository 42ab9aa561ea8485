/// Cuts the octets of a channel into the messages of Noise, each behind its length in two octets.
struct RecordReader: Sendable {
  private var held = OctetQueue()
  private var length: Int?

  /// The number of octets that are held.
  var heldCount: Int { held.count }

  mutating func append(_ octets: some Collection<UInt8>) { held.append(octets) }

  /// The next whole message; nil if more octets are needed. Two octets of length bound the rest that is held.
  mutating func next() -> [UInt8]? {
    if length == nil { length = held.take(2).map { Int($0[0]) << 8 | Int($0[1]) } }
    guard let wanted = length, let record = held.take(wanted) else { return nil }
    length = nil
    return record
  }

  /// The next octets as they are; nil if there are fewer. For those before the first message.
  mutating func preface(_ count: Int) -> [UInt8]? { held.take(count) }

  /// A message as it goes on the wire: at most 65,535 octets.
  static func record(_ message: [UInt8]) -> [UInt8] {
    [UInt8(truncatingIfNeeded: message.count >> 8), UInt8(truncatingIfNeeded: message.count)] + message
  }
}
