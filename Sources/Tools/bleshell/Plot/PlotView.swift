import Bluetooth
import FoundationEssentials

/// Numbers over time on a screen of their own.
@MainActor final class PlotView {
  private let output: Output
  private let start = ContinuousClock.now
  private var plot: Plot
  private var notice: String?
  private var screen: FullScreen?
  private var ticking: Task<Void, Never>?
  private let ended: @MainActor () -> Void

  /// - Parameter ended: Called when the user ends it, or the terminal is closed.
  init(title: String, output: Output, ended: @escaping @MainActor () -> Void) {
    (self.output, self.ended) = (output, ended)
    plot = Plot(title: title)
  }

  /// Adds a value. The screen begins with the first one: until then lines show the awaited event. A value that is not a
  /// number is left out and counted.
  /// - Throws: `Failure` if the first one is not a number.
  func add(_ value: [UInt8], of attribute: Attribute) throws(Failure) {
    let meaning = attribute.meaning(of: value)
    guard let number = meaning?.number else {
      let text = "\(attribute.title) sent \(Hex.encode(value)), which is not known as a number"
      guard let screen else { throw Failure("\(text): try without --plot, or give its format with --as") }
      plot.skip()
      notice = "\(text): left out"
      return screen.change()
    }
    plot.add(number, meaning?.unit ?? "", at: now)
    notice = nil
    if screen == nil { begin() } else { screen?.change() }
  }

  /// Nothing is received for now.
  func interrupt(_ text: String) {
    plot.interrupt()
    notice = text
    if screen == nil { output.problem(text) } else { screen?.change() }
  }

  /// Restores the terminal, and prints the values.
  func finish() {
    guard screen != nil else { return }
    ticking?.cancel()
    screen?.end()
    screen = nil
    output.line("\(output.styled(plot.title, .bold)): \(plot.summary)")
  }

  private var now: Double { (ContinuousClock.now - start) / .seconds(1) }

  private func begin() {
    let screen = FullScreen(
      output: output,
      lines: { [unowned self] columns, rows in plot.lines(columns: columns, rows: rows, at: now, notice: notice) },
      key: { [weak self] key in if [.character("q"), .control("c")].contains(key) { self?.ended() } },
      hungUp: { [weak self] in self?.ended() })
    self.screen = screen
    guard screen.begin() else { return ended() }
    ticking = Task {
      // Time passes even without values.
      while !Task.isCancelled {
        try? await Task.sleep(for: .seconds(1))
        screen.change()
      }
    }
  }
}
