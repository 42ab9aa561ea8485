import ArgumentParser
import BledRPC

/// `bleshell power`
struct PowerCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "power", abstract: "Switches an adapter on or off, for all programs.")

  /// The power state.
  enum Power: String, ExpressibleByArgument, CaseIterable { case on, off }

  @Argument(help: "on or off.") var power: Power
  @Option(help: "The adapter (default: the first).") var adapter: String?
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let adapter = try await shell.connection().call(
      AdapterPower.self, .init(adapter: adapter, on: power == .on), timeout: .seconds(30))
    if output.json { try output.object(adapter) } else { output.line("\(adapter.adapter) is \(adapter.state)") }
  }
}
