import AssignedValues
import Bluetooth

/// A value that was read by a format.
public struct FormattedValue: Hashable, Sendable {
  /// A part of it.
  public struct Field: Hashable, Sendable {
    /// nil: it is the whole value.
    public var name: String?
    /// Its data.
    public var content: Content
    /// For people, without the unit.
    public var text: String
    /// Empty for none.
    public var unit: String
  }

  /// The data of a field.
  public enum Content: Hashable, Sendable {
    /// Finite.
    case number(Double)
    case flag(Bool)
    /// The names of bits that are set.
    case words([String])
    case text(String)
  }

  /// Its fields, as many as the format has.
  public let fields: [Field]

  /// "22.60 °C", or with several fields "state 3, temperature 22.60 °C".
  public var text: String {
    fields.map { field in
      [field.name, field.text, field.unit].compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }.joined(separator: ", ")
  }

  /// The first of its numbers, with the unit.
  public var quantity: (number: Double, unit: String)? {
    for field in fields { if case .number(let number) = field.content { return (number, field.unit) } }
    return nil
  }
}

extension ValueFormat {
  /// Reads a value.
  /// - Returns: nil if it is too short, or a text is not UTF-8. Octets behind the last field are ignored.
  public func read(_ value: [UInt8]) -> FormattedValue? {
    var place = 0
    var read: [FormattedValue.Field] = []
    for field in fields {
      place = field.offset ?? place
      let length = field.type.octets ?? max(0, value.count - place)
      guard place <= value.count, length <= value.count - place else { return nil }
      guard let content = field.read(Array(value[place..<(place + length)])) else { return nil }
      read.append(content)
      place += length
    }
    return FormattedValue(fields: read)
  }
}

extension ValueFormat.FieldType {
  /// Its number of octets; nil: all remaining ones.
  fileprivate var octets: Int? {
    switch self {
    case .integer(let integer, _), .flags(let integer, _), .choice(let integer, _): integer.octets
    case .float(let octets, _), .medicalFloat(let octets): octets
    case .flag: 1
    case .text(let octets), .octets(let octets): octets
    }
  }
}

extension ValueFormat.Field {
  /// - Parameter octets: As many as its type has.
  fileprivate func read(_ octets: [UInt8]) -> FormattedValue.Field? {
    switch type {
    case .integer(let integer, false) where steps.isEmpty:
      let number = integer.unsigned(octets)
      return field(.number(Double(number)), "\(number)")
    case .integer(let integer, let isSigned):
      return number(isSigned ? .signed(integer.signed(octets)) : .unsigned(integer.unsigned(octets)))
    case .float(4, let isBig):
      let bits = ValueFormat.Integer(bits: 32, isBigEndian: isBig).unsigned(octets)
      return number(.binary(Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits))), digits: 7))
    case .float(_, let isBig):
      let bits = ValueFormat.Integer(bits: 64, isBigEndian: isBig).unsigned(octets)
      return number(.binary(Double(bitPattern: bits), digits: 15))
    case .medicalFloat: return medical(octets)
    case .flag:
      let flag = octets.contains { $0 != 0 }
      return field(.flag(flag), flag ? "yes" : "no")
    case .flags(let integer, let names):
      let words = Self.words(integer.unsigned(octets), names)
      return field(.words(words), words.isEmpty ? "none" : words.joined(separator: "+"))
    case .choice(let integer, let names):
      let number = integer.unsigned(octets)
      let text = names[number] ?? "\(number)"
      return field(.text(text), text)
    case .text:
      guard let text = String(validating: octets.prefix { $0 != 0 }, as: UTF8.self) else { return nil }
      return field(.text(text), text)
    case .octets:
      let text = Hex.encode(octets)
      return field(.text(text), text)
    }
  }

  private func field(_ content: FormattedValue.Content, _ text: String) -> FormattedValue.Field {
    FormattedValue.Field(name: name, content: content, text: text, unit: unit)
  }

  private static func words(_ bits: UInt64, _ names: [String]) -> [String] {
    (0..<64).compactMap { bit in
      guard bits >> UInt64(bit) & 1 != 0 else { return nil }
      return bit < names.count && !names[bit].isEmpty ? names[bit] : "bit \(bit)"
    }
  }

  private func medical(_ octets: [UInt8]) -> FormattedValue.Field? {
    let bits = UInt32(truncatingIfNeeded: ValueFormat.Integer(bits: octets.count * 8).unsigned(octets))
    let float =
      octets.count == 2 ? MedicalFloat(sfloat: UInt16(truncatingIfNeeded: bits)) : MedicalFloat(float: bits)
    guard case .number(let mantissa, let exponent) = float else { return field(.text("\(float)"), "\(float)") }
    if let exact = ExactNumber(Int64(mantissa), exponent: Int(exponent)) { return number(.exact(exact)) }
    return number(.binary(float.value ?? .nan, digits: 7))
  }

  /// A number on its way through the steps.
  private enum Number {
    case exact(ExactNumber)
    case binary(Double, digits: Int)

    static func signed(_ number: Int64) -> Number {
      ExactNumber(number).map { .exact($0) } ?? .binary(Double(number), digits: 15)
    }

    static func unsigned(_ number: UInt64) -> Number {
      Int64(exactly: number).map { .signed($0) } ?? .binary(Double(number), digits: 15)
    }

    var value: Double {
      switch self {
      case .exact(let number): number.value
      case .binary(let number, _): number
      }
    }

    var digits: Int { if case .binary(_, let digits) = self { digits } else { 15 } }

    func after(_ step: ValueFormat.Step) -> Number {
      if case .exact(let number) = self {
        switch step {
        case .times(let other): if let product = number.times(other) { return .exact(product) }
        case .plus(let other): if let sum = number.plus(other) { return .exact(sum) }
        case .over: break
        }
      }
      switch step {
      case .times(let other): return .binary(value * other.value, digits: digits)
      case .plus(let other): return .binary(value + other.value, digits: digits)
      case .over(let other): return .binary(value / other.value, digits: 7)
      }
    }
  }

  private func number(_ raw: Number) -> FormattedValue.Field {
    switch steps.reduce(raw, { $0.after($1) }) {
    case .exact(let number): return field(.number(number.value), number.text)
    case .binary(let number, let digits):
      let rounded = RoundedNumber(number, digits: digits)
      return field(rounded.value.isFinite ? .number(rounded.value) : .text(rounded.text), rounded.text)
    }
  }
}

extension ValueFormat.Integer {
  fileprivate func unsigned(_ octets: [UInt8]) -> UInt64 {
    let ordered = isBigEndian ? octets : octets.reversed()
    let all = ordered.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    return bits < 64 ? all & (1 << UInt64(bits) - 1) : all
  }

  fileprivate func signed(_ octets: [UInt8]) -> Int64 {
    let unused = UInt64(64 - bits)
    return Int64(bitPattern: unsigned(octets) << unused) >> Int64(unused)
  }
}
