import BledClient
import BledRPC

/// Answers for the devices that pair while a screen is shown, with the user's keys.
@MainActor final class PairingAtScreen {
  /// Changes the state of the screen.
  private let change: @MainActor ((inout Inspection) -> Void) -> Void
  private var count = 0
  private var answers: [Int: CheckedContinuation<String?, Never>] = [:]

  init(change: @escaping @MainActor ((inout Inspection) -> Void) -> Void) { self.change = change }

  /// Answers until the task is cancelled. Without the permission to pair no question is asked.
  func answer(on client: BledClient) async throws {
    let shown = client.observe(
      PairingShowPasskey.self, value: { asked in Task { @MainActor in self.show(asked) } }, end: { _ in })
    defer {
      shown.cancel()
      for number in Array(answers.keys) { answered(number, nil) }
      Task { try? await client.stopAnsweringPairings() }
    }
    let ends = client.notifications(PairingEnded.self)
    try await client.answerPairings(
      with: PairingAgent(
        capability: .keyboardDisplay,
        confirm: { asked in await self.ask(PairingQuestion(asked), for: asked.seconds) != nil },
        enterPasskey: { asked in await self.ask(PairingQuestion(asked), for: asked.seconds) }))
    for try await _ in ends { change { $0.pairingEnded() } }
  }

  /// Receives the answer to a question; nil: a refusal.
  func answered(_ number: Int, _ answer: String?) {
    change { $0.withdraw(number) }
    answers.removeValue(forKey: number)?.resume(returning: answer)
  }

  private func ask(_ question: PairingQuestion, for seconds: Int) async -> String? {
    count += 1
    let number = count
    change { $0.ask(question, as: number) }
    // Then the daemon has given up, too.
    let limit = Task {
      try await Task.sleep(for: .seconds(seconds))
      answered(number, nil)
    }
    defer { limit.cancel() }
    return await withCheckedContinuation { answers[number] = $0 }
  }

  private func show(_ asked: PairingShowPasskey.Params) {
    change { $0.showPasskey("type this passkey at \(asked.device.quotedName): \(asked.passkey)") }
  }
}
