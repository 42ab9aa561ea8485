/// Columns of text under headings, as wide as they need to be.
struct Table {
  /// One field.
  struct Cell {
    var text: String
    var style: Output.Style = .plain
  }

  /// A column: its heading, and true if it is right-aligned.
  struct Column {
    var heading: String
    var right = false
  }

  let columns: [Column]
  var rows: [[Cell]] = []
  /// The column that becomes narrower, down to 16, where the table is wider than the terminal.
  var flexible: Int?

  init(_ columns: Column...) { self.init(columns) }

  init(_ columns: [Column]) { self.columns = columns }

  /// The lines, headings first: on a terminal as wide as that at the most, with "…" where something is left out,
  /// elsewhere in full. Control characters in text from devices are replaced.
  func lines(_ output: Output) -> [String] {
    lines(width: output.isTerminal ? Output.terminalSize.columns : nil, style: output.styled)
  }

  /// Lays the table out, with a style for each text.
  /// - Parameters:
  ///   - width: The columns of the terminal; nil: no limit.
  ///   - style: Gives a text a style.
  func lines(width: Int?, style: (String, Output.Style) -> String) -> [String] {
    let heading = columns.map { Cell(text: $0.heading, style: .dim) }
    let all = ([heading] + rows).map { $0.map { Cell(text: Output.clean($0.text), style: $0.style) } }
    var widths = columns.indices.map { column in all.map { $0[column].text.columns }.max() ?? 0 }
    let excess = width.map { widths.reduce(0) { $0 + $1 + 2 } - 2 - $0 } ?? 0
    if let flexible, excess > 0 { widths[flexible] = min(widths[flexible], max(16, widths[flexible] - excess)) }
    return all.map { row in
      var line = ""
      var left = width ?? .max
      for (index, cell) in row.enumerated() where left > 0 {
        let (isLast, right) = (index == row.count - 1, columns[index].right)
        let field = isLast && !right ? cell.text : cell.text.fitted(to: widths[index], right: right)
        let text = (index > 0 ? "  " : "") + field
        // The "…" of a field also stands for the fields after it.
        let room = isLast ? left : max(1, left - 1)
        line += style(text.truncated(to: room), cell.style)
        left = text.columns > room ? 0 : left - text.columns
      }
      return line
    }
  }
}
