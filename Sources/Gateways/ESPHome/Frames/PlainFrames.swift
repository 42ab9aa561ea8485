import Bluetooth

/// Frames without encryption: a zero, the length of the payload, the type of the message, the payload.
enum PlainFrames {
  /// A number of more octets than this is not valid.
  private static let longestNumber = 5

  /// - Throws: `APIFault`.
  /// - Returns: nil while the frame is not complete.
  static func next(_ buffer: inout ReceivedOctets, atMost limit: Int) throws(APIFault) -> APIFrame? {
    var rest = buffer.rest
    guard let indicator = rest.popFirst() else { return nil }
    guard indicator == 0 else { throw indicator == 1 ? .encryptionMismatch : .badIndicator }
    guard let length = try number(&rest) else { return nil }
    guard length <= limit else { throw .tooLong }
    guard let type = try number(&rest), rest.count >= length else { return nil }
    let payload = Array(rest.prefix(Int(length)))
    buffer.drop(buffer.rest.count - rest.count + payload.count)
    return APIFrame(type: type, payload: payload)
  }

  static func octets(_ frame: APIFrame) -> [UInt8] {
    var octets: [UInt8] = [0]
    octets.reserveCapacity(frame.payload.count + 8)
    append(UInt32(truncatingIfNeeded: frame.payload.count), to: &octets)
    append(frame.type, to: &octets)
    return octets + frame.payload
  }

  /// - Returns: nil while there are not enough octets.
  private static func number(_ rest: inout ArraySlice<UInt8>) throws(APIFault) -> UInt32? {
    var number: UInt64 = 0
    for place in 0..<longestNumber {
      guard let octet = rest.popFirst() else { return nil }
      number |= UInt64(octet & 0x7F) << (7 * UInt64(place))
      guard octet & 0x80 != 0 else {
        guard let number = UInt32(exactly: number) else { throw .malformed }
        return number
      }
    }
    throw .malformed
  }

  private static func append(_ number: UInt32, to octets: inout [UInt8]) {
    var rest = number
    while rest > 0x7F {
      octets.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    octets.append(UInt8(truncatingIfNeeded: rest))
  }
}
