/// A part of a packet. A type describes its octets once, in `code(with:)`; this description serves for reading and
/// writing.
package protocol PacketField {
  /// A value about to be read.
  init()
  /// Passes the fields to the coder, in sending order.
  mutating func code(with coder: inout OctetCoder)
}

/// The parameters of a command or an event, a command's returned ones, or a repeated group of them.
package protocol PacketParameters: PacketField, Hashable, Sendable {}

extension PacketParameters {
  /// Parameters; the closure sets the values that differ from the defaults.
  package init(_ configure: (inout Self) -> Void) {
    self.init()
    configure(&self)
  }

  /// Reads the parameters. Octets after them are ignored, as later versions append fields.
  /// - Throws: `.truncated` if the octets end too early, `.invalidValue` for an undefined value.
  package init(decoding octets: [UInt8]) throws(HCICodingError) {
    var coder = OctetCoder(reading: octets)
    self = try coder.read()
  }

  /// The parameters as they are sent.
  package var octets: [UInt8] {
    var coder = OctetCoder()
    coder.write(self)
    return coder.octets
  }
}

/// A packet without parameters.
package protocol WithoutParameters: PacketParameters {}

extension WithoutParameters {
  package mutating func code(with coder: inout OctetCoder) {}
}

/// The reason why octets are not a packet, a command or an event.
package enum HCICodingError: Error, Hashable, Sendable {
  /// The octets end `missing` octets too early.
  case truncated(missing: Int)
  /// There are `count` octets behind the end.
  case trailingOctets(count: Int)
  /// A field has an undefined value.
  case invalidValue(UInt64)
  /// The packet type is none of command, ACL data and event.
  case unknownPacketType(UInt8)
}

/// Reads or writes a packet's fields in sequence, least significant octet first.
///
/// Reading never goes beyond the end. After the first field that does, or that has an undefined value, nothing more is
/// read, and `read` throws; so descriptions need not check each field.
package struct OctetCoder {
  /// The octets read or written.
  package private(set) var octets: [UInt8]
  private var position: Int
  private var error: HCICodingError?
  /// True if fields get their values from the octets.
  package let isReading: Bool

  /// Reads these octets, or the octets from a position on.
  package init(reading octets: [UInt8], from position: Int = 0) {
    self.octets = octets
    self.position = min(position, octets.count)
    isReading = true
  }

  /// Writes; more than `capacity` octets need more time.
  package init(capacity: Int = 64) {
    octets = []
    octets.reserveCapacity(capacity)
    position = 0
    isReading = false
  }

  // MARK: - Whole values

  /// Reads a value.
  package mutating func read<Value: PacketField>() throws(HCICodingError) -> Value {
    var value = Value()
    value.code(with: &self)
    if let error { throw error }
    return value
  }

  /// Writes a value.
  package mutating func write(_ value: some PacketField) {
    var value = value
    value.code(with: &self)
  }

  /// Throws if octets are left.
  package func end() throws(HCICodingError) {
    guard position == octets.count else { throw .trailingOctets(count: octets.count - position) }
  }

  /// Records that the field just read is invalid. The first error counts; nothing is left to read after it.
  package mutating func fail(_ error: HCICodingError) {
    if self.error == nil { self.error = error }
    position = octets.count
  }

  // MARK: - Fields

  /// The start of the next `count` octets; nil if there are fewer.
  private mutating func advance(_ count: Int) -> Int? {
    let start = position
    let remaining = octets.count &- start
    guard count <= remaining else {
      fail(.truncated(missing: count - remaining))
      return nil
    }
    position = start &+ count
    return start
  }

  /// A number of as many octets as its type has, or of `count`.
  package mutating func number<Number: FixedWidthInteger>(
    _ value: inout Number, octets count: Int = Number.bitWidth / 8
  ) {
    if isReading {
      guard let start = advance(count) else { return }
      var bits: UInt64 = 0
      for index in 0..<count { bits |= UInt64(octets[start &+ index]) &<< UInt64(8 &* index) }
      value = Number(truncatingIfNeeded: bits)
    } else {
      let bits = UInt64(truncatingIfNeeded: value)
      for index in 0..<count { octets.append(UInt8(truncatingIfNeeded: bits &>> UInt64(8 &* index))) }
    }
  }

  /// Exactly `count` octets. When written, the excess is dropped, and missing octets are zero.
  package mutating func octets(_ value: inout [UInt8], count: Int) {
    if isReading {
      guard let start = advance(count) else { return }
      value = Array(octets[start..<(start + count)])
    } else {
      octets.append(contentsOf: value.count <= count ? value[...] : value[..<count])
      if value.count < count { octets.append(contentsOf: repeatElement(0, count: count - value.count)) }
    }
  }

  /// Octets after their number, without a copy when they are read.
  package mutating func octets<Count: FixedWidthInteger>(_ value: inout ArraySlice<UInt8>, countedBy: Count.Type) {
    var count = Count(clamping: value.count)
    number(&count)
    if isReading {
      guard let start = advance(Int(count)) else { return }
      value = octets[start..<(start &+ Int(count))]
    } else {
      octets.append(contentsOf: value.prefix(Int(count)))
    }
  }

  /// Octets after their number. When written, elements beyond `limit` are dropped.
  package mutating func octets<Count: FixedWidthInteger>(
    _ value: inout [UInt8], countedBy: Count.Type, limit: Int = Int(Count.max)
  ) {
    var count = Count(clamping: min(value.count, limit))
    number(&count)
    octets(&value, count: Int(count))
  }

  /// All remaining octets.
  package mutating func rest(_ value: inout [UInt8]) {
    octets(&value, count: isReading ? octets.count - position : value.count)
  }

  /// So many groups of fields.
  package mutating func groups<Group: PacketField>(_ value: inout [Group], count: Int) {
    if isReading {
      value = []
      for _ in 0..<count where error == nil {
        var group = Group()
        group.code(with: &self)
        value.append(group)
      }
    } else {
      for group in value.prefix(count) { write(group) }
    }
  }

  /// Groups of fields after their number. When written, elements beyond `limit` are dropped.
  package mutating func groups<Group: PacketField, Count: FixedWidthInteger>(
    _ value: inout [Group], countedBy: Count.Type, limit: Int = Int(Count.max)
  ) {
    var count = Count(clamping: min(value.count, limit))
    number(&count)
    groups(&value, count: Int(count))
  }
}

