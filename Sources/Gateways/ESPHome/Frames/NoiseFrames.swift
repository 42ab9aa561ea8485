import Bluetooth

/// Frames with encryption: a one, the length in two octets, the body.
enum NoiseFrames {
  /// - Throws: `APIFault`.
  /// - Returns: nil while the frame is not complete.
  static func next(_ buffer: inout ReceivedOctets, atMost limit: Int) throws(APIFault) -> [UInt8]? {
    let rest = buffer.rest
    guard let indicator = rest.first else { return nil }
    guard indicator == 1 else { throw indicator == 0 ? .encryptionMismatch : .badIndicator }
    guard rest.count >= 3 else { return nil }
    let length = Int(rest[rest.startIndex + 1]) << 8 | Int(rest[rest.startIndex + 2])
    guard length <= limit else { throw .tooLong }
    guard rest.count >= 3 + length else { return nil }
    let body = Array(rest.dropFirst(3).prefix(length))
    buffer.drop(3 + length)
    return body
  }

  /// - Parameter body: at most 65,535 octets.
  static func octets(_ body: [UInt8]) -> [UInt8] {
    [1, UInt8(truncatingIfNeeded: body.count >> 8), UInt8(truncatingIfNeeded: body.count)] + body
  }

  /// The decrypted body of a message.
  static func message(_ body: [UInt8]) throws(APIFault) -> APIFrame {
    guard body.count >= 4 else { throw .malformed }
    let length = Int(body[2]) << 8 | Int(body[3])
    guard length <= body.count - 4 else { throw .malformed }
    return APIFrame(type: UInt32(body[0]) << 8 | UInt32(body[1]), payload: Array(body[4..<(4 + length)]))
  }

  /// - Returns: nil for a type or a payload that does not fit.
  static func body(_ frame: APIFrame) -> [UInt8]? {
    guard let type = UInt16(exactly: frame.type), let length = UInt16(exactly: frame.payload.count) else { return nil }
    return [
      UInt8(type >> 8), UInt8(truncatingIfNeeded: type), UInt8(length >> 8), UInt8(truncatingIfNeeded: length),
    ] + frame.payload
  }
}
