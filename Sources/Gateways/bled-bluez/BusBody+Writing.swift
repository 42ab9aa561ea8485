import BlueZ
import CSystemd
import Glibc

extension BusBody {
  /// Appends values to a message.
  /// - Throws: `SystemBusError`, for instance for a text that is no UTF-8 or has a zero in it.
  static func append(_ values: [BusValue], to message: OpaquePointer) throws(SystemBusError) {
    for value in values { try append(value, to: message) }
  }

  private static func append(_ value: BusValue, to message: OpaquePointer) throws(SystemBusError) {
    switch value {
    case .byte(let number): try append(number, "y", to: message)
    case .boolean(let flag): try append(Int32(flag ? 1 : 0), "b", to: message)
    case .int16(let number): try append(number, "n", to: message)
    case .uint16(let number): try append(number, "q", to: message)
    case .int32(let number): try append(number, "i", to: message)
    case .uint32(let number): try append(number, "u", to: message)
    case .int64(let number): try append(number, "x", to: message)
    case .uint64(let number): try append(number, "t", to: message)
    case .double(let number): try append(number, "d", to: message)
    case .descriptor(let descriptor): try append(descriptor.number, "h", to: message)
    case .string(let text): try append(text, "s", to: message)
    case .path(let text): try append(text, "o", to: message)
    case .signature(let text): try append(text, "g", to: message)
    case .bytes(let octets):
      let result = octets.withUnsafeBytes {
        sd_bus_message_append_array(message, type("y"), $0.baseAddress, $0.count)
      }
      try SystemBusError.check(result, "append_array")
    case .array(let element, let values): try inside("a", element, message, values)
    case .structure(let members): try inside("r", members.map(\.type).joined(), message, members)
    case .variant(let inner):
      try open("v", inner.type, message)
      try append(inner, to: message)
      try close(message)
    case .dictionary(let key, let value, let entries): try append(entries, key + value, to: message)
    }
  }

  private static func append(
    _ entries: [BusValue.Entry], _ pair: String, to message: OpaquePointer
  ) throws(SystemBusError) {
    try open("a", "{" + pair + "}", message)
    for entry in entries {
      try open("e", pair, message)
      try append(entry.key, to: message)
      try append(entry.value, to: message)
      try close(message)
    }
    try close(message)
  }

  private static func open(
    _ letter: Unicode.Scalar, _ contents: String, _ message: OpaquePointer
  ) throws(SystemBusError) {
    // In place: as an argument a String would be copied first.
    let result = contents.withCString { sd_bus_message_open_container(message, type(letter), $0) }
    try SystemBusError.check(result, "open_container")
  }

  private static func close(_ message: OpaquePointer) throws(SystemBusError) {
    try SystemBusError.check(sd_bus_message_close_container(message), "close_container")
  }

  private static func type(_ letter: Unicode.Scalar) -> CChar { CChar(UInt8(ascii: letter)) }

  private static func inside(
    _ letter: Unicode.Scalar, _ contents: String, _ message: OpaquePointer, _ values: [BusValue]
  ) throws(SystemBusError) {
    try open(letter, contents, message)
    try append(values, to: message)
    try close(message)
  }

  private static func append<Number>(
    _ number: Number, _ letter: Unicode.Scalar, to message: OpaquePointer
  ) throws(SystemBusError) {
    let result = withUnsafeBytes(of: number) { sd_bus_message_append_basic(message, type(letter), $0.baseAddress) }
    try SystemBusError.check(result, "append_basic")
  }

  private static func append(
    _ text: String, _ letter: Unicode.Scalar, to message: OpaquePointer
  ) throws(SystemBusError) {
    let result = text.withCString { sd_bus_message_append_basic(message, type(letter), $0) }
    try SystemBusError.check(result, "append_basic")
  }
}

/// A failed call of sd-bus.
struct SystemBusError: Error, CustomStringConvertible {
  let call: String
  let code: Int32

  var description: String { "sd_bus \(call): \(String(cString: strerror(code)))" }

  /// Passes on a result that is no error.
  @discardableResult
  static func check(_ result: Int32, _ call: String) throws(SystemBusError) -> Int32 {
    guard result >= 0 else { throw SystemBusError(call: call, code: -result) }
    return result
  }
}
