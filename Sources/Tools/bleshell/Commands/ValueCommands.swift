import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// `bleshell read`
struct ReadCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Reads a characteristic or descriptor.",
    usage: "bleshell read [<device>] <characteristic> [--as <format>] [--value <form>]",
    discussion: """
      --value prints nothing but the value, for scripts: as hex digits, as text, as the octets themselves (raw), or as a \
      number in the unit of the characteristic.
      """)

  /// How a value is printed alone.
  enum Form: String, ExpressibleByArgument, CaseIterable { case hex, text, raw, number }

  @Argument(
    help: "The device, if it is not the current one, and the characteristic.",
    completion: ShellCompletion.attributes(.read))
  var words: [String] = []
  @Option(help: "Print only the value: hex, text, raw or number.") var value: Form?
  @OptionGroup var format: ValueOptions
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(words, for: .read, within: connection.deadline, over: connection.adapter) { device, rest in
      if let path = AttributePath(rest[0]), device.knownTree.isEmpty, isKnown(path, of: device) {
        let progress = output.progress("Reading \(rest[0]) of \(device.name)")
        defer { progress.end() }
        // The daemon discovers no more than it needs.
        if let read = try await device.read(path, text: rest[0]) {
          let plain = Attribute(handle: read.handle ?? 0, uuid: read.uuid ?? 0, properties: [])
          let attribute = await device.described(plain)
          progress.end()
          return try show(read.value.octets, of: attribute, device, output)
        }
      }
      let attribute = try await device.attribute(rest[0])
      let progress = output.progress("Reading \(attribute.title) of \(device.name)")
      defer { progress.end() }
      let octets = try await device.read(attribute.handle)
      progress.end()
      try show(octets, of: attribute, device, output)
    }
  }

  func validate() throws {
    guard value == nil || !global.json else { throw ValidationError("--value and --json: give one of them") }
  }

  /// Whether the format is known without a look at the descriptors of the device.
  @MainActor private func isKnown(_ path: AttributePath, of device: Device) -> Bool {
    guard let uuid = path.characteristic, format.format == nil else { return true }
    return uuid.knownName != nil || device.naming.list.format(of: uuid, of: device.naming.address) != nil
  }

  @MainActor private func show(
    _ octets: [UInt8], of attribute: Attribute, _ device: Device, _ output: Output
  ) throws {
    var attribute = attribute
    attribute.format = format.format ?? attribute.format
    switch value {
    case nil: try output.value(octets, of: attribute, device: device)
    case .hex: output.line(Hex.encode(octets))
    case .raw: output.octets(octets)
    case .text:
      guard let text = String(validating: octets, as: UTF8.self) else {
        throw Failure("the value of \(attribute.title) is not text in UTF-8: \(Hex.encode(octets))")
      }
      output.line(Output.clean(text))
    case .number:
      guard let number = attribute.meaning(of: octets)?.number else {
        throw Failure(
          "the value of \(attribute.title) is not known to be a number: \(Hex.encode(octets)); --as gives its format")
      }
      output.line(numberText(number))
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

  @Argument(
    help: "The device (default: the current one), the characteristic and the value.",
    completion: ShellCompletion.attributes(.write))
  var words: [String] = []
  @OptionGroup var options: WriteOptions
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    try await shell.use(words, for: .write, ["VALUE"], within: connection.deadline, over: connection.adapter) {
      device, rest in
      let writing = try options.writing(rest[1])
      let attribute = try await device.attribute(rest[0])
      let progress = output.progress("Writing \(attribute.title)")
      defer { progress.end() }
      try await device.write(writing, to: attribute)
      progress.end()
      if output.json {
        try output.value(writing.octets, of: attribute, device: device, kind: "written")
      } else {
        let count = writing.octets.count
        output.line("wrote \(count) \(count == 1 ? "octet" : "octets") to \(attribute.title)")
      }
    }
  }
}

/// Hex digits as people write them: in one piece or in groups, with or without 0x.
/// - Parameter hint: The possible alternatives.
/// - Throws: `Failure`, which says so.
func octets(_ text: String, hint: String = "") throws -> [UInt8] {
  let separators: Set<Character> = [" ", ":", "-"]
  let digits = text.hasPrefix("0x") ? text.dropFirst(2) : text[...]
  guard let octets = Hex.decode(digits.filter { !separators.contains($0) }) else {
    throw Failure("\"\(text)\" is not an even number of hex digits\(hint)", status: 64)
  }
  return octets
}
