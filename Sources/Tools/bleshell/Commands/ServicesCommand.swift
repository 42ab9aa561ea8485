import ArgumentParser
import BledRPC
import Bluetooth

/// `bleshell services`
struct ServicesCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "services", abstract: "Shows the services, characteristics and descriptors of a device.",
    usage: "bleshell services [<device>]")

  @Argument(help: "The device (default: the current one).", completion: ShellCompletion.devices)
  var device: [String] = []
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(words(device).device, within: connection.deadline, over: connection.adapter) { device in
      device.forgetTree()
      let services = try await device.tree()
      if output.json {
        for service in services { try output.object(service) }
      } else {
        let progress = output.progress("Reading the descriptions of \(device.name)")
        defer { progress.end() }
        let notes = await device.notes(on: services)
        let rows = await device.describedRows(services)
        progress.end()
        output.tree(rows, notes: notes)
      }
    }
  }
}