// Several fields at once; a parameter pack cannot be `inout`.
extension OctetCoder {
  package mutating func fields(_ a: inout some PacketField) { a.code(with: &self) }

  package mutating func fields(_ a: inout some PacketField, _ b: inout some PacketField) {
    a.code(with: &self)
    b.code(with: &self)
  }

  package mutating func fields(_ a: inout some PacketField, _ b: inout some PacketField, _ c: inout some PacketField) {
    fields(&a, &b)
    c.code(with: &self)
  }

  package mutating func fields(
    _ a: inout some PacketField, _ b: inout some PacketField, _ c: inout some PacketField, _ d: inout some PacketField
  ) {
    fields(&a, &b)
    fields(&c, &d)
  }

  package mutating func fields(
    _ a: inout some PacketField, _ b: inout some PacketField, _ c: inout some PacketField, _ d: inout some PacketField,
    _ e: inout some PacketField
  ) {
    fields(&a, &b, &c, &d)
    e.code(with: &self)
  }

  package mutating func fields(
    _ a: inout some PacketField, _ b: inout some PacketField, _ c: inout some PacketField, _ d: inout some PacketField,
    _ e: inout some PacketField, _ f: inout some PacketField
  ) {
    fields(&a, &b, &c, &d)
    fields(&e, &f)
  }
}

extension PacketField where Self: FixedWidthInteger {
  package mutating func code(with coder: inout OctetCoder) { coder.number(&self) }
}

extension UInt8: PacketField {}
extension Int8: PacketField {}
extension UInt16: PacketField {}
extension UInt32: PacketField {}
extension UInt64: PacketField {}

extension Bool: PacketField {
  /// An octet that is 0 or 1.
  package mutating func code(with coder: inout OctetCoder) {
    var octet: UInt8 = self ? 1 : 0
    coder.number(&octet)
    if octet > 1 { coder.fail(.invalidValue(UInt64(octet))) }
    self = octet == 1
  }
}

extension PacketField where Self: RawRepresentable, RawValue: FixedWidthInteger {
  /// The raw value; an undefined one is refused.
  package mutating func code(with coder: inout OctetCoder) {
    var number = rawValue
    coder.number(&number)
    if let value = Self(rawValue: number) { self = value } else { coder.fail(.invalidValue(UInt64(number))) }
  }
}
