/// An event that several tasks may wait for, and that happens once.
@MainActor final class Gate {
  private var isOpen = false
  private var waiting: [AsyncStream<Never>.Continuation] = []

  /// Ends all waits.
  func open() {
    isOpen = true
    for one in waiting { one.finish() }
    waiting = []
  }

  /// Waits until `open` is called; not at all after that.
  /// - Throws: `CancellationError`.
  func pass() async throws {
    guard !isOpen else { return }
    let (stream, end) = AsyncStream.makeStream(of: Never.self)
    waiting.append(end)
    for await _ in stream {}
    try Task.checkCancellation()
  }
}
