import ArgumentParser
import BledRPC
import Bluetooth
import ValueFormats

/// `bleshell name`
struct NameCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "name", abstract: "Gives a device, a service or a characteristic a name, and values a format.",
    usage: """
      bleshell name
      bleshell name <key> [<name>] [--as <format>] [--all-users]
      bleshell name <key> --remove [--all-users]
      """,
    discussion: """
      A key is a UUID, an address or a known device; SERVICE/UUID and DEVICE/UUID are more particular. Without a key it \
      lists the names. They are in ~/.config/bleshell/names, or with --all-users in /etc/bled/names, and hold in all \
      commands: docs/values.md.
      """)

  @Argument(help: "A UUID, a device, or several with slashes between them.", completion: ShellCompletion.devices)
  var key: String?
  @Argument(help: "The name.") var name: String?
  @Option(name: .customLong("as"), help: "The format of the values of a characteristic, such as \"i16le*0.01 °C\".")
  var format: String?
  @Flag(help: "Remove the line of the key.") var remove = false
  @Flag(help: "In the file for all users.") var allUsers = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard key == nil || remove != (name != nil || format != nil) else {
      throw ValidationError("give a name, --as or --remove")
    }
    guard name?.contains(where: { $0 == ":" || $0.isNewline }) != true else {
      throw ValidationError("a name cannot have a colon or a line feed; --as gives the format")
    }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    guard let key else { return try list(output) }
    let meant = try await resolve(key, in: shell)
    let file = allUsers ? NameList.systemFile : NameFiles.own
    let line =
      try remove ? NameFiles.remove(meant, in: file) : NameFiles.set(meant, name: name, format: format, in: file)
    shell.forgetNames()
    if !output.json { output.line(line ?? "\(meant) has no name in \(file) any more") }
  }

  @MainActor private func list(_ output: Output) throws {
    var table = Table(.init(heading: "KEY"), .init(heading: "NAME"), .init(heading: "FORMAT"))
    for entry in try NameFiles.read().entries {
      if output.json {
        try output.object(["key": "\(entry.key)", "name": entry.name, "format": entry.formatText])
      } else {
        table.rows.append([
          .init(text: "\(entry.key)"), .init(text: entry.name ?? "-", style: .bold),
          .init(text: entry.formatText ?? "-"),
        ])
      }
    }
    if !output.json { table.lines(output).forEach(output.line) }
  }

  /// The key that a text denotes; it may begin with a device that the daemon knows.
  @MainActor private func resolve(_ text: String, in shell: Shell) async throws -> NameList.Key {
    if let part = text.split(separator: "/").first(where: { BluetoothUUID.isBeginning($0) }) {
      throw Failure(BluetoothUUID.beginning(part), status: 64)
    }
    if let key = NameList.Key(text) { return key }
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    guard let first = parts.first else { throw Failure("a key is missing", status: 64) }
    if let named = try NameFiles.read().entries.first(where: { $0.name == text }) { return named.key }
    let known = try await shell.finder().known(first)
    let entry = try await shell.connection().call(PeripheralList.self, Empty()).peripherals.first {
      $0.peripheral == known.identifier
    }
    guard let entry, let key = NameList.Key(([entry.address] + parts.dropFirst()).joined(separator: "/")) else {
      throw Failure("\(text) is not a key: behind a device give the UUID of a characteristic", status: 64)
    }
    return key
  }
}
