import Bluetooth

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
