/// One command of L2CAP's signalling channel; an LE link's frame has one (Core 5.4, Vol 3, Part A, 4).
package struct SignallingPacket: Hashable, Sendable {
  /// The codes on LE links.
  package enum Code {
    package static let reject: UInt8 = 0x01
    package static let disconnectionRequest: UInt8 = 0x06
    package static let disconnectionResponse: UInt8 = 0x07
    package static let parameterUpdateRequest: UInt8 = 0x12
    package static let parameterUpdateResponse: UInt8 = 0x13
    package static let creditBasedRequest: UInt8 = 0x14
    package static let creditBasedResponse: UInt8 = 0x15
    package static let credits: UInt8 = 0x16
    package static let enhancedRequest: UInt8 = 0x17
    package static let enhancedResponse: UInt8 = 0x18
    package static let reconfigureRequest: UInt8 = 0x19
    package static let reconfigureResponse: UInt8 = 0x1A
  }

  package var code: UInt8
  /// 1 to 255; a response has its request's.
  package var identifier: UInt8
  package var data: [UInt8]

  /// Makes a command.
  package init(code: UInt8, identifier: UInt8, data: [UInt8]) {
    self.code = code
    self.identifier = identifier
    self.data = data
  }

  /// Makes a command from numbers of two octets each.
  package init(code: UInt8, identifier: UInt8, words: [UInt16]) {
    self.init(
      code: code, identifier: identifier, data: words.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
  }

  /// Reads a frame's payload.
  /// - Returns: nil if its length is not that of one command.
  package init?(decoding payload: [UInt8]) {
    guard payload.count >= 4, payload.count - 4 == Int(payload[2]) + Int(payload[3]) << 8 else { return nil }
    self.init(code: payload[0], identifier: payload[1], data: Array(payload[4...]))
  }

  /// Its frame's payload.
  package var octets: [UInt8] {
    let length = UInt16(clamping: data.count)
    return [code, identifier, UInt8(length & 0xFF), UInt8(length >> 8)] + data
  }

  /// The data as numbers of two octets; nil unless there are exactly so many.
  func words(_ count: Int) -> [UInt16]? { data.count == 2 * count ? words : nil }

  /// The data as numbers of two octets; nil if an octet is left.
  var words: [UInt16]? {
    guard data.count.isMultiple(of: 2) else { return nil }
    return stride(from: 0, to: data.count, by: 2).map { UInt16(data[$0]) | UInt16(data[$0 + 1]) << 8 }
  }
}
