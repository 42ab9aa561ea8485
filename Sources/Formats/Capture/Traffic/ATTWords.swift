import ATT
import Bluetooth

/// An ATT packet's content besides its name.
struct ATTWords {
  /// Its attribute.
  var handle: UInt16?
  /// Its value.
  var value: ArraySlice<UInt8>?
  /// Anything else.
  var detail: String?

  init(_ pdu: ATTPDU) {
    switch pdu {
    case .errorResponse(let request, let handle, let error):
      self.handle = handle == 0 ? nil : handle
      detail = "to \(request.title): \(error.name)"
    case .exchangeMTURequest(let mtu), .exchangeMTUResponse(let mtu): detail = "\(mtu)"
    case .findInformationRequest(let start, let end): detail = Self.range(start, end)
    case .findByTypeValueRequest(let start, let end, let type, let value):
      detail = "\(BluetoothUUID(type)) \(Self.range(start, end))"
      self.value = value
    case .readByTypeRequest(let start, let end, let type), .readByGroupTypeRequest(let start, let end, let type):
      detail = "\(type) \(Self.range(start, end))"
    case .readRequest(let handle): self.handle = handle
    case .readBlobRequest(let handle, let offset):
      self.handle = handle
      detail = "from octet \(offset)"
    case .writeRequest(let handle, let value), .writeCommand(let handle, let value),
      .signedWriteCommand(let handle, let value, _), .handleValueNotification(let handle, let value),
      .handleValueIndication(let handle, let value):
      self.handle = handle
      self.value = value
    case .prepareWriteRequest(let handle, let offset, let value),
      .prepareWriteResponse(let handle, let offset, let value):
      self.handle = handle
      self.value = value
      detail = "from octet \(offset)"
    case .executeWriteRequest(let isWrite): detail = isWrite ? "(write)" : "(cancel)"
    case .readResponse(let value), .readBlobResponse(let value), .readMultipleResponse(let value),
      .readMultipleVariableResponse(let value), .multipleHandleValueNotification(let value),
      .findInformationResponse(_, let value), .findByTypeValueResponse(let value), .readByTypeResponse(_, let value),
      .readByGroupTypeResponse(_, let value), .readMultipleRequest(let value), .readMultipleVariableRequest(let value):
      self.value = value
    case .writeResponse, .executeWriteResponse, .handleValueConfirmation: break
    }
  }

  private static func range(_ start: UInt16, _ end: UInt16) -> String { "\(hex(start))–\(hex(end))" }

  /// A handle as bleshell writes it.
  private static func hex(_ handle: UInt16) -> String {
    let digits = String(handle, radix: 16, uppercase: true)
    return "0x" + String(repeating: "0", count: 4 - digits.count) + digits
  }
}

extension ATTOpcode {
  /// Its name (Core 5.4, Vol 3, Part F, 3.4.8).
  var title: String { Self.titles[rawValue] ?? "ATT \(self)" }

  private static let titles: [UInt8: String] = [
    0x01: "Error Response", 0x02: "Exchange MTU Request", 0x03: "Exchange MTU Response",
    0x04: "Find Information Request", 0x05: "Find Information Response", 0x06: "Find By Type Value Request",
    0x07: "Find By Type Value Response", 0x08: "Read By Type Request", 0x09: "Read By Type Response",
    0x0A: "Read Request", 0x0B: "Read Response", 0x0C: "Read Blob Request", 0x0D: "Read Blob Response",
    0x0E: "Read Multiple Request", 0x0F: "Read Multiple Response", 0x10: "Read By Group Type Request",
    0x11: "Read By Group Type Response", 0x12: "Write Request", 0x13: "Write Response", 0x16: "Prepare Write Request",
    0x17: "Prepare Write Response", 0x18: "Execute Write Request", 0x19: "Execute Write Response",
    0x1B: "Notification", 0x1D: "Indication", 0x1E: "Confirmation", 0x20: "Read Multiple Variable Request",
    0x21: "Read Multiple Variable Response", 0x23: "Multiple Notification", 0x52: "Write Command",
    0xD2: "Signed Write Command",
  ]
}
