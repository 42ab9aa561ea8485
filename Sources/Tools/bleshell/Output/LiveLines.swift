/// Lines on a terminal that are redrawn in place, with a status line below them.
@MainActor final class LiveLines {
  private let output: Output
  private var drawnLines = 0
  private var lastDrawn = ContinuousClock.now

  init(output: Output) { self.output = output }

  /// True if it may draw again: more than five times a second would not be readable.
  var isDue: Bool { ContinuousClock.now - lastDrawn > .milliseconds(200) }

  /// Replaces the drawn lines by as many of these as there is room for.
  func draw(_ lines: [String], _ status: String) {
    lastDrawn = .now
    let lines = lines.prefix(max(1, Output.terminalSize.rows - 2))
    erase()
    lines.forEach(output.line)
    output.line(output.styled(status, .dim))
    drawnLines = lines.count + 1
  }

  /// Removes the drawn lines.
  func erase() {
    // From the first column: the terminal may have shown the "^C" of a key.
    if drawnLines > 0 { output.text("\r\u{1B}[\(drawnLines)A\u{1B}[J") }
    drawnLines = 0
  }
}
