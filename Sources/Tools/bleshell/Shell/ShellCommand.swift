import ArgumentParser

/// A command that talks to the daemon, on the command line or in line mode.
protocol ShellCommand: ParsableCommand, Sendable {
  var global: GlobalOptions { get }
  @MainActor func run(in shell: Shell) async throws
}

extension ShellCommand {
  /// The output: as JSON if that was requested for this command or for the whole shell.
  @MainActor func output(of shell: Shell) -> Output { shell.output.with(json: global.json || shell.output.json) }

  /// The words of a command that begin with an optional device; if missing it is the current one.
  func words(_ words: [String], _ names: String...) throws -> (device: String?, rest: [String]) {
    switch words.count {
    case names.count: return (nil, words)
    case names.count + 1: return (words[0], Array(words.dropFirst()))
    default:
      let usage = (["[DEVICE]"] + names).joined(separator: " ")
      throw Failure("expected \(usage); see \"bleshell help \(Self._commandName)\"", status: 64)
    }
  }
}
