import ArgumentParser
import BledRPC
import Bluetooth
import FoundationEssentials

/// `bleshell inspect`
struct InspectCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect", abstract: "Shows a device: its link, and a tree of its attributes, to read and write.",
    usage: "bleshell inspect [<device>]",
    discussion: """
      On a terminal the tree has the whole screen: arrows select an attribute, r reads it, w writes a value (as the \
      command write takes it), s subscribes, left and right fold and unfold a service, c connects again after the link \
      was lost, q or Ctrl-C ends. Elsewhere everything that can be read is read and printed once.
      """)

  @Argument(help: "The device (default: the current one).", completion: ShellCompletion.devices)
  var device: [String] = []
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(
      words(device).device, within: connection.deadline, over: connection.adapter, onlyConnecting: output.hasScreen
    ) { device in
      guard output.hasScreen else { return try await print(device, output) }
      try await InspectView(device, in: shell, output: output).run()
    }
  }

  /// Prints everything available.
  @MainActor private func print(_ device: Device, _ output: Output) async throws {
    let link = try await device.peripheral.parameters()
    let services = try await device.tree()
    let progress = output.progress("Reading the values of \(device.name)")
    defer { progress.end() }
    var notes = await device.notes(on: services)
    let rows = await device.describedRows(services)
    if output.json {
      try output.object("link", link)
      for service in services { try output.object("service", service) }
    }
    for row in rows where row.fits(.read) && row.kind != .descriptor {
      progress.change("Reading \(row.title) of \(device.name)")
      do {
        let value = try await device.read(row.handle)
        if output.json { try output.value(value, of: row.attribute, device: device, time: Date()) }
        notes[row.handle] = row.attribute.meaning(of: value)?.shown ?? Hex.encode(value)
      } catch let error as BluetoothError where error.domain == .att {
        // A refusal of the device is part of the picture.
        notes[row.handle] = "(\(error.name))"
      }
    }
    progress.end()
    guard !output.json else { return }
    let address = device.peripheral.link
    output.line("\(output.styled(Output.clean(device.name), .bold))  \(address.address) \(address.addressType)")
    output.line(InspectScreen.facts(link).joined(separator: ", "))
    output.tree(rows, notes: notes)
  }
}
