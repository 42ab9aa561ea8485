import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// `bleshell read`
struct ReadCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "read", abstract: "Reads a characteristic or descriptor.",
    usage: """
      bleshell read [<device>] <characteristic> [--as <format>] [--value <form>]
      bleshell read <device> <characteristic> ... [+ <device> <characteristic> ...] [--every <every>] \
      [--count <count>] [--csv | --columns]
      """,
    discussion: """
      Several characteristics of a device, and of other devices behind a +, are read one after the other; with --every \
      again and again, until Ctrl-C. \
      --value prints nothing but the value, for scripts: as hex digits, as text, as the octets themselves (raw), or as a \
      number in the unit of the characteristic.
      """)

  /// The form of a value printed alone.
  enum Form: String, ExpressibleByArgument, CaseIterable { case hex, text, raw, number }

  @Argument(
    help: "The device, if it is not the current one, and the characteristics; more devices behind a +.",
    completion: ShellCompletion.attributes(.read))
  var words: [String] = []
  @Option(help: "Print only the value: hex, text, raw or number.") var value: Form?
  @OptionGroup var format: ValueOptions
  @Option(help: "Read again every so many seconds, 0.05 or more.") var every: Double?
  @Option(help: "With --every: stop after this many rounds.") var count: Int?
  @Flag(help: "Print comma-separated values, as of subscribe.") var csv = false
  @Flag(help: "Print comma-separated values with a line for each round, and a column for each value.")
  var columns = false
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let areOfCurrent = try await shell.areOfCurrent(words)
    let isForSeveral = words.count > 2 || areOfCurrent || words.contains(DeviceWords.separator)
    if isForSeveral || every != nil || csv || columns {
      return try await readSeveral(in: shell, output, areOfCurrent: areOfCurrent)
    }
    try await shell.use(words, for: .read, within: connection.deadline, over: connection.adapter) { device, rest in
      if let path = AttributePath(rest[0]), device.knownTree.isEmpty, isKnown(path, of: device) {
        let progress = output.progress("Reading \(rest[0]) of \(device.name)")
        defer { progress.end() }
        // The daemon discovers no more than it needs.
        if let read = try await device.read(path, text: rest[0]) {
          let plain = Attribute(handle: read.handle ?? 0, uuid: read.uuid ?? 0, properties: [], service: path.service)
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
    guard [value != nil, csv, columns, global.json].count(where: { $0 }) <= 1 else {
      throw ValidationError("--value, --csv, --columns and --json: give one of them")
    }
    guard 0.05...1e9 ~= every ?? 1 else { throw ValidationError("--every must be 0.05 or more seconds") }
    guard count == nil || every != nil, count ?? 1 > 0 else {
      throw ValidationError("--count goes with --every, and must be greater than 0")
    }
  }

  /// True if the name and the format are known without reading the services and descriptors of the device.
  @MainActor private func isKnown(_ path: AttributePath, of device: Device) -> Bool {
    guard let uuid = path.characteristic else { return true }
    let list = device.naming.list
    // The user's entry may be for its service, which the tree has.
    if path.service == nil, list.entries.contains(where: { $0.key.uuid == uuid && $0.key.service != nil }) {
      return false
    }
    guard format.format == nil else { return true }
    return uuid.knownName != nil || list.format(of: uuid, in: path.service, of: device.naming.address) != nil
  }

  @MainActor func show(
    _ octets: [UInt8], of attribute: Attribute, _ device: Device, _ output: Output, at time: Date? = nil,
    namesDevice: Bool = false
  ) throws {
    var attribute = attribute
    attribute.format = format.format ?? attribute.format
    switch value {
    case nil where csv: output.csvValue(octets, of: attribute, device: device, time: time ?? Date())
    case nil: try output.value(octets, of: attribute, device: device, time: time, namesDevice: namesDevice)
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
    usage: """
      bleshell write [<device>] <characteristic> <value> [--text | --as <format>] [--no-response | --signed]
      bleshell write [<device>] <characteristic> --file <file> [--chunk <chunk>] [--no-response]
      """,
    discussion: """
      A file is written in pieces, one after the other, each as long as a packet has room for or as --chunk says. A \
      value is given as hex digits, also in groups ("01 02", "01:02", "0x0102"), as text with --text, or with --as as a \
      number or fields of a format ("--as u16 300"). A characteristic that supports only writes without response is \
      always written that way.
      """)

  @Argument(
    help: "The device (default: the current one), the characteristic and the value.",
    completion: ShellCompletion.attributes(.write))
  var words: [String] = []
  @OptionGroup var options: WriteOptions
  @Option(help: "Write the octets of this file in pieces; - is standard input.", completion: .file()) var file: String?
  @Option(help: "With --file: the octets of a piece, 1 to 512 (default: those of a packet).") var chunk: Int?
  @OptionGroup(title: "Reaching the device") var connection: ConnectionOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard chunk == nil || file != nil else { throw ValidationError("--chunk goes with --file") }
    guard 1...FileWriting.longestPiece ~= chunk ?? 1 else { throw ValidationError("--chunk must be 1 to 512") }
    guard file == nil || !options.text && !options.signed && options.format == nil else {
      throw ValidationError("--file does not go with --text, --as and --signed")
    }
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    if let file { return try await write(file, in: shell, output) }
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

extension WriteCommand {
  @MainActor private func write(_ file: String, in shell: Shell, _ output: Output) async throws {
    let writing = try await FileWriting(path: file, way: options.noResponse ? .withoutResponse : .usual, piece: chunk)
    try await shell.use(
      words, for: .write, within: connection.deadline, over: connection.adapter, onlyConnecting: true
    ) { device, rest in
      let attribute = try await device.attribute(rest[0])
      let progress = output.progress("Writing \(attribute.title)")
      defer { progress.end() }
      let seconds = try await writing.write(to: attribute, of: device, progress)
      progress.end()
      let count = writing.octets.count
      if output.json {
        return try output.object(
          "written",
          ["handle": .integer(Int(attribute.handle)), "octets": .integer(count), "seconds": .number(seconds)]
            as JSONValue)
      }
      let rate = seconds > 0.1 ? ", \(octetText(UInt64(Double(count) / seconds)))/s" : ""
      output.line("wrote \(octetText(UInt64(count))) to \(attribute.title) in \(shortNumber(seconds)) s\(rate)")
    }
  }
}

/// Parses hex digits as people write them: in one piece or in groups, with or without 0x.
/// - Parameter hint: The possible alternatives.
/// - Throws: `Failure` for other text.
func octets(_ text: String, hint: String = "") throws -> [UInt8] {
  let separators: Set<Character> = [" ", ":", "-"]
  let digits = text.hasPrefix("0x") ? text.dropFirst(2) : text[...]
  guard let octets = Hex.decode(digits.filter { !separators.contains($0) }) else {
    throw Failure("\"\(text)\" is not an even number of hex digits\(hint)", status: 64)
  }
  return octets
}
