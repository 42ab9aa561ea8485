/// An object's members in a file, by their known names; unknown names are an error.
public struct FileMembers<Name: RawRepresentable & CaseIterable & Sendable>: Sendable where Name.RawValue == String {
  /// The object itself.
  public let object: FileValue
  /// By their names' octets.
  private let values: [[UInt8]: FileValue]

  /// Reads an object.
  /// - Throws: if the value is not an object, or has a member with a name missing in `Name`.
  public init(_ object: FileValue, _: Name.Type = Name.self) throws(FileError) {
    self.object = object
    var values: [[UInt8]: FileValue] = [:]
    let known = Set(Name.allCases.map { Array($0.rawValue.utf8) })
    for member in try object.members() {
      let octets = Array(member.name.utf8)
      guard known.contains(octets) else { throw member.unknown(Name.allCases.map(\.rawValue)) }
      values[octets] = member.value.isNull ? nil : member.value
    }
    self.values = values
  }

  /// A member's value; nil if it is missing or `null`.
  public subscript(_ name: Name) -> FileValue? { values[Array(name.rawValue.utf8)] }

  /// The error about a faulty or missing member.
  /// - Parameter message: the fault and the remedy, in lower case without a period.
  public func failure(_ name: Name, _ message: String) -> FileError {
    self[name]?.failure(message) ?? object.missing(name.rawValue, message)
  }

  /// A required member's value.
  public func value(_ name: Name) throws(FileError) -> FileValue {
    guard let value = self[name] else { throw object.failure("\"\(name.rawValue)\" is missing: add it") }
    return value
  }

  /// A required member.
  public func required<Value: ReadableFromFile>(_ name: Name, _: Value.Type = Value.self) throws(FileError) -> Value {
    try Value(try value(name))
  }

  /// An optional member.
  public func optional<Value: ReadableFromFile>(_ name: Name, _: Value.Type = Value.self) throws(FileError) -> Value? {
    guard let value = self[name] else { return nil }
    return try Value(value)
  }

  /// An optional member, converted by `read`.
  public func optional<Value>(
    _ name: Name, _ read: (FileValue) throws(FileError) -> Value
  ) throws(FileError) -> Value? {
    guard let value = self[name] else { return nil }
    return try read(value)
  }

  /// An optional member with a default value.
  public func value<Value: ReadableFromFile>(_ name: Name, default standard: Value) throws(FileError) -> Value {
    try optional(name) ?? standard
  }

  /// A number within a range; required unless there is a default.
  public func number(
    _ name: Name, in range: ClosedRange<Double>, default standard: Double? = nil
  ) throws(FileError) -> Double {
    if let standard, self[name] == nil { return standard }
    return try value(name).number(in: range)
  }

  /// A whole number within a range; required unless there is a default.
  public func integer<Integer: FixedWidthInteger>(
    _ name: Name, in range: ClosedRange<Integer>, default standard: Integer? = nil
  ) throws(FileError) -> Integer {
    if let standard, self[name] == nil { return standard }
    return try value(name).integer(in: range)
  }

  /// A time in seconds within a range; required unless there is a default.
  public func seconds(
    _ name: Name, in range: ClosedRange<Double>, default standard: Double? = nil
  ) throws(FileError) -> Duration {
    .seconds(try number(name, in: range, default: standard))
  }

  /// A word from a list; required unless there is a default.
  public func word<Word: RawRepresentable & CaseIterable>(
    _ name: Name, default standard: Word? = nil
  ) throws(FileError) -> Word where Word.RawValue == String {
    if let standard, self[name] == nil { return standard }
    return try value(name).word()
  }
}
