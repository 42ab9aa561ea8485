import Bluetooth

/// Why octets are no ATT packet.
public enum ATTDecodingError: Error, Hashable, Sendable {
  /// There is not even an opcode.
  case empty
  /// Nobody defined this opcode.
  case unknownOpcode(ATTOpcode)
  /// The packet has a length that its opcode cannot have, or a field has a value that it cannot have.
  case malformed(ATTOpcode)
}

extension ATTPDU {
  /// Reads a whole packet. What it returns shares the packet's storage.
  /// - Throws: `ATTDecodingError` where the octets are none of the packets of 3.4; never traps.
  @inlinable
  public init(decoding packet: [UInt8]) throws(ATTDecodingError) { try self.init(decoding: packet[...]) }

  /// Reads a whole packet. What it returns shares the packet's storage.
  /// - Throws: `ATTDecodingError` where the octets are none of the packets of 3.4; never traps.
  public init(decoding packet: ArraySlice<UInt8>) throws(ATTDecodingError) {
    guard let first = packet.first else { throw .empty }
    let opcode = ATTOpcode(rawValue: first)
    let body = packet.dropFirst()
    switch opcode {
    case .readRequest: self = .readRequest(try Self.handle(opcode, body))
    case .readResponse: self = .readResponse(body)
    case .writeRequest: self = .writeRequest(try Self.prefix(opcode, body, 2).word(at: 0), value: body.dropFirst(2))
    case .writeResponse: self = try Self.empty(opcode, body, .writeResponse)
    case .writeCommand: self = .writeCommand(try Self.prefix(opcode, body, 2).word(at: 0), value: body.dropFirst(2))
    case .handleValueNotification:
      self = .handleValueNotification(try Self.prefix(opcode, body, 2).word(at: 0), value: body.dropFirst(2))
    case .handleValueIndication:
      self = .handleValueIndication(try Self.prefix(opcode, body, 2).word(at: 0), value: body.dropFirst(2))
    case .handleValueConfirmation: self = try Self.empty(opcode, body, .handleValueConfirmation)
    default: self = try Self.decodeRare(opcode, body)
    }
  }

