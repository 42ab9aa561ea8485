import BledClient
import BledRPC
import Dispatch
import Glibc
import Synchronization

/// The answers to the questions of a pairing: from the options of the command, or the person at the terminal.
final class PairingPerson: Sendable {
  private let output: Output
  private let answersYes: Bool
  private let passkey: String?
  /// The progress that is shown without a question.
  private let progress = Mutex<Progress?>(nil)

  init(output: Output, answersYes: Bool, passkey: String?) {
    (self.output, self.answersYes, self.passkey) = (output, answersYes, passkey)
  }

  /// Shows the awaited event, until there is a question or a message.
  func awaits(_ progress: Progress) { self.progress.withLock { $0 = progress } }

  /// Prints a line that stays on the terminal.
  func show(_ text: String) {
    progress.withLock { $0?.end() }
    output.problem(text)
  }

  private var isAtTerminal: Bool { output.isTerminal && !output.json && isatty(STDIN_FILENO) == 1 }

  /// Nil without a person to answer: then devices are informed, and pair without a check.
  var agent: PairingAgent? {
    let capability: PairingCapability
    if isAtTerminal {
      capability = .keyboardDisplay
    } else if passkey != nil {
      capability = .keyboard
    } else if answersYes {
      capability = .displayYesNo
    } else {
      return nil
    }
    return PairingAgent(
      capability: capability, confirm: { await self.confirm($0) }, enterPasskey: { await self.enter($0) })
  }

  private func confirm(_ question: PairingConfirm.Params) async -> Bool {
    // A user with a passkey expects to be asked for it, and for nothing else.
    guard !answersYes else { return true }
    guard isAtTerminal else { return false }
    let answer = await ask("\(PairingQuestion(question).text) [y/n] ", within: question.seconds)
    return ["y", "yes"].contains(answer?.lowercased())
  }

  private func enter(_ question: PairingEnterPasskey.Params) async -> String? {
    if let passkey { return passkey }
    guard isAtTerminal else { return nil }
    return await ask(PairingQuestion(question).text, within: question.seconds)
  }

  /// The next line from the terminal; nil when the time is over.
  private func ask(_ prompt: String, within seconds: Int) async -> String? {
    progress.withLock { $0?.end() }
    output.text(prompt)
    return await withCheckedContinuation { continuation in
      DispatchQueue(label: "bleshell question").async {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, Int32(clamping: seconds * 1000)) > 0 else { return continuation.resume(returning: nil) }
        continuation.resume(returning: readLine()?.filter { !$0.isWhitespace })
      }
    }
  }
}
