import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import FoundationEssentials

/// The event that `bleshell expect` waits for.
enum Expectation: Equatable {
  /// A value that a characteristic of the current device notifies.
  case notification(characteristic: String, value: ExpectedValue)
  /// A value that is read from one.
  case value(characteristic: String, value: ExpectedValue)
  /// A device is received.
  case device(String)
  /// That the current device disconnects.
  case disconnected

  /// Reads the words of the command.
  /// - Returns: The expected text, and the number of seconds.
  /// - Throws: `Failure` for other words, which lists the possible ones.
  static func parse(
    _ words: [String], isText: Bool = false, mask: String? = nil
  ) throws -> (Expectation, seconds: Double) {
    guard words.count >= 3, words[words.count - 2] == "within", let seconds = Double(words[words.count - 1]),
      seconds > 0, seconds <= 86_400
    else { throw wrong }
    let rest = words.dropLast(2)
    func value() throws -> ExpectedValue {
      try ExpectedValue(rest.count == 3 ? rest[2] : nil, isText: isText, mask: mask)
    }
    switch (rest.first, rest.count) {
    case ("notification", 2...3): return (.notification(characteristic: rest[1], value: try value()), seconds)
    case ("value", 2...3): return (.value(characteristic: rest[1], value: try value()), seconds)
    case ("device", 2): return (.device(rest[1]), seconds)
    case ("disconnected", 1): return (.disconnected, seconds)
    default: throw wrong
    }
  }

  private static var wrong: Failure {
    Failure(
      """
      expected "notification CHARACTERISTIC [VALUE] within SECONDS", "value CHARACTERISTIC [VALUE] within SECONDS", \
      "device DEVICE within SECONDS" or "disconnected within SECONDS"
      """, status: 64)
  }
}

/// `bleshell expect`
struct ExpectCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "expect", abstract: "Waits until something happens (in line mode and in files for run).",
    usage: """
      bleshell expect notification <characteristic> [<value>] [--text] [--mask <mask>] within <seconds>
      bleshell expect value <characteristic> [<value>] [--text] [--mask <mask>] within <seconds>
      bleshell expect device <device> within <seconds>
      bleshell expect disconnected within <seconds>
      """,
    discussion: """
      The current device is meant. A notification is the next one since the last "expect" for the characteristic, or \
      since "listen"; a value is read, again and again until it is the expected one. With a value others are passed over: \
      octets in hex, of which the bits of --mask count, text with --text, or a number in a range (60..100, 60.., ..100). \
      If it does not happen in time, the status is 2.
      """)

  /// Between two reads of a value, in milliseconds.
  private static let pause = 200

  @Argument(help: "The expectation, and within how many seconds.") var words: [String] = []
  @Flag(help: "The value is text.") var text = false
  @Option(help: "The bits of the value that count, in hex.") var mask: String?
  @OptionGroup var values: ValueOptions
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (expectation, seconds) = try Expectation.parse(words, isText: text, mask: mask)
    let progress = output.progress("Expecting \(words.joined(separator: " "))")
    defer { progress.end() }
    let others = OtherValues()
    let met: Void? = try await withDeadline(seconds) { @MainActor in
      switch expectation {
      case .notification(let characteristic, let value):
        try await notification(characteristic, value, others, in: shell, output, progress)
      case .value(let characteristic, let value):
        try await read(characteristic, value, others, in: shell, output, progress)
      case .device(let text):
        let identifier = try await shell.finder().hear(text)
        if output.json { try output.object("device", ["peripheral": identifier]) }
      case .disconnected:
        let current = shell.devices.current
        while let current, shell.devices.contains(current), !current.isLost {
          try await Task.sleep(for: .milliseconds(20))
        }
        if !shell.devices.seeEnd(), current == nil { _ = try shell.currentDevice(for: "expect") }
        if output.json { try output.object("disconnected", ["device": current?.name]) }
      }
    }
    if met == nil {
      throw Failure(
        "not within \(shortNumber(seconds)) s: \(words.dropLast(2).joined(separator: " "))\(others.words)", status: 2)
    }
  }

  @MainActor private func read(
    _ characteristic: String, _ wanted: ExpectedValue, _ others: OtherValues, in shell: Shell, _ output: Output,
    _ progress: Progress
  ) async throws {
    let device = try shell.currentDevice(for: "expect")
    var attribute = try await device.attribute(characteristic)
    attribute.format = values.format ?? attribute.format
    while true {
      let value = try await device.read(attribute.handle)
      if wanted.fits(value, of: attribute) {
        progress.end()
        return try output.value(value, of: attribute, device: device)
      }
      others.read(value, of: attribute)
      try await Task.sleep(for: .milliseconds(Self.pause))
    }
  }

  @MainActor private func notification(
    _ characteristic: String, _ wanted: ExpectedValue, _ others: OtherValues, in shell: Shell, _ output: Output,
    _ progress: Progress
  ) async throws {
    let device = try shell.currentDevice(for: "expect")
    var attribute = try await device.attribute(characteristic)
    attribute.format = self.values.format ?? attribute.format
    let values = try await device.listen(to: attribute)
    var isMet = false
    defer { if !isMet { device.stopListening(to: attribute) } }
    others.listens()
    for try await value in values {
      guard wanted.fits(value, of: attribute) else {
        others.came(value, of: attribute)
        continue
      }
      isMet = true
      progress.end()
      // At a prompt "listen" has shown it.
      if device.isShown(attribute) { return }
      return try output.value(value, of: attribute, device: device)
    }
    try Task.checkCancellation()
    throw Failure("\(device.name) disconnected")
  }
}

