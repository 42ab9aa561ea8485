/// The lines of a screen.
enum ScreenLine {
  /// A part of a line with its style.
  typealias Cell = (text: String, style: Output.Style)

  /// The part of a line that fits, without control characters.
  static func fitted(_ cells: [Cell], to columns: Int) -> [Cell] {
    var left = columns
    return cells.compactMap { cell in
      guard left > 0 else { return nil }
      let text = Output.clean(cell.text).truncated(to: left)
      left -= text.columns
      return (text, cell.style)
    }
  }
}
