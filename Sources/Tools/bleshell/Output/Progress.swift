import Glibc
import Synchronization

/// A line on standard error with the awaited event, and after a second the waiting time.
final class Progress: Sendable {
  private struct State {
    var text: String
    let start = ContinuousClock.now
    var hasEnded: Bool
    var ticking: Task<Void, Never>?
  }

  private let state: Mutex<State>
  /// True if the line of one of them is on the terminal.
  private static let isDrawn = Mutex(false)

  /// Removes the line from the terminal, so that other text takes its place; it is drawn again below that within a
  /// second.
  static func hide() {
    isDrawn.withLock { isDrawn in
      guard isDrawn else { return }
      isDrawn = false
      if !TerminalModes.hasScreen { Output.writeDirectly(STDERR_FILENO, "\r\u{1B}[K") }
    }
  }

  /// - Parameter text: The awaited event; nil for none.
  init(_ text: String?) {
    state = Mutex(State(text: text ?? "", hasEnded: text == nil))
    guard text != nil else { return }
    draw()
    let ticking = Task { [weak self] in
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(1))
        self?.draw()
      }
    }
    state.withLock { $0.ticking = ticking }
  }

  /// Shows other text instead.
  func change(_ text: String) {
    state.withLock { $0.text = text }
    draw()
  }

  /// Removes the line from the terminal.
  func end() {
    state.withLock { state in
      guard !state.hasEnded else { return }
      state.hasEnded = true
      state.ticking?.cancel()
      Self.hide()
    }
  }

  deinit { end() }

  private func draw() {
    state.withLock { state in
      guard !state.hasEnded, !TerminalModes.hasScreen else { return }
      let seconds = (ContinuousClock.now - state.start).components.seconds
      let time = seconds > 0 ? " \(seconds) s" : ""
      let text = "\(Output.clean(state.text)) \(Output.ellipsis)\(time)".truncated(to: Output.terminalSize.columns - 1)
      Self.isDrawn.withLock { isDrawn in
        isDrawn = true
        Output.writeDirectly(STDERR_FILENO, "\r\u{1B}[K\(text)")
      }
    }
  }
}
