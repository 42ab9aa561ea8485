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

  @Argument(help: "The device, if it is not the current one, and the characteristic.") var words: [String]
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, rest) = try words(words, "CHARACTERISTIC")
    try await shell.use(device, timeout: timeout.timeout) { device in
      if let path = AttributePath(rest[0]), device.knownTree.isEmpty {
        // The daemon discovers no more than it needs.
        let read = try await shell.connection().call(
          GATTRead.self, .init(peripheral: device.peripheral.identifier, attribute: path))
        let attribute = Attribute(handle: read.handle ?? 0, uuid: read.uuid ?? 0, properties: [])
        return try output.value(read.value.octets, of: attribute, device: device)
      }
      let attribute = try await device.tree().attribute(rest[0])
      try output.value(try await device.peripheral.read(attribute.handle), of: attribute, device: device)
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

  @Argument(help: "The device (default: the current one), the characteristic and the value.") var words: [String]
  @Flag(help: "The value is text.") var text = false
  @Flag(help: "Write without response.") var noResponse = false
  @Flag(help: "Write without response, signed with the key of the bond.") var signed = false
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, rest) = try words(words, "CHARACTERISTIC", "VALUE")
    let value = text ? Array(rest[1].utf8) : try octets(rest[1])
    try await shell.use(device, timeout: timeout.timeout) { device in
      let attribute = try await device.tree().attribute(rest[0])
      let onlyCommands = attribute.has("writeWithoutResponse") && !attribute.has("write")
      if signed {
        try await device.peripheral.writeSigned(value, to: .handle(attribute.handle))
      } else {
        try await device.peripheral.write(value, to: attribute.handle, response: !(noResponse || onlyCommands))
      }
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

/// `bleshell subscribe`
struct SubscribeCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "subscribe", abstract: "Prints the values that a characteristic notifies or indicates.",
    usage: "bleshell subscribe [<device>] <characteristic> [--indications] [--count <count>] [--time <time>]",
    discussion: "Without --count and --time it runs until Ctrl-C.")

  @Argument(help: "The device (default: the current one) and the characteristic.") var words: [String]
  @Flag(help: "Receive indications, of a characteristic that has notifications as well.") var indications = false
  @Option(help: "Stop after this many values.") var count: Int?
  @Option(help: "Stop after this many seconds; with --count it is a failure if fewer values came.") var time: Double?
  @OptionGroup var timeout: TimeoutOption
  @OptionGroup var global: GlobalOptions

  func validate() throws {
    guard count ?? 1 > 0 else { throw ValidationError("--count must be greater than 0") }
    try checkTime(time)
  }

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (device, rest) = try words(words, "CHARACTERISTIC")
    try await shell.use(device, timeout: timeout.timeout) { device in
      let attribute = try await device.tree().attribute(rest[0])
      let values = try await device.peripheral.subscribe(
        .handle(attribute.handle), indications: indications ? true : nil)
      let losses = try await shell.connection().observe(GATTValuesLost.self) { [device = device.peripheral] loss in
        guard loss.peripheral == device.identifier else { return }
        output.problem("packets dropped because a buffer was full: \(loss.packets); values may be missing here")
      } end: { _ in
      }
      defer { losses.cancel() }
      do {
        let done: Void? = try await withDeadline(time ?? 0) { @MainActor in
          var left = count
          for try await value in values {
            try output.value(value, of: attribute, device: device, time: Date())
            left = left.map { $0 - 1 }
            if left == 0 { return }
          }
          try Task.checkCancellation()
          throw Failure("\(device.name) disconnected")
        }
        if done == nil, let count { throw Failure("fewer than \(count) values came within the time") }
      } catch is CancellationError where count == nil && time == nil {
        // Ctrl-C is the regular end.
      }
    }
  }
}
