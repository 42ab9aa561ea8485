import Bluetooth

/// The reason why octets are not an ATT packet.
public enum ATTDecodingError: Error, Hashable, Sendable {
  /// The opcode is missing.
  case empty
  /// The opcode is not defined.
  case unknownOpcode(ATTOpcode)
  /// The packet's length is impossible for its opcode, or a field has an impossible value.
  case malformed(ATTOpcode)
}

extension ATTPDU {
  /// Reads a whole packet. The result shares the packet's storage.
  /// - Throws: `ATTDecodingError` where the octets are not a packet of 3.4; never traps.
  @inlinable
  public init(decoding packet: [UInt8]) throws(ATTDecodingError) { try self.init(decoding: packet[...]) }

  /// Reads a whole packet. The result shares the packet's storage.
  /// - Throws: `ATTDecodingError` where the octets are not a packet of 3.4; never traps.
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

  /// Everything off the path of reads, writes and values.
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

extension ATTPDU {
  /// The packet in wire form.
  public var encoded: [UInt8] {
    var packet: [UInt8] = []
    encode(into: &packet)
    return packet
  }

  /// Appends the packet in wire form. With room in `packet` nothing is allocated.
  public func encode(into packet: inout [UInt8]) {
    packet.append(opcode.rawValue)
    switch self {
    case .writeResponse, .executeWriteResponse, .handleValueConfirmation: break
    case .readRequest(let word), .exchangeMTURequest(let word), .exchangeMTUResponse(let word):
      packet.append(word: word)
    case .readResponse(let octets), .readBlobResponse(let octets), .readMultipleResponse(let octets),
      .readMultipleRequest(let octets), .readMultipleVariableRequest(let octets),
      .readMultipleVariableResponse(let octets), .findByTypeValueResponse(let octets),
      .multipleHandleValueNotification(let octets):
      packet.append(contentsOf: octets)
    case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
      .handleValueNotification(let handle, let value), .handleValueIndication(let handle, let value):
      packet.append(word: handle)
      packet.append(contentsOf: value)
    case .errorResponse(let request, let handle, let error):
      packet.append(request.rawValue)
      packet.append(word: handle)
      packet.append(error.rawValue)
    case .findInformationRequest(let start, let end):
      packet.append(word: start)
      packet.append(word: end)
    case .findInformationResponse(let uuidSize, let list):
      packet.append(uuidSize == 2 ? 1 : 2)
      packet.append(contentsOf: list)
    case .findByTypeValueRequest(let start, let end, let type, let value):
      packet.append(word: start)
      packet.append(word: end)
      packet.append(word: type)
      packet.append(contentsOf: value)
    case .readByTypeRequest(let start, let end, let type), .readByGroupTypeRequest(let start, let end, let type):
      packet.append(word: start)
      packet.append(word: end)
      packet.append(uuid: type)
    case .readByTypeResponse(let size, let list), .readByGroupTypeResponse(let size, let list):
      packet.append(UInt8(clamping: size))
      packet.append(contentsOf: list)
    case .readBlobRequest(let handle, let offset):
      packet.append(word: handle)
      packet.append(word: offset)
    case .signedWriteCommand(let handle, let value, let signature):
      packet.append(word: handle)
      packet.append(contentsOf: value)
      packet.append(contentsOf: signature)
    case .prepareWriteRequest(let handle, let offset, let value),
      .prepareWriteResponse(let handle, let offset, let value):
      packet.append(word: handle)
      packet.append(word: offset)
      packet.append(contentsOf: value)
    case .executeWriteRequest(let execute): packet.append(execute ? 1 : 0)
    }
  }
}

extension ArraySlice<UInt8> {
  /// The octet at `offset`; 0 past the end, so that remote octets can never trap here.
  @inlinable
  package func octet(at offset: Int) -> UInt8 {
    let index = startIndex &+ offset
    return index < endIndex ? self[index] : 0
  }

  /// The 16-bit number at `offset`, least significant octet first.
  @inlinable
  package func word(at offset: Int) -> UInt16 { UInt16(octet(at: offset)) | UInt16(octet(at: offset &+ 1)) << 8 }
}

extension [UInt8] {
  /// Appends a 16-bit number, least significant octet first.
  @inlinable
  package mutating func append(word: UInt16) {
    append(UInt8(truncatingIfNeeded: word))
    append(UInt8(truncatingIfNeeded: word >> 8))
  }

  /// Appends a UUID as ATT carries it: 2 octets where there is a 16-bit form, else 16.
  package mutating func append(uuid: BluetoothUUID) {
    if let short = uuid.short16 {
      append(word: short)
    } else {
      for shift in stride(from: UInt64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: uuid.low >> shift)) }
      for shift in stride(from: UInt64(0), to: 64, by: 8) { append(UInt8(truncatingIfNeeded: uuid.high >> shift)) }
    }
  }
}
