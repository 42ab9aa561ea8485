import FoundationEssentials
import Glibc

/// Lines from a terminal, with history and completion. While it waits for a line other text can be printed above it.
@MainActor final class LineEditor {
  private let output: Output
  private let history: LineHistory
  private let prompt: @MainActor () -> String
  private let complete: @MainActor (_ line: String) async -> Completion?
  private var buffer: LineBuffer
  private var terminal: Terminal?
  private var waiter: CheckedContinuation<String?, Never>?
  private var completing: Task<Void, Never>?
  /// The keys that are pressed while a completion is made.
  private var early: [Key] = []

  /// - Parameters:
  ///   - prompt: Returns the prompt, whenever the line is drawn.
  ///   - complete: Returns the completions of a line that ends at the cursor; nil without any.
  init(
    output: Output, prompt: @escaping @MainActor () -> String,
    complete: @escaping @MainActor (_ line: String) async -> Completion?
  ) {
    (self.output, self.prompt, self.complete) = (output, prompt, complete)
    history = LineHistory()
    buffer = LineBuffer(history: history.lines())
  }

  /// The next line, or nil at the end of the input.
  func readLine() async -> String? {
    let terminal = Terminal(
      screen: false, key: { [weak self] in self?.handle($0) }, hungUp: { [weak self] in self?.finish(nil) },
      resized: { [weak self] in self?.draw() })
    guard terminal.begin() else { return nil }
    self.terminal = terminal
    let line = await withCheckedContinuation { continuation in
      waiter = continuation
      draw()
      let keys = early
      early = []
      keys.forEach(handle)
    }
    if let line, buffer.remember(line) { history.append(line) }
    return line
  }

  /// Prints a line above the one being typed, or at once without one.
  func above(_ text: String) {
    guard terminal != nil else { return output.problem(text) }
    output.text("\r\u{1B}[K")
    output.problem(text)
    draw()
  }

  /// Prints a line of output, in the same place.
  func above(line: String) {
    guard terminal != nil else { return output.line(line) }
    output.text("\r\u{1B}[K")
    output.line(line)
    draw()
  }

  /// Draws the line again, with the prompt as it is now.
  func draw() {
    guard terminal != nil, completing == nil else { return }
    let shown = buffer.searched.map { "search \"\($0)\": " } ?? prompt()
    let view = LineView(
      prompt: shown, line: buffer.text, cursor: buffer.cursor, width: Output.terminalSize.columns)
    output.text(view.drawing)
  }

  private func finish(_ line: String?) {
    completing?.cancel()
    terminal?.end()
    terminal = nil
    output.text("\n")
    waiter?.resume(returning: line)
    waiter = nil
  }

  private func handle(_ key: Key) {
    guard waiter != nil else { return early.append(key) }
    if let completing {
      if key == .control("c") { completing.cancel() } else if early.count < 1024 { early.append(key) }
      return
    }
    switch buffer.handle(key) {
    case .changed: draw()
    case .entered(let line):
      draw(line)
      finish(line)
    case .discarded:
      output.text("^C\n")
      draw()
    case .ended: finish(nil)
    case .cleared:
      output.text("\u{1B}[H\u{1B}[2J")
      draw()
    case .suspended: terminal?.suspend()
    case .completion: startCompletion()
    }
  }

  /// Draws the whole entered line, so that no part of it stays hidden.
  private func draw(_ line: String) { output.text("\r\u{1B}[K\(prompt())\(Output.clean(line))") }

  private func startCompletion() {
    let line = String(buffer.text[..<buffer.cursor])
    completing = Task { @MainActor in
      let completion = await complete(line)
      completing = nil
      guard waiter != nil else { return }
      if let completion { apply(completion) }
      draw()
      let keys = early
      early = []
      keys.forEach(handle)
    }
  }

  private func apply(_ completion: Completion) {
    buffer.replace(from: completion.start, with: completion.typed)
    guard completion.isAmbiguous else { return }
    output.text("\r\u{1B}[K")
    completion.rows(width: Output.terminalSize.columns).forEach(output.line)
  }
}
