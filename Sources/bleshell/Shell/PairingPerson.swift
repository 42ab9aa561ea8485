import BledClient
import BledRPC
import Dispatch
import Glibc

/// Who answers the questions of a pairing: the options of the command, or the person at the terminal.
struct PairingPerson: Sendable {
  let output: Output
  let answersYes: Bool
  let passkey: String?

  private var isAtTerminal: Bool { output.isTerminal && !output.json && isatty(STDIN_FILENO) == 1 }

  /// Nil if nobody can answer: then devices are told so, and pair without a check.
  var agent: PairingAgent? {
    let capability: String
    if isAtTerminal {
      capability = "keyboardDisplay"
    } else if passkey != nil {
      capability = "keyboard"
    } else if answersYes {
      capability = "displayYesNo"
    } else {
      return nil
    }
    return PairingAgent(capability: capability, confirm: { await confirm($0) }, enterPasskey: { await enter($0) })
  }

  private func confirm(_ question: PairingConfirm.Params) async -> Bool {
    // Who gives a passkey expects to be asked for it, and for nothing else.
    guard !answersYes else { return true }
    guard isAtTerminal else { return false }
    let name = Output.clean(question.device.name ?? question.device.address)
    let text = question.number.map { "does \(name) show \($0)?" } ?? "pair with \(name)?"
    let answer = await ask("\(text) [y/n] ", within: question.seconds)
    return ["y", "yes"].contains(answer?.lowercased())
  }

  private func enter(_ question: PairingEnterPasskey.Params) async -> String? {
    if let passkey { return passkey }
    guard isAtTerminal else { return nil }
    let name = Output.clean(question.device.name ?? question.device.address)
    return await ask("the passkey that \(name) shows: ", within: question.seconds)
  }

  /// The next line from the terminal; nil when the time is over.
  private func ask(_ prompt: String, within seconds: Int) async -> String? {
    output.text("\n" + prompt)
    return await withCheckedContinuation { continuation in
      DispatchQueue(label: "bleshell question").async {
        var input = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard poll(&input, 1, Int32(clamping: seconds * 1000)) > 0 else { return continuation.resume(returning: nil) }
        continuation.resume(returning: readLine()?.filter { !$0.isWhitespace })
      }
    }
  }
}
