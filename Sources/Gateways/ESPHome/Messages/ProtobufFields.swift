/// The fields of a message of Protocol Buffers without repeated fields; the last of a repeated field counts. Missing
/// fields and those of another type have their default value, unknown ones are ignored.
struct ProtobufFields {
  enum WireType: UInt8 {
    case number = 0
    case fixed64 = 1
    case delimited = 2
    case fixed32 = 5
  }

  private enum Value {
    case number(UInt64)
    case octets(ArraySlice<UInt8>)
  }

  /// No message has a field with a higher number.
  private static let highest = 31

  private var values: [UInt64: Value] = [:]

  /// - Returns: nil if the octets are no such message.
  init?(_ payload: [UInt8]) {
    var rest = payload[...]
    while !rest.isEmpty {
      guard let tag = Self.number(&rest), let type = WireType(rawValue: UInt8(tag & 7)),
        let value = Self.value(type, &rest)
      else { return nil }
      if tag >> 3 <= Self.highest { values[tag >> 3] = value }
    }
  }

  func number(_ field: UInt64) -> UInt64 {
    if case .number(let number) = values[field] { number } else { 0 }
  }

  /// The low 32 bits, as the specification has it.
  func number32(_ field: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: number(field)) }

  func flag(_ field: UInt64) -> Bool { number(field) != 0 }

  func bytes(_ field: UInt64) -> [UInt8] {
    if case .octets(let octets) = values[field] { Array(octets) } else { [] }
  }

  private static func value(_ type: WireType, _ rest: inout ArraySlice<UInt8>) -> Value? {
    switch type {
    case .number: number(&rest).map(Value.number)
    case .fixed32: read(4, &rest).map(Value.octets)
    case .fixed64: read(8, &rest).map(Value.octets)
    case .delimited: number(&rest).flatMap { Int(exactly: $0) }.flatMap { read($0, &rest) }.map(Value.octets)
    }
  }

  private static func read(_ count: Int, _ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    guard count <= rest.count else { return nil }
    defer { rest = rest.dropFirst(count) }
    return rest.prefix(count)
  }

  private static func number(_ rest: inout ArraySlice<UInt8>) -> UInt64? {
    var number: UInt64 = 0
    for place in 0..<10 {
      guard let octet = rest.popFirst() else { return nil }
      number |= UInt64(octet & 0x7F) << (7 * UInt64(place))
      if octet & 0x80 == 0 { return number }
    }
    return nil
  }
}
