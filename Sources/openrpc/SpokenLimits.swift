import BledRPC

/// Limits of a member's values that its description states, in a form that programs understand:
///
/// - of a number its range, "0.02 to 10.24" or "1 or more", and its unit, "in seconds"; what is counted ("How many …",
///   "The number of …") is 0 or more;
/// - of a text the words that it can be, in double quotes: two or more. An example is quoted alone, or with backticks.
struct SpokenLimits: Equatable {
  /// The least number.
  private(set) var minimum: JSONValue?
  /// The greatest number.
  private(set) var maximum: JSONValue?
  /// The unit of a number.
  private(set) var unit: String?
  /// The texts that there are; fewer than two if any text is possible.
  private(set) var texts: [JSONValue] = []

  private static let units = ["seconds": "s", "milliseconds": "ms", "dBm": "dBm", "octets": "octets", "percent": "%"]

  /// Reads the words.
  init(_ words: String) {
    let quoted = words.split(separator: "\"", omittingEmptySubsequences: false).enumerated()
    for (index, text) in quoted where index % 2 == 1 && !texts.contains(.text(String(text))) {
      texts.append(.text(String(text)))
    }
    let tokens = words.split(separator: " ").map { $0.filter { !",;:()".contains($0) } }
      .map { $0.last == "." ? String($0.dropLast()) : $0 }
    unit = tokens.lazy.compactMap { Self.units[$0] ?? Self.units[$0.lowercased()] }.first
    for index in tokens.indices.dropLast(2) {
      guard let first = Self.number(tokens[index]) else { continue }
      if tokens[index + 1] == "to", let last = Self.number(tokens[index + 2]) {
        (minimum, maximum) = (first, last)
        return
      }
      if tokens[index + 1] == "or", tokens[index + 2] == "more" {
        minimum = first
        return
      }
    }
    let counts = words.hasPrefix("How many ") || words.hasPrefix("The number of ")
    if counts { minimum = 0 }
  }

  private static func number(_ text: String) -> JSONValue? {
    if let integer = Int(text) { return .integer(integer) }
    return Double(text).map { .number($0) }
  }

  /// A schema with what they say of its values, or of its elements if it is of a list.
  func apply(to schema: JSONValue) -> JSONValue {
    guard case .object(var members) = schema else { return schema }
    switch members["type"] {
    case "array": members["items"] = members["items"].map(apply)
    case "integer", "number":
      members["minimum"] = minimum ?? members["minimum"]
      members["maximum"] = maximum ?? members["maximum"]
      members["x-unit"] = unit.map { .text($0) }
    case "string" where members["enum"] == nil && texts.count > 1: members["enum"] = .array(texts)
    default: break
    }
    return .object(members)
  }
}
