import ArgumentParser
import Glibc

/// A command that talks to the daemon; the same alone and as a line of the line mode.
protocol ShellCommand: ParsableCommand, Sendable {
  var global: GlobalOptions { get }
  @MainActor func run(in shell: Shell) async throws
}

extension ShellCommand {
  /// Where to print: as JSON if this command or the whole shell was asked for that.
  @MainActor func output(of shell: Shell) -> Output { shell.output.with(json: global.json || shell.output.json) }

  /// The words of a command that takes a device before them: all there, or without the device, which is then the current
  /// one.
  func words(_ words: [String], _ names: String...) throws -> (device: String?, rest: [String]) {
    switch words.count {
    case names.count: return (nil, words)
    case names.count + 1: return (words[0], Array(words.dropFirst()))
    default:
      let usage = (["[DEVICE]"] + names).joined(separator: " ")
      throw Failure("give \(usage); see \"bleshell help \(Self._commandName)\"", status: 64)
    }
  }
}

/// Why a command did not do what it was told, in a sentence for people.
struct Failure: Error {
  let message: String
  let status: Int32

  init(_ message: String, status: Int32 = 1) {
    self.message = message
    self.status = status
  }
}

func exitProcess(_ status: Int32) -> Never { exit(status) }
