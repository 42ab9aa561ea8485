/// A word from another release's program: one in a vocabulary, or one added to it by a later release.
///
/// Words can be added to the protocol's enumerations (docs/versions.md), so decoding accepts any text and keeps it.
public struct Word<Known: Vocabulary>: Hashable, Sendable {
  private enum Content: Hashable, Sendable {
    case known(Known)
    case other(OctetText)
  }

  private let content: Content

  /// A word in the vocabulary.
  public init(_ known: Known) { content = .known(known) }

  /// The word with this spelling.
  public init(_ text: String) { content = Known(word: text).map { .known($0) } ?? .other(OctetText(text)) }

  /// The word's value; nil if this release does not know the word.
  public var known: Known? {
    switch content {
    case .known(let known): known
    case .other: nil
    }
  }

  /// The spelling.
  public var text: String {
    switch content {
    case .known(let known): known.word
    case .other(let text): text.string
    }
  }
}

extension Word: Codable {
  /// Reads any text.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the spelling.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}

extension Word: CustomStringConvertible, ExpressibleByStringLiteral {
  /// The spelling.
  public var description: String { text }

  /// The word with this spelling, for comparing words with literals.
  public init(stringLiteral text: String) { self.init(text) }
}

extension Sequence {
  /// The words for a vocabulary's values.
  public func words<Known: Vocabulary>() -> [Word<Known>] where Element == Known { map { Word($0) } }
}
