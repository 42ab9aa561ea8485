import BledClient

extension Task where Failure == Never {
  /// Does work to its end. A cancelled task only stops waiting, so nothing is left half done.
  /// - Returns: The work's result; nil if the task was cancelled before.
  @discardableResult
  static func outcome(of work: @escaping @Sendable () async -> Success) async -> Success? {
    let (results, output) = AsyncStream.makeStream(of: Success.self)
    Task<Void, Never> {
      output.yield(await work())
      output.finish()
    }
    for await result in results { return result }
    return nil
  }

  /// Waits for the task, which is cancelled when its time is over, or the present task is cancelled.
  /// - Throws: the task's error; `late` after its time.
  func result<Value>(
    within time: Duration, on clock: any Clock<Duration>, or late: BluetoothError
  ) async throws(BluetoothError) -> Value where Success == Result<Value, BluetoothError> {
    let timer = Task<Void, any Error> {
      try await clock.sleep(for: time)
      cancel()
    }
    defer { timer.cancel() }
    let result = await withTaskCancellationHandler {
      await value
    } onCancel: {
      cancel()
    }
    if case .failure = result, isCancelled, !Task<Never, Never>.isCancelled { throw late }
    return try result.get()
  }
}

extension Result {
  /// The result of work that may fail.
  init(
    isolation: isolated (any Actor)? = #isolation, _ work: () async throws(Failure) -> Success
  ) async {
    do throws(Failure) { self = .success(try await work()) } catch { self = .failure(error) }
  }
}
