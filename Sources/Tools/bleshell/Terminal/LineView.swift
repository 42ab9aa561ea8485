/// The part of a prompt and a line on one row of a terminal: a line that is too long moves sideways.
struct LineView: Equatable {
  /// The visible part.
  let text: String
  /// The column of the cursor in it.
  let cursorColumn: Int

  /// - Parameters:
  ///   - prompt: Precedes the line; shortened if it would take more than half of the row.
  ///   - width: The columns of the terminal.
  init(prompt: String, line: [Character], cursor: Int, width: Int) {
    // Completed words come from devices.
    let line = line.map { $0.unicodeScalars.contains { $0.properties.generalCategory == .control } ? "\u{FFFD}" : $0 }
    let prompt = prompt.columns > width / 2 ? prompt.suffix(max(0, width / 2)).description : prompt
    // The last column stays free for the cursor.
    let room = max(1, width - prompt.columns - 1)
    var first = 0
    var used = line[..<cursor].reduce(0) { $0 + $1.columns }
    while used > room, first < cursor {
      used -= line[first].columns
      first += 1
    }
    cursorColumn = prompt.columns + used
    var shown = ""
    var columns = 0
    for character in line[first...] {
      columns += character.columns
      guard columns <= room else { break }
      shown.append(character)
    }
    text = prompt + shown
  }

  /// The octets that draw it in place of the cursor's row.
  var drawing: String { "\r\u{1B}[K\(text)\r" + (cursorColumn > 0 ? "\u{1B}[\(cursorColumn)C" : "") }
}
