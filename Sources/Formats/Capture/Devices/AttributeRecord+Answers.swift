import ATT
import Bluetooth

extension AttributeRecord {
  private static let primary = BluetoothUUID(0x2800)
  private static let secondary = BluetoothUUID(0x2801)
  private static let include = BluetoothUUID(0x2802)
  private static let characteristic = BluetoothUUID(0x2803)

  /// The device answered a request.
  /// - Parameters:
  ///   - isEncrypted: True for an encrypted link, which shows the requirement behind an error.
  ///   - time: In microseconds, like `linkUp`, the time when the link was established.
  mutating func answered(_ request: ATTPDU, _ answer: ATTPDU, isEncrypted: Bool, at time: Int64, linkUp: Int64) {
    let seconds = max(0, Double(time &- linkUp) / 1_000_000)
    switch (request, answer) {
    case (.readByGroupTypeRequest(_, _, let type), .readByGroupTypeResponse(let size, let list)):
      for element in ElementList(list, size: size) {
        guard let start = element.little16(at: 0), let end = element.little16(at: 2),
          let uuid = BluetoothUUID(littleEndian: element.dropFirst(4))
        else { continue }
        service(start, end, uuid, isPrimary: type != Self.secondary)
      }
    case (.findByTypeValueRequest(_, _, let type, let value), .findByTypeValueResponse(let list)):
      guard BluetoothUUID(type) == Self.primary, let uuid = BluetoothUUID(littleEndian: value) else { return }
      for element in ElementList(list, size: 4) {
        guard let start = element.little16(at: 0), let end = element.little16(at: 2) else { continue }
        service(start, end, uuid, isPrimary: true)
      }
    case (.readByTypeRequest(_, _, let type), .readByTypeResponse(let size, let list)):
      for element in ElementList(list, size: size) {
        guard let handle = element.little16(at: 0) else { continue }
        let value = element.dropFirst(2)
        switch type {
        case Self.characteristic: characteristic(handle, value)
        case Self.include: if let start = value.little16(at: 0) { included(handle, start: start) }
        default: wasRead(handle, value, at: seconds)
        }
      }
    case (.findInformationRequest, .findInformationResponse(let size, let list)):
      for element in ElementList(list, size: 2 + size) {
        guard let handle = element.little16(at: 0), let uuid = BluetoothUUID(littleEndian: element.dropFirst(2)) else {
          continue
        }
        attribute(handle, uuid)
      }
    case (.readRequest(let handle), .readResponse(let value)): wasRead(handle, value, at: seconds)
    case (.readBlobRequest(let handle, let offset), .readBlobResponse(let value)):
      wasRead(handle, further: value, from: Int(offset))
    case (.readMultipleVariableRequest(let list), .readMultipleVariableResponse(let values)):
      for (element, (value, isWhole)) in zip(ElementList(list, size: 2), LengthValueList(values)) where isWhole {
        if let handle = element.little16(at: 0) { wasRead(handle, value, at: seconds) }
      }
    case (.writeRequest(let handle, _), .writeResponse): wasWritten(handle, at: time)
    case (let request, .errorResponse(_, let handle, let error)):
      guard let level = Self.level(error, isEncrypted: isEncrypted) else { return }
      switch request {
      case .writeRequest, .prepareWriteRequest: wasRefused(handle, isRead: false, level: level)
      default: wasRefused(handle, isRead: true, level: level)
      }
    default: break
    }
  }

  /// The protection requested by an error; nil for other errors (Core 5.4, Vol 3, Part C, 10.3.1).
  private static func level(_ error: ATTErrorCode, isEncrypted: Bool) -> Level? {
    switch error {
    case .insufficientAuthentication, .insufficientEncryption, .encryptionKeySizeTooShort:
      isEncrypted ? .authenticated : .encrypted
    default: nil
    }
  }
}
