/// The value of Appearance, 0x2A01, and of the AD type with that name (Assigned Numbers, 2.6).
public struct Appearance: RawRepresentable, Hashable, Sendable {
  /// The category in the upper 10 bits, the sub-category in the lower 6.
  public let rawValue: UInt16
  /// Makes an appearance from its number.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// The category's number.
  public var category: UInt16 { rawValue >> 6 }

  /// The assigned name, "Heart Rate Belt"; the category's if only that is known; else nil.
  public var assignedName: String? {
    AssignedNames.name(of: rawValue, .appearance) ?? AssignedNames.name(of: category << 6, .appearance)
  }
}

extension Appearance: CustomStringConvertible {
  /// The assigned name, or the number: "Heart Rate Belt", "0xFFC0".
  public var description: String {
    assignedName
      ?? "0x\(Hex.encode([UInt8(truncatingIfNeeded: rawValue >> 8), UInt8(truncatingIfNeeded: rawValue)]).uppercased())"
  }
}
