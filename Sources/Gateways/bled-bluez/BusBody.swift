import BlueZ
import CSystemd
import Glibc

/// Reads and writes the message bodies of sd-bus(3).
struct BusBody {
  /// A body has more values than any program sends.
  struct TooMany: Error {}

  /// Maximum values of a body: in memory they are larger than on the bus, where 128 MiB are allowed.
  private static let maximum = 65536

  /// The size of a value and of a descriptor, in octets: a descriptor is scarcer than memory.
  private static let (valueSize, descriptorSize) = (64, 16384)

  private let message: OpaquePointer
  private var count = 0
  /// The approximate size of the values in memory, in octets.
  private var size = 0

  /// Reads the body of a message from its start.
  /// - Throws: `TooMany`.
  static func read(_ message: OpaquePointer) throws(TooMany) -> [BusValue] { try sized(message).values }

  /// Reads the body of a message from its start, and returns its approximate size in memory, in octets.
  /// - Throws: `TooMany`.
  static func sized(_ message: OpaquePointer) throws(TooMany) -> (values: [BusValue], size: Int) {
    var body = BusBody(message: message)
    sd_bus_message_rewind(message, 1)
    return (try body.values(), body.size)
  }

  private init(message: OpaquePointer) { self.message = message }

  /// The values up to the end of the container.
  private mutating func values() throws(TooMany) -> [BusValue] {
    var values: [BusValue] = []
    while let value = try next() { values.append(value) }
    return values
  }

  private mutating func next() throws(TooMany) -> BusValue? {
    var type: CChar = 0
    var contents: UnsafePointer<CChar>?
    guard sd_bus_message_peek_type(message, &type, &contents) > 0 else { return nil }
    count += 1
    size += Self.valueSize
    guard count <= Self.maximum else { throw TooMany() }
    let inner = contents.map { String(cString: $0) } ?? ""
    switch UInt8(truncatingIfNeeded: type) {
    case UInt8(ascii: "a"): return try array(inner)
    case UInt8(ascii: "v"):
      return try inside(UInt8(ascii: "v"), inner) { (body) throws(TooMany) in try body.next() }.map(BusValue.variant)
    case UInt8(ascii: "r"):
      return try inside(UInt8(ascii: "r"), inner) { (body) throws(TooMany) in try body.values() }
        .map(BusValue.structure)
    case let basic: return self.basic(basic)
    }
  }

  private mutating func array(_ element: String) throws(TooMany) -> BusValue? {
    if element == "y" {
      var start: UnsafeRawPointer?
      var size = 0
      guard sd_bus_message_read_array(message, CChar(UInt8(ascii: "y")), &start, &size) >= 0 else { return nil }
      self.size += size
      return .bytes(Array(UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : size)))
    }
    guard element.utf8.first == UInt8(ascii: "{") else {
      return try inside(UInt8(ascii: "a"), element) { (body) throws(TooMany) in try body.values() }
        .map { .array(of: element, $0) }
    }
    let pair = String(element.dropFirst().dropLast())
    return try inside(UInt8(ascii: "a"), element) { (body) throws(TooMany) in
      var entries: [BusValue.Entry] = []
      while let entry = try body.inside(
        UInt8(ascii: "e"), pair, { (body) throws(TooMany) in try body.values() }), entry.count == 2
      {
        entries.append(BusValue.Entry(entry[0], entry[1]))
      }
      // The key is of a basic type, of one letter.
      return BusValue.dictionary(key: String(pair.prefix(1)), value: String(pair.dropFirst()), entries)
    }
  }

  /// Enters a container, and leaves it.
  private mutating func inside<Value>(
    _ type: UInt8, _ contents: String, _ read: (inout BusBody) throws(TooMany) -> Value?
  ) throws(TooMany) -> Value? {
    guard sd_bus_message_enter_container(message, CChar(type), contents) > 0 else { return nil }
    let value = try read(&self)
    sd_bus_message_exit_container(message)
    return value
  }

  private mutating func basic(_ type: UInt8) -> BusValue? {
    switch type {
    case UInt8(ascii: "y"): number(type, UInt8.self).map(BusValue.byte)
    case UInt8(ascii: "b"): number(type, Int32.self).map { .boolean($0 != 0) }
    case UInt8(ascii: "n"): number(type, Int16.self).map(BusValue.int16)
    case UInt8(ascii: "q"): number(type, UInt16.self).map(BusValue.uint16)
    case UInt8(ascii: "i"): number(type, Int32.self).map(BusValue.int32)
    case UInt8(ascii: "u"): number(type, UInt32.self).map(BusValue.uint32)
    case UInt8(ascii: "x"): number(type, Int64.self).map(BusValue.int64)
    case UInt8(ascii: "t"): number(type, UInt64.self).map(BusValue.uint64)
    case UInt8(ascii: "d"): double(type).map(BusValue.double)
    case UInt8(ascii: "s"): text(type).map(BusValue.string)
    case UInt8(ascii: "o"): text(type).map(BusValue.path)
    case UInt8(ascii: "g"): text(type).map(BusValue.signature)
    // The message keeps its own.
    case UInt8(ascii: "h"):
      descriptor(type)
    default: nil
    }
  }

  private func number<Number: FixedWidthInteger>(_ type: UInt8, _: Number.Type) -> Number? {
    var number: Number = 0
    return sd_bus_message_read_basic(message, CChar(type), &number) > 0 ? number : nil
  }

  private func double(_ type: UInt8) -> Double? {
    var number = 0.0
    return sd_bus_message_read_basic(message, CChar(type), &number) > 0 ? number : nil
  }

  private mutating func descriptor(_ type: UInt8) -> BusValue? {
    guard let number = number(type, Int32.self) else { return nil }
    size += Self.descriptorSize
    let copy = fcntl(number, F_DUPFD_CLOEXEC, 3)
    return copy < 0 ? nil : .descriptor(BusDescriptor(taking: copy))
  }

  private mutating func text(_ type: UInt8) -> String? {
    var text: UnsafePointer<CChar>?
    guard sd_bus_message_read_basic(message, CChar(type), &text) > 0, let text else { return nil }
    let string = String(cString: text)
    size += string.utf8.count
    return string
  }
}
