import BledRPC
import Bluetooth
import CEdit
import Glibc
import Synchronization

/// The completions that Tab offers: commands for the first word, then devices, characteristics and options.
enum Completion {
  private struct State {
    var devices: [String] = []
    var attributes: [String] = []
    var matches: [String] = []
  }

  private static let state = Mutex(State())

  /// Sets the devices and characteristics to choose from.
  static func update(devices: [String], attributes: [ServiceDescription]) {
    let characteristics = attributes.flatMap { $0.characteristics ?? [] }
    let names = characteristics.map { $0.uuid.assignedName ?? "\($0.uuid)" }
    state.withLock { state in
      state.devices = devices
      state.attributes = names + characteristics.map { "\($0.uuid)" }
    }
  }

  /// Called by libedit: the completions of the word that begins at `start`, as a list that libedit frees.
  static func matches(
    _ text: UnsafePointer<CChar>?, start: Int
  ) -> UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? {
    guard let text else { return nil }
    let word = String(cString: text)
    let first = start == 0 ? nil : cedit_line().map { String(cString: $0).split(separator: " ").first.map(String.init) }
    let found = candidates(after: first ?? nil, word).filter { $0.lowercased().hasPrefix(word.lowercased()) }
    state.withLock { $0.matches = found.map(quoted).sorted(by: >) }
    cedit_no_file_names()
    return rl_completion_matches(text) { _, _ in
      Completion.state.withLock { $0.matches.popLast() }.flatMap { strdup($0) }
    }
  }

  private static func candidates(after command: String?, _ word: String) -> [String] {
    let commands = Bleshell.configuration.subcommands.compactMap { $0.configuration.commandName }
    guard let command else { return commands + ["help", "quit"] }
    if word.hasPrefix("-") { return options[command, default: []] + ["--json"] }
    let (devices, attributes) = state.withLock { ($0.devices, $0.attributes) }
    switch command {
    case "help": return commands
    case "connect", "services", "rssi", "forget", "pair": return devices
    case "pairing": return ["list", "forget", "open"] + devices
    case "read", "write", "subscribe": return attributes + devices
    default: return []
    }
  }

  private static let options = [
    "scan": [
      "--time", "--service", "--name", "--whole-name", "--ignore-case", "--address", "--address-kind", "--manufacturer",
      "--service-data", "--pattern", "--connectable", "--rssi", "--rssi-out", "--lost", "--adapter", "--duplicates",
      "--passive", "--anonymous",
    ],
    "connect": ["--timeout"], "services": ["--timeout"], "rssi": ["--timeout"], "read": ["--timeout"],
    "write": ["--text", "--no-response", "--timeout"], "subscribe": ["--count", "--time", "--timeout"],
    "advertise": [
      "--name", "--service", "--service-data", "--manufacturer-data", "--appearance", "--interval", "--adapter",
      "--not-connectable", "--time", "--stop",
    ],
    "pair": ["--level", "--yes", "--passkey", "--timeout"],
    "serve": ["--time", "--visits"], "watch": ["--time"], "raw": ["--time"],
  ]

  /// Blanks are kept together the way `splitWords` reads them.
  private static func quoted(_ word: String) -> String {
    word.reduce(into: "") { text, character in text += (character == " " ? "\\ " : String(character)) }
  }
}
