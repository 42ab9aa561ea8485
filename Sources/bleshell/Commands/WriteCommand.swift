import ArgumentParser
import Bluetooth

/// `bleshell write`
struct WriteCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "write", abstract: "Writes a characteristic or descriptor.",
    usage: "bleshell write [<device>] <characteristic> <value> [--text] [--no-response]",
    discussion: """
      A value is given as hex digits, also in groups ("01 02", "01:02", "0x0102"), or as text with --text. A \
      characteristic that supports only writes without response is always written that way.
      """)

  @Argument(help: "The device (default: the current one), the characteristic and the value.") var words: [String]
  @Flag(help: "The value is text.") var text = false
  @Flag(help: "Write without response.") var noResponse = false
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, rest) = try words(words, "CHARACTERISTIC", "VALUE")
    let value = text ? Array(rest[1].utf8) : try octets(rest[1])
    try await shell.use(device, timeout: timeout.timeout) { device in
      let attribute = try await device.tree().attribute(rest[0])
      let onlyCommands = attribute.has("writeWithoutResponse") && !attribute.has("write")
      try await device.peripheral.write(value, to: attribute.handle, response: !(noResponse || onlyCommands))
      if output.json {
        try output.value(value, of: attribute, device: device)
      } else {
        output.line("wrote \(value.count) octets to \(attribute.title)")
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
