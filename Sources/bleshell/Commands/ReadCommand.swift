import ArgumentParser

/// `bleshell read`
struct ReadCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Reads a characteristic or descriptor.",
    usage: "bleshell read [<device>] <characteristic>")

  @Argument(help: "The device (default: the current one) and the characteristic.") var words: [String]
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, rest) = try words(words, "CHARACTERISTIC")
    try await shell.use(device, timeout: timeout.timeout) { device in
      let attribute = try await device.tree().attribute(rest[0])
      try output.value(try await device.peripheral.read(attribute.handle), of: attribute, device: device)
    }
  }
}
