import ArgumentParser
import BledClient
import BledRPC
import Bluetooth

/// The event that `bleshell expect` waits for.
enum Expectation: Equatable {
  /// A value of a characteristic of the current device; any if nil.
  case notification(characteristic: String, value: [UInt8]?)
  /// That a device is heard.
  case device(String)
  /// That the current device disconnects.
  case disconnected

  /// Reads the words of the command.
  /// - Returns: What is expected, and within how many seconds.
  /// - Throws: `Failure` for other words, which says what can be given.
  static func parse(_ words: [String]) throws -> (Expectation, seconds: Double) {
    guard words.count >= 3, words[words.count - 2] == "within", let seconds = Double(words[words.count - 1]),
      seconds > 0, seconds <= 86_400
    else { throw wrong }
    let rest = words.dropLast(2)
    switch (rest.first, rest.count) {
    case ("notification", 2): return (.notification(characteristic: rest[1], value: nil), seconds)
    case ("notification", 3): return (.notification(characteristic: rest[1], value: try octets(rest[2])), seconds)
    case ("device", 2): return (.device(rest[1]), seconds)
    case ("disconnected", 1): return (.disconnected, seconds)
    default: throw wrong
    }
  }

  private static var wrong: Failure {
    Failure(
      """
      expected "notification CHARACTERISTIC [VALUE] within SECONDS", "device DEVICE within SECONDS" or \
      "disconnected within SECONDS"
      """, status: 64)
  }
}

/// `bleshell expect`
struct ExpectCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "expect", abstract: "Waits until something happens (in line mode and in files for run).",
    usage: """
      bleshell expect notification <characteristic> [<value>] within <seconds>
      bleshell expect device <device> within <seconds>
      bleshell expect disconnected within <seconds>
      """,
    discussion: """
      The current device is meant. A notification is the next one since the last "expect" for the characteristic, or \
      since "listen"; with a value, in hex, others are passed over. If it does not happen in time, the status is 2.
      """)

  @Argument(help: "The expectation, and within how many seconds.") var words: [String] = []
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    let output = output(of: shell)
    let (expectation, seconds) = try Expectation.parse(words)
    let progress = output.progress("Expecting \(words.joined(separator: " "))")
    defer { progress.end() }
    let met: Void? = try await withDeadline(seconds) { @MainActor in
      switch expectation {
      case .notification(let characteristic, let value):
        try await notification(characteristic, value, in: shell, output, progress)
      case .device(let text): try await shell.hear(text)
      case .disconnected:
        let current = shell.current
        while let current, shell.devices.contains(where: { $0 === current }), !current.isLost {
          try await Task.sleep(for: .milliseconds(20))
        }
        guard shell.seeEnd() || current != nil else { throw Failure("no device is connected: connect first") }
      }
    }
    if met == nil { throw Failure("not within \(seconds) s: \(words.dropLast(2).joined(separator: " "))", status: 2) }
  }

  @MainActor private func notification(
    _ characteristic: String, _ wanted: [UInt8]?, in shell: Shell, _ output: Output, _ progress: Progress
  ) async throws {
    guard let device = shell.current else { throw Failure("no device is connected: connect first") }
    let attribute = try await device.tree().attribute(characteristic)
    let values = try await device.listen(to: attribute)
    var isMet = false
    defer { if !isMet { device.stopListening(to: attribute) } }
    for try await value in values where wanted == nil || value == wanted {
      isMet = true
      progress.end()
      return try output.value(value, of: attribute, device: device)
    }
    try Task.checkCancellation()
    throw Failure("\(device.name) disconnected")
  }
}

/// `bleshell listen`
struct ListenCommand: ShellCommand {
  static let configuration = CommandConfiguration(
    commandName: "listen",
    abstract: "Subscribes to a characteristic of the current device, for expect (in line mode and in files for run).")

  @Argument(help: "The characteristic.") var characteristic: String
  @OptionGroup var global: GlobalOptions

  func run(in shell: Shell) async throws {
    guard let device = shell.current else { throw Failure("no device is connected: connect first") }
    _ = try await device.listen(to: try await device.tree().attribute(characteristic))
  }
}
