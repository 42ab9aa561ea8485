/// The members of one object of a file, by names that are known; others are refused.
public struct FileMembers<Name: RawRepresentable & CaseIterable & Sendable>: Sendable where Name.RawValue == String {
  /// The object itself.
  public let object: FileValue
  /// By the octets of their names.
  private let values: [[UInt8]: FileValue]

  /// Looks at an object.
  /// - Throws: if it is none, or has a member that is no `Name`.
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

  /// The value of a member; nil if it is missing or `null`.
  public subscript(_ name: Name) -> FileValue? { values[Array(name.rawValue.utf8)] }

  /// The error that says what is wrong with a member, or with its not being there.
  /// - Parameter message: a sentence, which says what to do.
  public func failure(_ name: Name, _ message: String) -> FileError {
    self[name]?.failure(message) ?? object.missing(name.rawValue, message)
  }

  /// The value of a member that must be there.
  public func value(_ name: Name) throws(FileError) -> FileValue {
    guard let value = self[name] else { throw object.failure("\"\(name.rawValue)\" is missing: add it.") }
    return value
  }

  /// A member that must be there.
  public func required<Value: ReadableFromFile>(_ name: Name, _: Value.Type = Value.self) throws(FileError) -> Value {
    try Value(try value(name))
  }

  /// A member that may be missing.
  public func optional<Value: ReadableFromFile>(_ name: Name, _: Value.Type = Value.self) throws(FileError) -> Value? {
    guard let value = self[name] else { return nil }
    return try Value(value)
  }

  /// A member that may be missing, of a form that `read` knows.
  public func optional<Value>(
    _ name: Name, _ read: (FileValue) throws(FileError) -> Value
  ) throws(FileError) -> Value? {
    guard let value = self[name] else { return nil }
    return try read(value)
  }

  /// A member that has a value without being there.
  public func value<Value: ReadableFromFile>(_ name: Name, default standard: Value) throws(FileError) -> Value {
    try optional(name) ?? standard
  }

  /// A number within a range; without a default it must be there.
  public func number(
    _ name: Name, in range: ClosedRange<Double>, default standard: Double? = nil
  ) throws(FileError) -> Double {
    if let standard, self[name] == nil { return standard }
    return try value(name).number(in: range)
  }

  /// A whole number within a range; without a default it must be there.
  public func integer<Integer: FixedWidthInteger>(
    _ name: Name, in range: ClosedRange<Integer>, default standard: Integer? = nil
  ) throws(FileError) -> Integer {
    if let standard, self[name] == nil { return standard }
    return try value(name).integer(in: range)
  }

  /// A time in seconds within a range; without a default it must be there.
  public func seconds(
    _ name: Name, in range: ClosedRange<Double>, default standard: Double? = nil
  ) throws(FileError) -> Duration {
    .seconds(try number(name, in: range, default: standard))
  }

  /// One of several words; without a default it must be there.
  public func word<Word: RawRepresentable & CaseIterable>(
    _ name: Name, default standard: Word? = nil
  ) throws(FileError) -> Word where Word.RawValue == String {
    if let standard, self[name] == nil { return standard }
    return try value(name).word()
  }
}
