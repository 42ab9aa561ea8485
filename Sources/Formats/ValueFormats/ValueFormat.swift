/// The format of a value: one field, or several, each with a name.
///
/// Its text is one field, or several with commas between them:
///
///     field   = type ["@" offset] [" " name] {step} [" " unit]
///     type    = "u" bits [order] | "i" bits [order]         integers of 1 to 64 bits; also uint, int, sint
///             | "f32" [order] | "f64" [order]               IEEE 754; also float32, float64
///             | "medfloat16" | "medfloat32"                 IEEE 11073
///             | "bool"                                      an octet: 0 is no
///             | "flags" bits [order] "(" names ")"          a name for each bit, the lowest first
///             | "enum" bits [order] "(" choices ")"         a name, or number=name, for each number from 0 on
///             | "text" ["[" octets "]"] | "hex" ["[" octets "]"]
///     order   = "le" | "be"                                 "le" if it is missing
///     step    = ("*" | "/" | "+" | "-") decimal             for numbers, from left to right
///     names, choices: with "|" between them
///
/// Fields follow each other unless an offset, in octets from the start, says otherwise. A single field has no name,
/// unless a step follows it; each of several has one.
public struct ValueFormat: Hashable, Sendable {
  /// A part of a value.
  public struct Field: Hashable, Sendable {
    /// nil: it is the whole value.
    public var name: String?
    /// The octets, and their meaning.
    public var type: FieldType
    /// The number of octets before it; nil: it follows the field before it.
    public var offset: Int?
    /// The arithmetic on its number.
    public var steps: [Step]
    /// The unit of the result; empty for none.
    public var unit: String

    /// Makes a field.
    public init(
      name: String? = nil, type: FieldType, offset: Int? = nil, steps: [Step] = [], unit: String = ""
    ) {
      (self.name, self.type, self.offset, self.steps, self.unit) = (name, type, offset, steps, unit)
    }
  }

  /// The octets of a field, and their meaning.
  public enum FieldType: Hashable, Sendable {
    /// An integer in as many octets as its bits need.
    case integer(Integer, isSigned: Bool)
    /// A number of IEEE 754 in 4 or 8 octets.
    case float(octets: Int, isBigEndian: Bool)
    /// A number of IEEE 11073 in 2 or 4 octets.
    case medicalFloat(octets: Int)
    /// An octet that is 0 or not.
    case flag
    /// Bits with names, the lowest first; an empty name stands for a bit without one.
    case flags(Integer, [String])
    /// Numbers with names.
    case choice(Integer, [UInt64: String])
    /// UTF-8 up to a NUL or the end, in as many octets, or in all that are left.
    case text(octets: Int?)
    /// Octets as they are.
    case octets(Int?)

    /// True if arithmetic can follow.
    public var isNumber: Bool {
      switch self {
      case .integer, .float, .medicalFloat: true
      case .flag, .flags, .choice, .text, .octets: false
      }
    }
  }

  /// The place of an integer.
  public struct Integer: Hashable, Sendable {
    /// 1 to 64; unused bits of the highest octet are ignored.
    public var bits: Int
    /// True if the most significant octet comes first.
    public var isBigEndian: Bool

    /// Its length.
    public var octets: Int { (bits + 7) / 8 }

    /// Makes one.
    public init(bits: Int, isBigEndian: Bool = false) { (self.bits, self.isBigEndian) = (bits, isBigEndian) }
  }

  /// A step of the arithmetic on a number.
  public enum Step: Hashable, Sendable {
    case times(ExactNumber)
    case over(ExactNumber)
    case plus(ExactNumber)
  }

  /// The fields, one or more.
  public let fields: [Field]

  init(fields: [Field]) { self.fields = fields }
}

/// A format that cannot be read: the fault and its remedy.
public struct ValueFormatError: Error, Hashable, Sendable, CustomStringConvertible {
  /// In lower case without a period.
  public let description: String
}
