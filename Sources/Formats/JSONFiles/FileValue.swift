import Bluetooth

/// A type that can be read from a file's value.
public protocol ReadableFromFile {
  /// Reads it.
  /// - Throws: the value's error and its place.
  init(_ value: FileValue) throws(FileError)
}

/// A file's value, with its place and its path.
public struct FileValue: Sendable {
  let node: JSON5Node
  private let file: String
  /// Its path from the outermost value, such as `devices[1].services[0].uuid`; empty for that value itself.
  public let path: String

  init(_ node: JSON5Node, path: String, file: String) {
    self.node = node
    self.path = path
    self.file = file
  }

  /// True if it is `null`, which counts as missing.
  public var isNull: Bool {
    if case .null = node.content { true } else { false }
  }

  /// True if it is a number, if other values are possible as well.
  public var isNumber: Bool {
    if case .number = node.content { true } else { false }
  }

  /// True if it is an object, if other values are possible as well.
  public var isObject: Bool {
    if case .object = node.content { true } else { false }
  }

  /// The error about this value.
  /// - Parameter message: the fault and the remedy, in lower case without a period.
  public func failure(_ message: String) -> FileError {
    FileError(file: file, place: node.place, path: path, message: message)
  }

  private func mismatch(_ expected: String) -> FileError {
    failure(
      isNull ? "this must be \(expected), not null: change it or leave it out" : "this must be \(expected): change it"
    )
  }

  // MARK: Simple values

  /// A text.
  /// - Parameter limit: maximum octets. Comparing and looking up long strings can be slow.
  public func text(atMost limit: Int = 4096) throws(FileError) -> String {
    guard case .text(let text) = node.content else { throw mismatch("a string in quotation marks") }
    guard text.utf8.count <= limit else {
      throw failure("this string has \(text.utf8.count) octets: give at most \(limit)")
    }
    return text
  }

  /// `true` or `false`.
  public func bool() throws(FileError) -> Bool {
    guard case .bool(let bool) = node.content else { throw mismatch("true or false") }
    return bool
  }

  /// A number as it stands there, which may be infinite or none.
  public func number() throws(FileError) -> Double {
    guard case .number(let number) = node.content else { throw mismatch("a number") }
    return number
  }

  /// A number within a range.
  public func number(in range: ClosedRange<Double>) throws(FileError) -> Double {
    let number = try number()
    guard range.contains(number) else {
      throw failure("\(number) is out of range: give a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// A whole number within a range.
  public func integer<Integer: FixedWidthInteger>(in range: ClosedRange<Integer>) throws(FileError) -> Integer {
    let number = try number()
    guard let integer = Integer(exactly: number), range.contains(integer) else {
      throw failure("\(number) is not valid: give a whole number from \(range.lowerBound) to \(range.upperBound)")
    }
    return integer
  }

  /// A time in seconds within a range.
  public func seconds(in range: ClosedRange<Double>) throws(FileError) -> Duration { .seconds(try number(in: range)) }

  /// Octets as hex digits.
  public func octets(atMost limit: Int) throws(FileError) -> [UInt8] {
    let text = try text(atMost: .max)
    guard let octets = Hex.decode(text) else {
      throw failure("\"\(shown(text))\" is not hex: give two hex digits for each octet, without spaces")
    }
    guard octets.count <= limit else {
      throw failure("\(octets.count) octets are too many: give at most \(limit)")
    }
    return octets
  }

  /// A word from a list.
  public func word<Word: RawRepresentable & CaseIterable>(_: Word.Type = Word.self) throws(FileError) -> Word
  where Word.RawValue == String {
    try word(Word.allCases, name: \.rawValue)
  }

  /// A word from a list.
  public func word<Word>(
    _ words: some Collection<Word>, name: (Word) -> String
  ) throws(FileError) -> Word {
    let text = try text()
    // Strings that are equal in Swift may have different octets.
    guard let word = words.first(where: { name($0).utf8.elementsEqual(text.utf8) }) else {
      throw failure("\"\(shown(text))\" is not valid: give one of \(words.map(name).joined(separator: ", "))")
    }
    return word
  }

  // MARK: Lists and objects

  /// A list's elements.
  public func elements() throws(FileError) -> [FileValue] {
    guard case .array(let elements) = node.content else { throw mismatch("a list in brackets") }
    return elements.enumerated().map { FileValue($1, path: "\(path)[\($0)]", file: file) }
  }

  /// An object's members, in order. `FileMembers` is for objects with known names.
  public func members() throws(FileError) -> [FileMember] {
    guard case .object(let members) = node.content else { throw mismatch("an object in braces") }
    return members.map { member in
      let name = shown(member.name)
      let value = FileValue(member.value, path: path.isEmpty ? name : "\(path).\(name)", file: file)
      return FileMember(name: member.name, value: value, place: member.place)
    }
  }

  /// The error for a missing member.
  func missing(_ name: String, _ message: String) -> FileError {
    FileError(file: file, place: node.place, path: path.isEmpty ? name : "\(path).\(name)", message: message)
  }
}

/// An object's member in a file.
public struct FileMember: Sendable {
  /// Its name.
  public let name: String
  /// Its value.
  public let value: FileValue
  fileprivate let place: FilePlace

  /// Returns true if it has this name, octet by octet: strings that are equal in Swift may have different octets.
  public func isNamed(_ name: String) -> Bool { self.name.utf8.elementsEqual(name.utf8) }

  /// The error about the name.
  /// - Parameter message: the fault and the remedy, in lower case without a period.
  public func failure(_ message: String) -> FileError {
    let error = value.failure(message)
    return FileError(file: error.file, place: place, path: error.path, message: message)
  }

  /// The error for an unknown name. If it were ignored, a misspelt setting would have no effect.
  public func unknown(_ known: some Sequence<String>) -> FileError {
    failure("this name is not known: give one of \(known.joined(separator: ", "))")
  }
}

// MARK: Readable values

extension String: ReadableFromFile {
  /// Reads a text.
  public init(_ value: FileValue) throws(FileError) { self = try value.text() }
}

extension Bool: ReadableFromFile {
  /// Reads `true` or `false`.
  public init(_ value: FileValue) throws(FileError) { self = try value.bool() }
}

extension Array: ReadableFromFile where Element: ReadableFromFile {
  /// Reads a list.
  public init(_ value: FileValue) throws(FileError) {
    self = []
    for element in try value.elements() { append(try Element(element)) }
  }
}

extension BluetoothUUID: ReadableFromFile {
  /// Reads the text form.
  public init(_ value: FileValue) throws(FileError) {
    let text = try value.text()
    guard let uuid = BluetoothUUID(text) else {
      throw value.failure("\"\(shown(text))\" is not a UUID: give 4 or 8 hex digits, or 32 with dashes")
    }
    self = uuid
  }
}
