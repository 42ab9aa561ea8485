/// Which part of an advertisement a command carries (Core 5.4, Vol 4, Part E, 7.8.54).
public enum AdvertisingDataOperation: UInt8, Hashable, Sendable, CaseIterable {
  /// A part between the first and the last.
  case intermediate = 0
  /// The first part.
  case first = 1
  /// The last part.
  case last = 2
  /// All of it.
  case complete = 3
  /// Nothing changes but the advertisement's number.
  case unchanged = 4
}

/// A part of what an extended set sends: what both of the commands below carry.
public struct AdvertisingDataFragment: Hashable, Sendable {
  /// Which set, 0x00 to 0xEF.
  public var advertisingHandle: UInt8
  /// Which part of the whole.
  public var operation: AdvertisingDataOperation
  /// 0 if the controller may split the data, 1 if it should not.
  public var fragmentPreference: UInt8
  /// At the most 251 octets.
  public var data: [UInt8]

  /// Makes it of its parameters.
  public init(
    advertisingHandle: UInt8, operation: AdvertisingDataOperation, fragmentPreference: UInt8 = 1, data: [UInt8]
  ) {
    self.advertisingHandle = advertisingHandle
    self.operation = operation
    self.fragmentPreference = fragmentPreference
    self.data = data
  }

  /// Cuts data into the fragments in which it is sent, at least one.
  public static func fragments(of data: [UInt8], advertisingHandle: UInt8) -> [AdvertisingDataFragment] {
    let limit = 251
    guard data.count > limit else {
      return [AdvertisingDataFragment(advertisingHandle: advertisingHandle, operation: .complete, data: data)]
    }
    return stride(from: 0, to: data.count, by: limit).map { start in
      let end = min(start + limit, data.count)
      let operation: AdvertisingDataOperation = start == 0 ? .first : end == data.count ? .last : .intermediate
      return AdvertisingDataFragment(
        advertisingHandle: advertisingHandle, operation: operation, data: Array(data[start..<end]))
    }
  }

  init(from reader: inout OctetReader) throws(HCICodingError) {
    advertisingHandle = try reader.uint8()
    let octet = try reader.uint8()
    guard let operation = AdvertisingDataOperation(rawValue: octet) else { throw .invalidValue(UInt64(octet)) }
    self.operation = operation
    fragmentPreference = try reader.uint8()
    data = try reader.octets(Int(try reader.uint8()))
  }

  func write(to writer: inout OctetWriter) {
    writer.uint8(advertisingHandle)
    writer.uint8(operation.rawValue)
    writer.uint8(fragmentPreference)
    writer.uint8(UInt8(min(data.count, 251)))
    writer.octets(data, count: min(data.count, 251))
  }
}

/// LE Set Extended Advertising Data (Core 5.4, Vol 4, Part E, 7.8.54).
public struct LESetExtendedAdvertisingData: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2037
  /// The part that is set.
  public var fragment: AdvertisingDataFragment

  /// Makes it of its parameters.
  public init(fragment: AdvertisingDataFragment) { self.fragment = fragment }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    fragment = try AdvertisingDataFragment(from: &reader)
  }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) { fragment.write(to: &writer) }
}

/// LE Set Extended Scan Response Data (Core 5.4, Vol 4, Part E, 7.8.55).
public struct LESetExtendedScanResponseData: HCICommand {
  /// The family that the command belongs to.
  public typealias Family = ExtendedFamily
  /// Identifies the command.
  public static let opcode: Opcode = 0x2038
  /// The part that is set.
  public var fragment: AdvertisingDataFragment

  /// Makes it of its parameters.
  public init(fragment: AdvertisingDataFragment) { self.fragment = fragment }
  /// Reads the parameters.
  public init(from reader: inout OctetReader) throws(HCICodingError) {
    fragment = try AdvertisingDataFragment(from: &reader)
  }
  /// Writes the parameters.
  public func write(to writer: inout OctetWriter) { fragment.write(to: &writer) }
}
