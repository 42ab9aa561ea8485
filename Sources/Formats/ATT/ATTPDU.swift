import Bluetooth

/// An ATT packet (Core 5.4, Vol 3, Part F, 3.4).
///
/// Values and lists are slices of the decoded packet: decoding copies and allocates nothing. Lists keep their wire
/// form; `HandleValueList` and its like walk through them.
public enum ATTPDU: Hashable, Sendable {
  /// 3.4.1.1. The failed request, its handle (0 for none), and the reason.
  case errorResponse(request: ATTOpcode, handle: UInt16, error: ATTErrorCode)
  /// 3.4.2.1. The largest packet accepted by the client.
  case exchangeMTURequest(UInt16)
  /// 3.4.2.2. The largest packet accepted by the server.
  case exchangeMTUResponse(UInt16)
  /// 3.4.3.1.
  case findInformationRequest(start: UInt16, end: UInt16)
  /// 3.4.3.2. Pairs of a handle and a UUID of `uuidSize` octets: 2 (format 1) or 16 (format 2). At least one pair, only
  /// whole ones.
  case findInformationResponse(uuidSize: Int, ArraySlice<UInt8>)
  /// 3.4.3.3. The type is always a 16-bit UUID.
  case findByTypeValueRequest(start: UInt16, end: UInt16, type: UInt16, value: ArraySlice<UInt8>)
  /// 3.4.3.4. Pairs of a found handle and its group's end. At least one, only whole ones.
  case findByTypeValueResponse(ArraySlice<UInt8>)
  /// 3.4.4.1.
  case readByTypeRequest(start: UInt16, end: UInt16, type: BluetoothUUID)
  /// 3.4.4.2. Elements of `size` octets: a handle and a value. At least one, only whole ones.
  case readByTypeResponse(size: Int, ArraySlice<UInt8>)
  /// 3.4.4.3.
  case readRequest(UInt16)
  /// 3.4.4.4.
  case readResponse(ArraySlice<UInt8>)
  /// 3.4.4.5.
  case readBlobRequest(UInt16, offset: UInt16)
  /// 3.4.4.6.
  case readBlobResponse(ArraySlice<UInt8>)
  /// 3.4.4.7. At least two handles in wire form.
  case readMultipleRequest(ArraySlice<UInt8>)
  /// 3.4.4.8. The concatenated values, without their lengths.
  case readMultipleResponse(ArraySlice<UInt8>)
  /// 3.4.4.9.
  case readByGroupTypeRequest(start: UInt16, end: UInt16, type: BluetoothUUID)
  /// 3.4.4.10. Elements of `size` octets: a handle, its group's end and a value. At least one, only whole ones.
  case readByGroupTypeResponse(size: Int, ArraySlice<UInt8>)
  /// 3.4.4.11. At least two handles in wire form.
  case readMultipleVariableRequest(ArraySlice<UInt8>)
  /// 3.4.4.12. Values, each preceded by its 16-bit length; the last may be cut short.
  case readMultipleVariableResponse(ArraySlice<UInt8>)
  /// 3.4.5.1.
  case writeRequest(UInt16, value: ArraySlice<UInt8>)
  /// 3.4.5.2.
  case writeResponse
  /// 3.4.5.3.
  case writeCommand(UInt16, value: ArraySlice<UInt8>)
  /// 3.4.5.4. The signature's 12 octets are 4 for the counter and 8 for the code.
  case signedWriteCommand(UInt16, value: ArraySlice<UInt8>, signature: ArraySlice<UInt8>)
  /// 3.4.6.1.
  case prepareWriteRequest(UInt16, offset: UInt16, value: ArraySlice<UInt8>)
  /// 3.4.6.2. Repeats the request's contents.
  case prepareWriteResponse(UInt16, offset: UInt16, value: ArraySlice<UInt8>)
  /// 3.4.6.3. True writes the prepared values, false discards them.
  case executeWriteRequest(Bool)
  /// 3.4.6.4.
  case executeWriteResponse
  /// 3.4.7.1.
  case handleValueNotification(UInt16, value: ArraySlice<UInt8>)
  /// 3.4.7.2.
  case handleValueIndication(UInt16, value: ArraySlice<UInt8>)
  /// 3.4.7.3.
  case handleValueConfirmation
  /// 3.4.7.4. Values, each preceded by its handle and its 16-bit length; only whole ones.
  case multipleHandleValueNotification(ArraySlice<UInt8>)
}

extension ATTPDU {
  /// The packet's first octet.
  public var opcode: ATTOpcode {
    switch self {
    case .errorResponse: .errorResponse
    case .exchangeMTURequest: .exchangeMTURequest
    case .exchangeMTUResponse: .exchangeMTUResponse
    case .findInformationRequest: .findInformationRequest
    case .findInformationResponse: .findInformationResponse
    case .findByTypeValueRequest: .findByTypeValueRequest
    case .findByTypeValueResponse: .findByTypeValueResponse
    case .readByTypeRequest: .readByTypeRequest
    case .readByTypeResponse: .readByTypeResponse
    case .readRequest: .readRequest
    case .readResponse: .readResponse
    case .readBlobRequest: .readBlobRequest
    case .readBlobResponse: .readBlobResponse
    case .readMultipleRequest: .readMultipleRequest
    case .readMultipleResponse: .readMultipleResponse
    case .readByGroupTypeRequest: .readByGroupTypeRequest
    case .readByGroupTypeResponse: .readByGroupTypeResponse
    case .readMultipleVariableRequest: .readMultipleVariableRequest
    case .readMultipleVariableResponse: .readMultipleVariableResponse
    case .writeRequest: .writeRequest
    case .writeResponse: .writeResponse
    case .writeCommand: .writeCommand
    case .signedWriteCommand: .signedWriteCommand
    case .prepareWriteRequest: .prepareWriteRequest
    case .prepareWriteResponse: .prepareWriteResponse
    case .executeWriteRequest: .executeWriteRequest
    case .executeWriteResponse: .executeWriteResponse
    case .handleValueNotification: .handleValueNotification
    case .handleValueIndication: .handleValueIndication
    case .handleValueConfirmation: .handleValueConfirmation
    case .multipleHandleValueNotification: .multipleHandleValueNotification
    }
  }
}
