/// The answers of a device, awaited one by one with a time limit.
@MainActor final class AnswerQueue<Answer: Sendable> {
  /// The maximum of unread answers; older ones are dropped.
  private static var mostWaiting: Int { 64 }

  private var answers: [Answer] = []
  private var end: (any Error)?
  private var waiter: CheckedContinuation<Answer?, any Error>?
  /// The number of waits.
  private var waits = 0

  /// Adds answers that have arrived.
  func receive(_ new: [Answer]) {
    answers += new
    answers.removeFirst(max(answers.count - Self.mostWaiting, 0))
    if waiter != nil, !answers.isEmpty { wake(waits, .success(answers.removeFirst())) }
  }

  /// No more answers will arrive.
  func ended(_ error: any Error) {
    end = error
    wake(waits, .failure(error))
  }

  /// The next answer; nil if none has come in time.
  /// - Throws: The error of the end.
  func next(until deadline: ContinuousClock.Instant) async throws -> Answer? {
    if !answers.isEmpty { return answers.removeFirst() }
    if let end { throw end }
    try Task.checkCancellation()
    waits += 1
    let alarm = Task { @MainActor [weak self, waits] in
      guard (try? await Task.sleep(until: deadline)) != nil else { return }
      self?.wake(waits, .success(nil))
    }
    defer { alarm.cancel() }
    return try await withTaskCancellationHandler { [waits] in
      try await withCheckedThrowingContinuation { continuation in
        waiter = continuation
        // A cancellation before this had no waiter to wake.
        if Task.isCancelled { wake(waits, .failure(CancellationError())) }
      }
    } onCancel: { [waits] in
      Task { @MainActor in self.wake(waits, .failure(CancellationError())) }
    }
  }

  private func wake(_ wait: Int, _ result: Result<Answer?, any Error>) {
    guard wait == waits, let waiter else { return }
    self.waiter = nil
    waiter.resume(with: result)
  }
}
