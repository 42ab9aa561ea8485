import Dispatch

/// Runs blocking work on a thread of its own: the tests share as many threads as there are cores, and the end of the
/// wait may need one of them.
public func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    DispatchQueue(label: "test.blocking").async { continuation.resume(returning: body()) }
  }
}
