import ArgumentParser
import BledRPC

/// `bleshell use`
struct UseCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "use", abstract: "Makes another of the connected devices the current one (in line mode).")

  @Argument(help: "A name, an address or an identifier.", completion: ShellCompletion.devices)
  var device: String
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    guard let device = shell.devices.find(device) else { throw shell.devices.notConnected(device) }
    shell.devices.choose(device)
    if output(of: shell).json {
      try output(of: shell).object(PeripheralReference(peripheral: device.peripheral.identifier))
    } else if !shell.output.isTerminal {
      shell.output.line("using \(Output.clean(device.name))")
    }
  }
}

/// `bleshell disconnect`
struct DisconnectCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "disconnect", abstract: "Disconnects from a device (in line mode).")

  @Argument(help: "A name, an address or an identifier (default: the current device).") var device: String?
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let devices = shell.devices
    guard let meant = device.map({ devices.find($0) }) ?? devices.current else { throw devices.notConnected(device) }
    devices.drop(meant)
    let output = output(of: shell)
    let progress = output.progress("Disconnecting from \(meant.name)")
    defer { progress.end() }
    try await meant.peripheral.disconnect()
    progress.end()
    if output.json {
      try output.object(PeripheralReference(peripheral: meant.peripheral.identifier))
    } else {
      output.line("disconnected from \(Output.clean(meant.name))")
    }
  }
}
