/// A line of commands, split into words as a shell does: at blanks, unless they are quoted with '…', "…" or \. A # at
/// the start of a word begins a comment.
struct CommandWords {
  /// The last word of a line that is being typed.
  struct Last: Equatable {
    /// The character of the line at which it begins.
    var start: Int
    /// The word without quotation marks.
    var text: String
    /// The quotation mark that is still open.
    var quote: Character?
  }

  /// The words; the last one may be incomplete.
  private(set) var words: [String] = []
  /// The last word, empty behind a blank; nil in a comment.
  private(set) var last: Last?
  /// True if the last word is among the words: no blank follows it.
  private var endsWithWord = false

  init(_ line: some Sequence<Character>) {
    var word: Last?
    var escaped = false
    var end = 0
    for (index, character) in line.enumerated() {
      end = index + 1
      var current = word ?? Last(start: index, text: "")
      if escaped {
        current.text.append(character)
        escaped = false
      } else if character == "\\", current.quote != "'" {
        escaped = true
      } else if let open = current.quote {
        if character == open { current.quote = nil } else { current.text.append(character) }
      } else if character == "'" || character == "\"" {
        current.quote = character
      } else if character == " " || character == "\t" || character == "\r" {
        if let word { words.append(word.text) }
        word = nil
        continue
      } else if character == "#", word == nil {
        return
      } else {
        current.text.append(character)
      }
      word = current
    }
    if let word { words.append(word.text) }
    endsWithWord = word != nil
    last = word ?? Last(start: end, text: "")
  }

  /// The words before the last one.
  var before: ArraySlice<String> { endsWithWord ? words.dropLast() : words[...] }

  /// All words of a complete line.
  /// - Throws: `Failure` if a quotation mark is not closed.
  func complete() throws -> [String] {
    if let quote = last?.quote { throw Failure("the closing \(quote) is missing", status: 64) }
    return words
  }

  /// Quotes or escapes a word for typing.
  /// - Parameter quote: The open quotation mark; nil: blanks are escaped.
  static func typed(_ word: String, quote: Character?) -> String {
    if let quote { return "\(quote)\(word)" }
    return word.reduce(into: "") { text, character in
      if " \t\"'\\#".contains(character) { text.append("\\") }
      text.append(character)
    }
  }
}
