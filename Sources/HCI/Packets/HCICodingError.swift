/// Why octets are not a packet, a command or an event.
public enum HCICodingError: Error, Hashable, Sendable {
  /// The octets end `missing` octets too early.
  case truncated(missing: Int)
  /// There are `count` octets behind the end.
  case trailingOctets(count: Int)
  /// A field has a value that means nothing.
  case invalidValue(UInt64)
  /// The packet type is none of command, ACL data and event.
  case unknownPacketType(UInt8)
}
