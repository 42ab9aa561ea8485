import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// `bleshell read`
struct ReadCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Reads a characteristic or descriptor.",
    usage: "bleshell read [<device>] <characteristic>")

  @Argument(help: "The device, if it is not the current one, and the characteristic.") var words: [String] = []
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(words, for: .read, within: timeout.deadline) { device, rest in
      if let path = AttributePath(rest[0]), device.knownTree.isEmpty {
        let progress = output.progress("Reading \(rest[0]) of \(device.name)")
        defer { progress.end() }
        // The daemon discovers no more than it needs.
        let read = try await device.read(path, text: rest[0])
        let attribute = Attribute(handle: read.handle ?? 0, uuid: read.uuid ?? 0, properties: [])
        progress.end()
        return try output.value(read.value.octets, of: attribute, device: device)
      }
      let attribute = try await device.tree().attribute(rest[0])
      let progress = output.progress("Reading \(attribute.title) of \(device.name)")
      defer { progress.end() }
      let value = try await device.read(attribute.handle)
      progress.end()
      try output.value(value, of: attribute, device: device)
    }
  }
}

/// `bleshell write`
struct WriteCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "write", abstract: "Writes a characteristic or descriptor.",
    usage: "bleshell write [<device>] <characteristic> <value> [--text] [--no-response | --signed]",
    discussion: """
      A value is given as hex digits, also in groups ("01 02", "01:02", "0x0102"), or as text with --text. A \
      characteristic that supports only writes without response is always written that way.
      """)

  @Argument(help: "The device (default: the current one), the characteristic and the value.") var words: [String] = []
  @OptionGroup var options: WriteOptions
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(words, for: .write, ["VALUE"], within: timeout.deadline) { device, rest in
      let writing = try options.writing(rest[1])
      let attribute = try await device.tree().attribute(rest[0])
      let progress = output.progress("Writing \(attribute.title)")
      defer { progress.end() }
      try await device.write(writing, to: attribute)
      progress.end()
      if output.json {
        try output.value(writing.octets, of: attribute, device: device)
      } else {
        output.line("wrote \(writing.octets.count) octets to \(attribute.title)")
      }
    }
  }
}

/// Hex digits as people write them: in one piece or in groups, with or without 0x.
/// - Throws: `Failure`, which says how to write text.
func octets(_ text: String) throws -> [UInt8] {
  let separators: Set<Character> = [" ", ":", "-"]
  let digits = text.hasPrefix("0x") ? text.dropFirst(2) : text[...]
  guard let octets = Hex.decode(digits.filter { !separators.contains($0) }) else {
    throw Failure("\"\(text)\" is not an even number of hex digits; for text add --text", status: 64)
  }
  return octets
}
