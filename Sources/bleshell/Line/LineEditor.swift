import CEdit
import Dispatch
import FoundationEssentials
import Glibc

/// Lines from a terminal through libedit, with history and completion. Its functions block: they run on a separate
/// thread, one at a time.
struct LineEditor {
  private let queue = DispatchQueue(label: "bleshell line editor")
  /// Nil if the environment names no place for it.
  private let historyFile: String?

  init() {
    let environment = ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty }
    let state = environment["XDG_STATE_HOME"] ?? environment["HOME"].map { "\($0)/.local/state" }
    historyFile = state.map { "\($0)/bleshell_history" }
    setlocale(LC_ALL, "")
    using_history()
    stifle_history(500)
    // If the history cannot be read or written, bleshell works without it.
    if let state, let historyFile {
      try? FileManager.default.createDirectory(atPath: state, withIntermediateDirectories: true)
      read_history(historyFile)
    }
    cedit_set_completion { text, start, _ in Completion.matches(text, start: Int(start)) }
  }

  /// The next line, or nil at the end of the input.
  func readLine(_ prompt: String) async -> String? {
    let file = historyFile
    return await withCheckedContinuation { continuation in
      queue.async {
        guard let text = readline(prompt) else { return continuation.resume(returning: nil) }
        let line = String(cString: text)
        free(text)
        if !line.allSatisfy(\.isWhitespace) {
          add_history(line)
          if let file { write_history(file) }
        }
        continuation.resume(returning: line)
      }
    }
  }
}

/// Standard input, line by line, read on a separate thread because reading blocks.
enum InputLines {
  static func lines() -> AsyncStream<String> {
    let queue = DispatchQueue(label: "bleshell input")
    return AsyncStream {
      await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: Swift.readLine()) }
      }
    }
  }
}
