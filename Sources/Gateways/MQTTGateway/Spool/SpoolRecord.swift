import Bluetooth

/// The messages in a file of the spool: writes them, and checks on reading that they are unchanged.
///
/// | Octets | Content                                                                      |
/// |--------|------------------------------------------------------------------------------|
/// | 8      | at the beginning of the file: "BLEDMQ01"                                     |
/// | 4      | of each message: the number of octets of its body, least significant first   |
/// | 4      | the CRC-32 of the body                                                       |
/// | 1      | 0; 1 once the message is delivered                                           |
/// | 1      | the body: bits 0 and 1 the quality of service, bit 2 retained                |
/// | 2      | the number of octets of the topic                                            |
/// | any    | the topic, then the payload                                                  |
enum SpoolRecord {
  static let header = Array("BLEDMQ01".utf8)
  /// The octets before the body of a message.
  static let prefix = 9
  /// The offset of the delivery mark.
  static let mark = 8
  /// The longest body, in octets.
  static let longest = 65536

  /// The reason why a file is not used.
  struct Damage: Error {}

  /// A message in the octets of a file.
  struct Place {
    /// The place of its first octet.
    let offset: Int
    /// The place of its body.
    let body: Range<Int>
    let isDelivered: Bool
  }

  /// The octets of a message; nil if it is too long.
  static func octets(of message: OutgoingMessage) -> [UInt8]? {
    let topic = Array(message.topic.utf8)
    guard topic.count <= Topics.longest, 3 + topic.count + message.payload.count <= longest else { return nil }
    var body = [message.quality.rawValue | (message.isRetained ? 4 : 0)]
    body += littleEndian(UInt32(topic.count), 2) + topic + message.payload
    return littleEndian(UInt32(body.count), 4) + littleEndian(checksum(body[...]), 4) + [0] + body
  }

  /// The messages of a file.
  /// - Throws: if any octet differs from the written one.
  static func places(in octets: [UInt8]) throws(Damage) -> [Place] {
    guard octets.starts(with: header) else { throw Damage() }
    var places: [Place] = []
    var offset = header.count
    while offset < octets.count {
      guard octets.count - offset > prefix else { throw Damage() }
      let length = Int(number(octets[offset..<offset + 4]))
      guard length <= longest, length <= octets.count - offset - prefix else { throw Damage() }
      let body = offset + prefix..<offset + prefix + length
      let mark = octets[offset + mark]
      guard mark <= 1, checksum(octets[body]) == number(octets[offset + 4..<offset + 8]),
        message(octets[body]) != nil
      else { throw Damage() }
      places.append(Place(offset: offset, body: body, isDelivered: mark == 1))
      offset = body.upperBound
    }
    return places
  }

  /// The message of a body; nil if there is none.
  static func message(_ body: ArraySlice<UInt8>) -> OutgoingMessage? {
    guard body.count >= 3, body[body.startIndex] <= 7,
      let quality = QualityOfService(rawValue: body[body.startIndex] & 3)
    else { return nil }
    let count = Int(number(body[body.startIndex + 1..<body.startIndex + 3]))
    let rest = body.dropFirst(3)
    guard count <= rest.count, let topic = String(validating: rest.prefix(count), as: UTF8.self) else { return nil }
    return OutgoingMessage(
      topic: topic, payload: Array(rest.dropFirst(count)), quality: quality,
      isRetained: body[body.startIndex] & 4 != 0)
  }

  private static func checksum(_ octets: ArraySlice<UInt8>) -> UInt32 {
    var crc = CRC32()
    crc.add(octets)
    return crc.value
  }

  private static func littleEndian(_ number: UInt32, _ count: UInt32) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
  }

  private static func number(_ octets: ArraySlice<UInt8>) -> UInt32 {
    octets.reversed().reduce(0) { $0 << 8 | UInt32($1) }
  }
}
