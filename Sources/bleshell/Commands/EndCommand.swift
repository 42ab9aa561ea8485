import ArgumentParser
import BledRPC

/// `bleshell end`
struct EndCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "end", abstract: "Ends the session that bled keeps for a program of yours that is gone.",
    discussion: "What the program held, its scan, links, services and advertisements, is given back.")

  @Argument(help: "The restoration identifier, as \"bleshell sessions\" shows it.") var identifier: String
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    _ = try await shell.connection().call(SessionEnd.self, .init(restore: identifier))
    if output.json {
      try output.object(SessionEnd.Params(restore: identifier))
    } else {
      output.line("ended \(Output.clean(identifier))")
    }
  }
}
