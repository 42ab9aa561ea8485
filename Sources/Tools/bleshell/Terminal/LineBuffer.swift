/// The line being typed, with the keys that people know from other shells, and the history.
///
/// | State     | Input                           | Effect                                                    |
/// |-----------|---------------------------------|-----------------------------------------------------------|
/// | typing    | a character                     | it is inserted at the cursor                              |
/// |           | arrows, Home, End, ^A ^E ^B ^F  | the cursor moves; with Alt by words (b, f)                |
/// |           | Backspace, Delete, ^D           | a character is removed                                    |
/// |           | ^U ^K ^W, Alt-d                 | cuts to the start, to the end, a word before or behind    |
/// |           | ^Y                              | inserts the last cut text                                 |
/// |           | up, down, ^P ^N                 | other lines of the history; down leads back to this one   |
/// |           | ^R                              | searching                                                 |
/// |           | ^C                              | `discarded`, and an empty line                            |
/// |           | ^D in an empty line             | `ended`                                                   |
/// |           | Enter                           | `entered`, and an empty line                              |
/// |           | Tab, ^L, ^Z                     | `completion`, `cleared`, `suspended`: for the owner       |
/// | searching | a character, Backspace, ^R      | the newest line with the text; ^R the one before          |
/// |           | ^G, ^C, Escape                  | typing, as before the search                              |
/// |           | another key                     | typing with the line that was found, and the key          |
struct LineBuffer {
  /// A task for the owner of the line.
  enum Event: Equatable {
    case changed
    case entered(String)
    case discarded
    case ended
    case completion
    case cleared
    case suspended
  }

  private struct Search {
    var text = ""
    /// The position of the line in the history.
    var place: Int
    let former: (text: [Character], cursor: Int)
  }

  /// Further characters are ignored.
  private static let maximumLength = 16_384

  private(set) var text: [Character] = []
  private(set) var cursor = 0
  private(set) var history: [String]
  private var place: Int
  /// The line being typed when another one was fetched from the history.
  private var draft: [Character] = []
  private var cut: [Character] = []
  private var search: Search?

  /// - Parameter history: Earlier lines, the oldest first.
  init(history: [String] = []) { (self.history, place) = (history, history.count) }

  /// The text that is searched for, while it is.
  var searched: String? { search?.text }

  /// Handles a key.
  mutating func handle(_ key: Key) -> Event {
    if search != nil, searches(key) { return .changed }
    switch key {
    case .character(let character): insert([character])
    case .enter: return .entered(clear())
    case .tab: return .completion
    case .control("c"):
      _ = clear()
      return .discarded
    case .control("d") where text.isEmpty: return .ended
    case .control("l"): return .cleared
    case .control("z"): return .suspended
    case .control("r"): search = Search(place: history.count, former: (text, cursor))
    case .up, .control("p"): fetch(place - 1)
    case .down, .control("n"): fetch(place + 1)
    default: edit(key)
    }
    return .changed
  }

  /// Puts a text in place of the characters from `start` up to the cursor.
  mutating func replace(from start: Int, with replacement: String) {
    guard (0...cursor).contains(start) else { return }
    text.removeSubrange(start..<cursor)
    cursor = start
    insert(Array(replacement))
  }

  private mutating func edit(_ key: Key) {
    switch key {
    case .left, .control("b"): cursor = max(0, cursor - 1)
    case .right, .control("f"): cursor = min(text.count, cursor + 1)
    case .home, .control("a"): cursor = 0
    case .end, .control("e"): cursor = text.count
    case .alt("b"): cursor = wordStart
    case .alt("f"): cursor = wordEnd
    case .backspace where cursor > 0: remove(cursor - 1..<cursor)
    case .delete where cursor < text.count, .control("d") where cursor < text.count: remove(cursor..<cursor + 1)
    case .control("u"): cutOut(0..<cursor)
    case .control("k"): cutOut(cursor..<text.count)
    case .control("w"): cutOut(wordStart..<cursor)
    case .alt("d"): cutOut(cursor..<wordEnd)
    case .control("y"): insert(cut)
    default: break
    }
  }

  private mutating func insert(_ characters: [Character]) {
    guard text.count + characters.count <= Self.maximumLength else { return }
    text.insert(contentsOf: characters, at: cursor)
    cursor += characters.count
  }

  private mutating func remove(_ range: Range<Int>) {
    text.removeSubrange(range)
    cursor = range.lowerBound
  }

  private mutating func cutOut(_ range: Range<Int>) {
    guard !range.isEmpty else { return }
    cut = Array(text[range])
    remove(range)
  }

  private var wordStart: Int {
    var index = cursor
    while index > 0, text[index - 1].isWhitespace { index -= 1 }
    while index > 0, !text[index - 1].isWhitespace { index -= 1 }
    return index
  }

  private var wordEnd: Int {
    var index = cursor
    while index < text.count, text[index].isWhitespace { index += 1 }
    while index < text.count, !text[index].isWhitespace { index += 1 }
    return index
  }

  /// Ends the line, and keeps it in the history unless it is blank or the one before.
  private mutating func clear() -> String {
    let line = String(text)
    (text, cursor, search, draft) = ([], 0, nil, [])
    place = history.count
    return line
  }

  /// Adds a line to the history.
  /// - Returns: False for a blank one, and for a repetition of the previous one.
  @discardableResult mutating func remember(_ line: String) -> Bool {
    defer { place = history.count }
    guard !line.allSatisfy(\.isWhitespace), line != history.last else { return false }
    history.append(line)
    return true
  }

  private mutating func fetch(_ other: Int) {
    guard (0...history.count).contains(other), other != place else { return }
    if place == history.count { draft = text }
    place = other
    text = place == history.count ? draft : Array(history[place])
    cursor = text.count
  }

  /// - Returns: True if the key was for the search.
  private mutating func searches(_ key: Key) -> Bool {
    guard var current = search else { return false }
    switch key {
    case .character(let character):
      current.text.append(character)
      current.place = found(current.text, before: history.count) ?? current.place
    case .backspace:
      current.text = String(current.text.dropLast())
      current.place = found(current.text, before: history.count) ?? history.count
    case .control("r"): current.place = found(current.text, before: current.place) ?? current.place
    case .control("g"), .control("c"), .escape:
      (text, cursor, search) = (current.former.text, current.former.cursor, nil)
      return true
    default:
      search = nil
      return false
    }
    if history.indices.contains(current.place) {
      text = Array(history[current.place])
      cursor = text.count
    }
    search = current
    return true
  }

  private func found(_ text: String, before end: Int) -> Int? {
    text.isEmpty ? nil : history.prefix(end).lastIndex { $0.contains(text) }
  }
}
