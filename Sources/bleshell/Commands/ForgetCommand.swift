import ArgumentParser
import BledRPC

/// `bleshell forget`
struct ForgetCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Makes bled forget a device: its identifier, its name and its cached attributes."
  )

  @Argument(help: "A name, an address or an identifier, as listed by \"bleshell peripherals\".") var device: String
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let known = try await shell.known(device)
    _ = try await shell.connection().call(PeripheralForget.self, PeripheralReference(peripheral: known.identifier))
    if output.json {
      try output.object(PeripheralReference(peripheral: known.identifier))
    } else {
      output.line("forgot \(Output.clean(known.name)) (\(known.identifier))")
    }
  }
}
