import ArgumentParser
import BledRPC

/// `bleshell end`
struct EndCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "end", abstract: "Ends the preserved session of a program of yours that has ended.",
    discussion: "bled releases what the program held: its scan, links, services and advertisements.")

  @Argument(help: "The restoration identifier, as shown by \"bleshell sessions\".") var identifier: String
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
