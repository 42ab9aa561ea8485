import Dispatch

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