  /// Everything that is not on the path of reads, writes and values.
  private static func decodeRare(_ opcode: ATTOpcode, _ body: ArraySlice<UInt8>) throws(ATTDecodingError) -> ATTPDU {
    switch opcode {
    case .errorResponse:
      let body = try exactly(opcode, body, 4)
      return .errorResponse(
        request: ATTOpcode(rawValue: body.octet(at: 0)), handle: body.word(at: 1),
        error: ATTErrorCode(rawValue: body.octet(at: 3)))
    case .exchangeMTURequest: return .exchangeMTURequest(try handle(opcode, body))
    case .exchangeMTUResponse: return .exchangeMTUResponse(try handle(opcode, body))
    case .findInformationRequest:
      let body = try exactly(opcode, body, 4)
      return .findInformationRequest(start: body.word(at: 0), end: body.word(at: 2))
    case .findInformationResponse:
      let format = try prefix(opcode, body, 1).octet(at: 0)
      guard format == 1 || format == 2 else { throw .malformed(opcode) }
      let uuidSize = format == 1 ? 2 : 16
      return .findInformationResponse(uuidSize: uuidSize, try elements(opcode, body.dropFirst(), of: 2 + uuidSize))
    case .findByTypeValueRequest:
      let head = try prefix(opcode, body, 6)
      return .findByTypeValueRequest(
        start: head.word(at: 0), end: head.word(at: 2), type: head.word(at: 4), value: body.dropFirst(6))
    case .findByTypeValueResponse: return .findByTypeValueResponse(try elements(opcode, body, of: 4))
    case .readByTypeRequest:
      let (start, end, type) = try typedRange(opcode, body)
      return .readByTypeRequest(start: start, end: end, type: type)
    case .readByTypeResponse:
      let size = Int(try prefix(opcode, body, 1).octet(at: 0))
      guard size >= 2 else { throw .malformed(opcode) }
      return .readByTypeResponse(size: size, try elements(opcode, body.dropFirst(), of: size))
    case .readBlobRequest:
      let body = try exactly(opcode, body, 4)
      return .readBlobRequest(body.word(at: 0), offset: body.word(at: 2))
    case .readBlobResponse: return .readBlobResponse(body)
    case .readMultipleRequest: return .readMultipleRequest(try handles(opcode, body))
    case .readMultipleResponse: return .readMultipleResponse(body)
    case .readByGroupTypeRequest:
      let (start, end, type) = try typedRange(opcode, body)
      return .readByGroupTypeRequest(start: start, end: end, type: type)
    case .readByGroupTypeResponse:
      let size = Int(try prefix(opcode, body, 1).octet(at: 0))
      guard size >= 4 else { throw .malformed(opcode) }
      return .readByGroupTypeResponse(size: size, try elements(opcode, body.dropFirst(), of: size))
    case .readMultipleVariableRequest: return .readMultipleVariableRequest(try handles(opcode, body))
    case .readMultipleVariableResponse: return .readMultipleVariableResponse(body)
    case .signedWriteCommand:
      let head = try prefix(opcode, body, 2 + 12)
      return .signedWriteCommand(head.word(at: 0), value: body.dropFirst(2).dropLast(12), signature: body.suffix(12))
    case .prepareWriteRequest:
      let head = try prefix(opcode, body, 4)
      return .prepareWriteRequest(head.word(at: 0), offset: head.word(at: 2), value: body.dropFirst(4))
    case .prepareWriteResponse:
      let head = try prefix(opcode, body, 4)
      return .prepareWriteResponse(head.word(at: 0), offset: head.word(at: 2), value: body.dropFirst(4))
    case .executeWriteRequest:
      let flags = try exactly(opcode, body, 1).octet(at: 0)
      guard flags <= 1 else { throw .malformed(opcode) }
      return .executeWriteRequest(flags == 1)
    case .executeWriteResponse: return try empty(opcode, body, .executeWriteResponse)
    case .multipleHandleValueNotification:
      guard HandleLengthValueList(body).isWhole else { throw .malformed(opcode) }
      return .multipleHandleValueNotification(body)
    default: throw .unknownOpcode(opcode)
    }
  }

  private static func exactly(
    _ opcode: ATTOpcode, _ body: ArraySlice<UInt8>, _ count: Int
  ) throws(ATTDecodingError) -> ArraySlice<UInt8> {
    guard body.count == count else { throw .malformed(opcode) }
    return body
  }

  private static func prefix(
    _ opcode: ATTOpcode, _ body: ArraySlice<UInt8>, _ count: Int
  ) throws(ATTDecodingError) -> ArraySlice<UInt8> {
    guard body.count >= count else { throw .malformed(opcode) }
    return body
  }

  private static func handle(_ opcode: ATTOpcode, _ body: ArraySlice<UInt8>) throws(ATTDecodingError) -> UInt16 {
    try exactly(opcode, body, 2).word(at: 0)
  }

  private static func empty(
    _ opcode: ATTOpcode, _ body: ArraySlice<UInt8>, _ pdu: ATTPDU
  ) throws(ATTDecodingError) -> ATTPDU {
    guard body.isEmpty else { throw .malformed(opcode) }
    return pdu
  }

  private static func elements(
    _ opcode: ATTOpcode, _ list: ArraySlice<UInt8>, of size: Int
  ) throws(ATTDecodingError) -> ArraySlice<UInt8> {
    guard !list.isEmpty, list.count.isMultiple(of: size) else { throw .malformed(opcode) }
    return list
  }

  private static func handles(
    _ opcode: ATTOpcode, _ list: ArraySlice<UInt8>
  ) throws(ATTDecodingError) -> ArraySlice<UInt8> {
    guard list.count >= 4, list.count.isMultiple(of: 2) else { throw .malformed(opcode) }
    return list
  }

  private static func typedRange(
    _ opcode: ATTOpcode, _ body: ArraySlice<UInt8>
  ) throws(ATTDecodingError) -> (UInt16, UInt16, BluetoothUUID) {
    guard body.count == 6 || body.count == 20, let type = BluetoothUUID(littleEndian: body.dropFirst(4)) else {
      throw .malformed(opcode)
    }
    return (body.word(at: 0), body.word(at: 2), type)
  }
}
