import ArgumentParser
import BledRPC

/// `bleshell rssi`
struct RSSICommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "rssi", abstract: "Measures the signal strength of the connection to a device.",
    usage: "bleshell rssi [<device>]")

  @Argument(help: "The device (default: the current one).") var device: [String] = []
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(words(device).device, timeout: timeout.timeout) { device in
      let rssi = try await device.peripheral.rssi()
      if output.json {
        try output.object(["peripheral": .text(device.peripheral.identifier), "rssi": .integer(rssi)] as JSONValue)
      } else {
        output.line("\(rssi) dBm")
      }
    }
  }
}
