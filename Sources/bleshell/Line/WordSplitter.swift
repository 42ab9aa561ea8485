/// Splits a line into words as a shell does: at blanks, unless they are quoted with '…', "…" or \. A # at the start of
/// a word begins a comment.
/// - Throws: `Failure` if a quotation mark is not closed.
func splitWords(_ line: String) throws -> [String] {
  var words: [String] = []
  var word: String?
  var quote: Character?
  var escaped = false
  for character in line {
    if escaped {
      word = (word ?? "") + String(character)
      escaped = false
    } else if character == "\\", quote != "'" {
      escaped = true
    } else if let open = quote {
      if character == open { quote = nil } else { word = (word ?? "") + String(character) }
    } else if character == "'" || character == "\"" {
      quote = character
      word = word ?? ""
    } else if character == " " || character == "\t" || character == "\r" {
      if let whole = word { words.append(whole) }
      word = nil
    } else if character == "#", word == nil {
      break
    } else {
      word = (word ?? "") + String(character)
    }
  }
  if let quote { throw Failure("the closing \(quote) is missing", status: 64) }
  if let word { words.append(word) }
  return words
}
