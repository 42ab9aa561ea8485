/// Columns of text under headings, as wide as they need to be.
struct Table {
  /// One field.
  struct Cell {
    var text: String
    var style: Output.Style = .plain
  }

  /// A column: its heading, and whether it is right-aligned.
  struct Column {
    var heading: String
    var right = false
  }

  let columns: [Column]
  var rows: [[Cell]] = []
  /// The column that becomes narrower where the table is wider than the terminal, or than 80 columns without one.
  var flexible: Int?

  init(_ columns: Column...) { self.columns = columns }

  /// The lines, headings first. Control characters in text from devices are replaced.
  /// - Parameter width: The width at which lines are truncated; no limit if nil.
  func lines(_ output: Output, width: Int? = nil) -> [String] {
    let heading = columns.map { Cell(text: $0.heading, style: .dim) }
    let all = ([heading] + rows).map { $0.map { Cell(text: Output.clean($0.text), style: $0.style) } }
    var widths = columns.indices.map { column in all.map { $0[column].text.count }.max() ?? 0 }
    let excess = widths.reduce(0) { $0 + $1 + 2 } - 2 - (output.isTerminal ? Output.terminalSize.columns : 80)
    if let flexible, excess > 0 { widths[flexible] = max(7, widths[flexible] - excess) }
    return all.map { row in
      var line = ""
      var used = 0
      for (index, cell) in row.enumerated() {
        let last = index == row.count - 1
        var text = cell.text.count > widths[index] ? cell.text.prefix(widths[index] - 1) + "…" : cell.text
        let padding = String(repeating: " ", count: widths[index] - text.count)
        text = columns[index].right ? padding + text : last ? text : text + padding
        if index > 0 { text = "  " + text }
        if let width { text = String(text.prefix(max(0, width - used))) }
        used += text.count
        line += output.styled(text, cell.style)
      }
      return line
    }
  }
}
