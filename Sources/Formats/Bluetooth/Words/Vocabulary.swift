/// An enumeration whose values are spelled as words outside the program: on the socket and in files.
///
/// Decoding refuses any other word, with an error listing the vocabulary. A word from another release's program, which
/// may have more of them, is a `Word`.
public protocol Vocabulary: CaseIterable, Codable, CustomStringConvertible, ExpressibleByStringLiteral, Hashable,
  Sendable
where StringLiteralType == String {
  /// The spelling.
  var word: String { get }
  /// The value with this spelling, which may be from outside; nil for any other text.
  init?(word: String)
}

extension Vocabulary {
  /// The word.
  public var description: String { word }

  /// The words in double quotes, for errors: `"public", "random"`.
  public static var list: String { allCases.map { "\"\($0.word)\"" }.joined(separator: ", ") }

  /// A word in the source. A text not in the vocabulary is a bug in the program, and ends it; texts from outside go to
  /// `init(word:)`.
  public init(stringLiteral word: String) {
    guard let value = Self(word: word) else { preconditionFailure("\"\(word)\" is not one of \(Self.list)") }
    self = value
  }

  /// Reads one of the words.
  public init(wordFrom decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = Self(word: text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\"\(text.excerpt)\" is not one of \(Self.list)")
    }
    self = value
  }
}

extension Vocabulary where Self: RawRepresentable, RawValue == String {
  /// The raw value.
  public var word: String { rawValue }

  /// Reads one of the words.
  public init(from decoder: any Decoder) throws { try self.init(wordFrom: decoder) }
}
