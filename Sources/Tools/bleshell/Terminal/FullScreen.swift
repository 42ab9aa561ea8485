/// The whole screen of a terminal, drawn by a function whenever something has changed, at most ten times a second.
@MainActor final class FullScreen {
  private static let pause = Duration.milliseconds(100)

  private let output: Output
  private let lines: @MainActor (_ columns: Int, _ rows: Int) -> [[ScreenLine.Cell]]
  private var terminal: Terminal?
  private var isDrawingDue = false

  /// - Parameters:
  ///   - lines: The lines for a screen of that size.
  ///   - key: Called for each key; the lines are drawn again after it.
  ///   - hungUp: Called when the terminal is closed.
  init(
    output: Output, lines: @escaping @MainActor (_ columns: Int, _ rows: Int) -> [[ScreenLine.Cell]],
    key: @escaping @MainActor (Key) -> Void, hungUp: @escaping @MainActor () -> Void
  ) {
    (self.output, self.lines) = (output, lines)
    terminal = Terminal(
      screen: true,
      key: { [weak self] pressed in
        if pressed == .control("z") { self?.terminal?.suspend() } else { key(pressed) }
        self?.draw()
      }, hungUp: hungUp, resized: { [weak self] in self?.draw() })
  }

  /// - Returns: False without a terminal.
  func begin() -> Bool {
    guard terminal?.begin() == true else { return false }
    draw()
    return true
  }

  /// Restores the terminal, with its earlier contents.
  func end() {
    terminal?.end()
    terminal = nil
  }

  /// Something has changed that can be seen.
  func change() {
    guard !isDrawingDue else { return }
    isDrawingDue = true
    Task {
      try? await Task.sleep(for: Self.pause)
      isDrawingDue = false
      draw()
    }
  }

  private func draw() {
    guard terminal?.isReading == true else { return }
    let size = Output.terminalSize
    let rows = lines(size.columns, size.rows).map { cells in
      cells.map { output.styled($0.text, $0.style) }.joined()
    }
    output.text(Self.drawing(rows))
  }

  /// The octets that draw rows, and nothing else, on the screen. Each is erased before it is written: behind a full row
  /// the cursor is on its last character.
  nonisolated static func drawing(_ rows: [String]) -> String {
    "\u{1B}[H" + rows.dropLast().map { "\u{1B}[K\($0)\r\n" }.joined() + "\u{1B}[J" + (rows.last ?? "")
  }
}
