import BledClient

/// The pairing that a page has begun, and its question. There is one at a time, and questions of others are refused: no
/// page has asked for them.
///
/// | State   | Event                                | Then                                                   |
/// |---------|--------------------------------------|--------------------------------------------------------|
/// | idle    | `pair`                               | pairing: this program answers the daemon's questions   |
/// | pairing | the daemon asks, or shows a passkey  | `question`                                             |
/// | pairing | `answer`, or the time is over        | no `question`                                          |
/// | pairing | the pairing ends                     | idle                                                   |
@MainActor final class Pairings {
  /// A question to the person at a page, or a passkey to show.
  struct Question: Encodable, Sendable {
    enum Kind: String, Encodable, Sendable {
      /// True to pair.
      case consent
      /// True if the device shows `code`.
      case comparison
      /// The passkey that the device shows.
      case passkey
      /// `code` is to be typed at the device.
      case display
    }

    var number: Int
    var device: String
    var name: String
    var kind: Kind
    var code: String?
  }

  /// The body of `pair`.
  struct Request: Decodable, Sendable {
    /// The level that the link must have; missing: encrypted.
    var level: SecurityLevel?
  }

  /// The body of an answer.
  struct Answer: Decodable, Sendable {
    /// The number of the question.
    var question: Int
    /// The passkey, or any text for yes; missing: a refusal.
    var answer: String?
  }

  /// Called after each change of `question`.
  var changed: @MainActor () -> Void = {}
  private(set) var question: Question? { didSet { changed() } }
  private var waiting: CheckedContinuation<String?, Never>?
  private var device: String?
  private var count = 0

  /// Pairs, or encrypts the link with the keys of an earlier pairing.
  func pair(
    _ peripheral: Peripheral, _ request: Request, _ client: BledClient
  ) async throws(BluetoothError) -> PeripheralPair.Result {
    guard device == nil else {
      throw BledError.limitReached.error("another device is being paired: answer its question first")
    }
    device = peripheral.identifier
    let shown = client.observe(
      PairingShowPasskey.self, value: { asked in Task { @MainActor [weak self] in self?.show(asked) } },
      end: { _ in })
    defer {
      shown.cancel()
      finish(nil)
      device = nil
    }
    let agent = PairingAgent(
      capability: .keyboardDisplay, confirm: { [weak self] in await self?.confirm($0) ?? false },
      enterPasskey: { [weak self] in await self?.enterPasskey($0) })
    try await client.answerPairings(with: agent)
    do throws(BluetoothError) {
      let result = try await peripheral.pair(level: request.level)
      try? await client.stopAnsweringPairings()
      return result
    } catch {
      try? await client.stopAnsweringPairings()
      throw error
    }
  }

  /// Takes the answer to a question; one to an earlier question is ignored.
  func answer(_ answer: Answer) {
    guard question?.number == answer.question else { return }
    finish(answer.answer)
  }

  private func confirm(_ asked: PairingConfirm.Params) async -> Bool {
    // The person has asked for it. To replace keys is another question.
    if asked.number == nil, asked.device.isOurs, asked.device.bondLevel == nil, isExpected(asked.device) { return true }
    let kind: Question.Kind = asked.number == nil ? .consent : .comparison
    return await ask(asked.device, kind, asked.number, asked.seconds) != nil
  }

  private func enterPasskey(_ asked: PairingEnterPasskey.Params) async -> String? {
    await ask(asked.device, .passkey, nil, asked.seconds)
  }

  private func show(_ asked: PairingShowPasskey.Params) {
    guard isExpected(asked.device) else { return }
    question = next(asked.device, .display, asked.passkey)
  }

  private func ask(_ device: PairingDevice, _ kind: Question.Kind, _ code: String?, _ seconds: Int) async -> String? {
    guard isExpected(device), waiting == nil else { return nil }
    let new = next(device, kind, code)
    question = new
    // Then the daemon has given up, too.
    let limit = Task {
      try await Task.sleep(for: .seconds(seconds))
      answer(Answer(question: new.number))
    }
    defer { limit.cancel() }
    return await withCheckedContinuation { waiting = $0 }
  }

  private func next(_ device: PairingDevice, _ kind: Question.Kind, _ code: String?) -> Question {
    count += 1
    return Question(
      number: count, device: device.peripheral, name: device.name ?? device.address, kind: kind, code: code)
  }

  private func isExpected(_ asked: PairingDevice) -> Bool { device == asked.peripheral }

  private func finish(_ answer: String?) {
    question = nil
    waiting?.resume(returning: answer)
    waiting = nil
  }
}