/// The values that were not the expected one, for the message of a failure.
@MainActor private final class OtherValues {
  private var count = 0
  private var last: String?
  private var isListening = false

  /// A value was read.
  func read(_ value: [UInt8], of attribute: Attribute) { last = Self.text(value, attribute) }

  /// Notifications are awaited.
  func listens() { isListening = true }

  /// A value was notified.
  func came(_ value: [UInt8], of attribute: Attribute) { (count, last) = (count + 1, Self.text(value, attribute)) }

  /// Their part of the message.
  var words: String {
    guard isListening else { return last.map { "; it was \($0)" } ?? "" }
    guard let last else { return "; no value came" }
    return count == 1 ? "; it was \(last)" : "; \(count) other values came, the last \(last)"
  }

  private static func text(_ value: [UInt8], _ attribute: Attribute) -> String {
    let hex = value.isEmpty ? "(empty)" : Hex.encode(value)
    return attribute.meaning(of: value).map { "\(hex) (\($0.shown))" } ?? hex
  }
}

/// `bleshell listen`
struct ListenCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen",
    abstract: "Subscribes to a characteristic of the current device (in line mode and in files for run).",
    discussion: """
      At the prompt of a terminal its values are shown as they come, while other commands are typed. For "expect" they are \
      kept, wherever they are not shown.
      """)

  @Argument(help: "The characteristic; with --stop it can be left out: all are meant.") var characteristic: String?
  @Flag(help: "Do not listen any more.") var stop = false
  @OptionGroup(title: "Common options") var global: GlobalOptions

  func validate() throws {
    guard characteristic != nil || stop else { throw ValidationError("listen needs a characteristic") }
  }

  func run(in shell: Shell) async throws {
    let device = try shell.currentDevice(for: "listen")
    guard let characteristic else { return device.stopListening() }
    let attribute = try await device.attribute(characteristic)
    guard !stop else { return device.stopListening(to: attribute) }
    let output = output(of: shell)
    guard shell.announce != nil else {
      _ = try await device.listen(to: attribute)
      return
    }
    _ = try await device.listen(to: attribute) { [weak shell] value in
      let time = output.styled(clockText(Date()), .dim)
      shell?.show?("\(time)  \(output.text(value, of: attribute))")
    }
  }
}
