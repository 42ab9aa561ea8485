import Synchronization

/// The transfers under way, each with its part of the line at the end of the terminal. Lines that are printed meanwhile
/// come before it.
final class TransferBoard: Sendable {
  private struct State {
    var texts: [Int: String] = [:]
    var last = 0
    var progress: Progress?
  }

  private let output: Output
  private let state = Mutex(State())

  init(_ output: Output) { self.output = output }

  /// - Returns: the number of a transfer that begins.
  func begin(_ text: String) -> Int {
    state.withLock { state in
      state.last += 1
      state.texts[state.last] = text
      show(&state)
      return state.last
    }
  }

  /// Shows other text for a transfer.
  func change(_ number: Int, _ text: String) {
    state.withLock { state in
      guard state.texts[number] != nil else { return }
      state.texts[number] = text
      show(&state)
    }
  }

  /// Removes a transfer.
  func end(_ number: Int) {
    state.withLock { state in
      state.texts[number] = nil
      show(&state)
    }
  }

  /// Prints lines, with none of the transfers in between.
  func print(_ body: (Output) throws -> Void) rethrows {
    try state.withLock { state in
      state.progress?.end()
      state.progress = nil
      defer { show(&state) }
      try body(output)
    }
  }

  private func show(_ state: inout State) {
    guard !state.texts.isEmpty else {
      state.progress?.end()
      state.progress = nil
      return
    }
    let text = state.texts.sorted { $0.key < $1.key }.map(\.value).joined(separator: " | ")
    guard let progress = state.progress else {
      state.progress = output.progress(text)
      return
    }
    progress.change(text)
  }
}
