/// The assigned numbers and their names: lines such as "uuid 180D Heart Rate" (`AssignedNames+Table.swift`). A company
/// without a line there has its name in the SIG's list (`AssignedNames+Companies.swift`).
package enum AssignedNames {
  /// The kinds of numbers; the raw value is a line's first word.
  package enum Kind: String, CaseIterable, Sendable {
    /// AD types (Assigned Numbers, 2.3); 2 digits.
    case advertisingDataType = "ad"
    /// Categories of appearances, and under each its subcategories (2.6.3); 4 digits.
    case appearance
    /// Short names of common companies (7.1); 4 digits.
    case company
    /// The signs of common units (3.5); 4 digits. "1" is a number without a unit.
    case unit
    /// Services, characteristics, descriptors and declarations (3.4 to 3.8, 3.11) with 4 digits, and 128-bit UUIDs
    /// published by vendors.
    case uuid
  }

  /// A number's name.
  /// - Parameter number: hexadecimal digits in upper case, as many as the kind has.
  /// - Returns: nil if the tables do not hold it.
  package static func name(of number: String, _ kind: Kind) -> String? {
    table.name(of: "\(kind.rawValue) \(number)") ?? (kind == .company ? companies.name(of: number) : nil)
  }

  /// The name of a 16-bit number.
  package static func name(of number: UInt16, _ kind: Kind) -> String? { name(of: digits(number), kind) }

  /// The 16-bit numbers with a name, in upper or lower case, or, if none has it, with a name that begins so; the lowest
  /// first.
  static func numbers(named name: String, _ kind: Kind) -> [UInt16] {
    let found = table.numbers(named: name, "\(kind.rawValue) ")
    return found.isEmpty && kind == .company ? companies.numbers(named: name) : found
  }

  /// The names of all companies, one each.
  static var companyNames: [String] {
    let key = "\(Kind.company.rawValue) "
    return table.names(key) + companies.names { table.name(of: key + $0) == nil }
  }

  private static func digits(_ number: UInt16) -> String {
    Hex.encode([UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]).uppercased()
  }
}
