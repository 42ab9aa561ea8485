import Bluetooth

/// The kinds of objects (nRF5 SDK 17.1, DFU Protocol).
public enum DFUObject: UInt8, Sendable {
  /// The init packet.
  case command = 1
  /// A part of the firmware.
  case data = 2
}

/// A request to a boot loader, written to its control point.
public enum DFURequest: Hashable, Sendable {
  /// Begins an object of so many octets, in place of one that was not executed.
  case create(DFUObject, length: Int)
  /// Has a receipt sent after each so many packets; none for 0.
  case setReceipts(Int)
  /// The octets received so far, with their checksum.
  case checksum
  /// Checks the object, and takes it.
  case execute
  /// The state of the last object.
  case select(DFUObject)

  static let responseCode: UInt8 = 0x60

  /// The code of the request.
  public var code: UInt8 {
    switch self {
    case .create: 1
    case .setReceipts: 2
    case .checksum: 3
    case .execute: 4
    case .select: 6
    }
  }

  /// The octets to write.
  public var encoded: [UInt8] {
    switch self {
    case .create(let object, let length): [code, object.rawValue] + UInt32(clamping: length).octets
    case .setReceipts(let count): [code, UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
    case .checksum, .execute: [code]
    case .select(let object): [code, object.rawValue]
    }
  }

  /// Reads a written request; nil for others.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    let code = reader.uint8()
    switch code {
    case 1:
      guard let object = reader.uint8().flatMap(DFUObject.init(rawValue:)), let length = reader.uint32() else {
        return nil
      }
      self = .create(object, length: Int(length))
    case 2:
      guard let count = reader.uint16() else { return nil }
      self = .setReceipts(Int(count))
    case 3: self = .checksum
    case 4: self = .execute
    case 6:
      guard let object = reader.uint8().flatMap(DFUObject.init(rawValue:)) else { return nil }
      self = .select(object)
    default: return nil
    }
    guard reader.isAtEnd else { return nil }
  }
}

/// An answer of a boot loader, a notification of its control point.
public struct DFUResponse: Hashable, Sendable {
  /// The octets of an object that have arrived.
  public struct Receipt: Hashable, Sendable {
    /// Octets since the first object of this kind.
    public var offset: Int
    /// Their CRC-32.
    public var checksum: UInt32

    /// Makes a receipt.
    public init(offset: Int, checksum: UInt32) { (self.offset, self.checksum) = (offset, checksum) }
  }

  /// The code of the request.
  public var code: UInt8
  /// The refusal; nil for success.
  public var refusal: DFURefusal?
  /// The octets that have arrived, in answers to `checksum` and `select`, and in receipts.
  public var receipt: Receipt?
  /// The maximum length of an object, in answers to `select`.
  public var maximum: Int?

  /// Makes an answer.
  public init(
    to code: UInt8, refusal: DFURefusal? = nil, receipt: Receipt? = nil, maximum: Int? = nil
  ) {
    (self.code, self.refusal, self.receipt, self.maximum) = (code, refusal, receipt, maximum)
  }

  /// Reads a notification; nil for others, and for an answer without the values of its request.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard reader.uint8() == DFURequest.responseCode, let code = reader.uint8(), let result = reader.uint8() else {
      return nil
    }
    self.init(to: code)
    guard result == 1 else {
      refusal = DFURefusal(code: result, extended: result == DFURefusal.extended ? reader.uint8() : nil)
      return
    }
    guard code == DFURequest.checksum.code || code == DFURequest.select(.data).code else { return }
    if code != DFURequest.checksum.code {
      guard let maximum = reader.uint32() else { return nil }
      self.maximum = Int(maximum)
    }
    guard let offset = reader.uint32(), let checksum = reader.uint32() else { return nil }
    receipt = Receipt(offset: Int(offset), checksum: checksum)
  }

  /// The octets to notify.
  public var encoded: [UInt8] {
    let result = [DFURequest.responseCode, code, refusal?.code ?? 1]
    if let refusal { return result + (refusal.extended.map { [$0] } ?? []) }
    let values = (maximum.map { UInt32(clamping: $0).octets } ?? [])
    guard let receipt else { return result + values }
    return result + values + UInt32(clamping: receipt.offset).octets + receipt.checksum.octets
  }
}

extension UInt32 {
  /// The least significant octet first.
  fileprivate var octets: [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: self >> (8 * UInt32($0))) } }
}
