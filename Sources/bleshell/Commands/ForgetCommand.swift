import ArgumentParser
import BledRPC

/// `bleshell forget`
struct ForgetCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "forget", abstract: "Has bled forget a device: its identifier, its name and what was discovered on it."
  )

  @Argument(help: "A name, an address or an identifier, as \"bleshell peripherals\" lists them.") var device: String
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
