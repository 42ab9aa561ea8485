import BledRPC

/// The limits of a number that its Swift type does not express: its range, and its unit.
struct Limits: Equatable {
  /// The units of numbers, as `x-unit` spells them.
  enum Unit: String {
    case seconds = "s"
    case dBm
    case octets
  }

  /// The least number.
  private(set) var minimum: JSONValue?
  /// The greatest number.
  private(set) var maximum: JSONValue?
  /// The unit.
  private(set) var unit: Unit?

  /// Whole numbers of a range.
  static func integers(_ range: ClosedRange<Int>, _ unit: Unit? = nil) -> Limits {
    Limits(minimum: .integer(range.lowerBound), maximum: .integer(range.upperBound), unit: unit)
  }

  /// Numbers of a range.
  static func numbers(_ range: ClosedRange<Double>, _ unit: Unit) -> Limits {
    Limits(minimum: number(range.lowerBound), maximum: number(range.upperBound), unit: unit)
  }

  /// Numbers without an upper limit.
  static func atLeast(_ minimum: Int, _ unit: Unit? = nil) -> Limits {
    Limits(minimum: .integer(minimum), maximum: nil, unit: unit)
  }

  /// Any numbers of a unit.
  static func any(_ unit: Unit) -> Limits { Limits(minimum: nil, maximum: nil, unit: unit) }

  private static func number(_ number: Double) -> JSONValue {
    Int(exactly: number).map { .integer($0) } ?? .number(number)
  }

  /// The range as a member's words state it: "0.02 to 10.24"; nil if the range has no upper limit.
  var words: String? {
    guard let minimum, let maximum else { return nil }
    return "\(Self.text(minimum)) to \(Self.text(maximum))"
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .integer(let integer): "\(integer)"
    case .number(let number): "\(number)"
    default: ""
    }
  }

  /// The schema of a number within these limits, or of a list of such numbers.
  func apply(to schema: JSONValue) -> JSONValue {
    guard case .object(var members) = schema else { return schema }
    switch members["type"] {
    case "array": members["items"] = members["items"].map(apply)
    case "integer", "number":
      members["minimum"] = minimum ?? members["minimum"]
      members["maximum"] = maximum ?? members["maximum"]
      members["x-unit"] = unit.map { .text($0.rawValue) }
    default: break
    }
    return .object(members)
  }
}
