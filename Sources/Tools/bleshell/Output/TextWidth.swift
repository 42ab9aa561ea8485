extension Character {
  /// Its width in columns of a terminal: 2 for East Asian scripts and emoji, 0 for marks.
  var columns: Int {
    guard let scalar = unicodeScalars.first else { return 0 }
    switch scalar.value {
    case 0..<0x20, 0x7F..<0xA0, 0x300..<0x370, 0x200B...0x200F: return 0
    case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
      0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
      return 2
    default: return unicodeScalars.contains("\u{FE0F}") ? 2 : 1
    }
  }
}

extension StringProtocol {
  /// Its width in columns of a terminal.
  var columns: Int { reduce(0) { $0 + $1.columns } }

  /// The part of its beginning that fits, with `Output.ellipsis` for an omitted rest.
  func truncated(to width: Int) -> String {
    guard columns > width else { return String(self) }
    let mark = Output.ellipsis.prefix(Swift.max(0, width))
    var (text, used) = ("", 0)
    for character in self {
      guard used + character.columns + mark.count <= width else { break }
      text.append(character)
      used += character.columns
    }
    return text + mark
  }

  /// Exactly as wide: truncated, or with blanks behind it, or in front of it if `right`.
  func fitted(to width: Int, right: Bool = false) -> String {
    let text = truncated(to: width)
    let blanks = String(repeating: " ", count: Swift.max(0, width - text.columns))
    return right ? blanks + text : text + blanks
  }
}
