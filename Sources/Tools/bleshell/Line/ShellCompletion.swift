import ArgumentParser
import BledClient
import BledRPC
import Bluetooth
import Dispatch
import Synchronization
import ValueFormats

/// The completions that bash, zsh and fish request from `bleshell`: devices, adapters and characteristics that the
/// daemon knows.
///
/// The names of devices come from strangers' radios, and bash expands completions as a shell expands a command:
/// for a name with any character that could mean something to a shell the address is offered instead.
enum ShellCompletion {
  /// Timeout of the daemon, in seconds: a person waits for the key.
  private static let timeout = 2
  /// Maximum candidates.
  private static let maximum = 200

  static let devices = CompletionKind.custom { _, _, _ in answer { await devices($0) } }
  static let adapters = CompletionKind.custom { _, _, _ in answer { await adapters($0) } }

  /// A device, then one of its characteristics.
  static func attributes(_ use: AttributeUse) -> CompletionKind {
    .custom { words, index, _ in
      let before = positionals(words, before: index)
      // Behind a + there is another device.
      let begin = use.takesSeveral ? before.lastIndex(of: DeviceWords.separator).map { $0 + 1 } ?? 0 : 0
      let group = before[begin...]
      return answer { client in
        guard let device = group.first else { return await devices(client) }
        return group.count == 1 || use.takesSeveral ? await attributes(of: device, use, client) : []
      }
    }
  }

  /// A device, then one of some words; the words alone apply to the current device.
  static func devices(then choices: [String]) -> CompletionKind {
    .custom { words, index, _ in
      switch positionals(words, before: index).count {
      case 0: answer { await devices($0) + choices }
      case 1: choices
      default: []
      }
    }
  }

  /// True if a shell does not change a name.
  static func isPlain(_ name: String) -> Bool {
    guard name.utf8.count <= 64, name.first != "-", name.first != " ", name.last != " " else { return false }
    return !name.isEmpty
      && name.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .otherLetter, .decimalNumber: true
        default: " _.-+".unicodeScalars.contains(scalar)
        }
      }
  }

  /// The words behind the command that are neither options nor their values, as far as that can be seen here.
  private static func positionals(_ words: [String], before index: Int) -> [String] {
    var found: [String] = []
    var isValue = false
    for word in words.prefix(max(0, index)).dropFirst(2) {
      if !isValue, !word.hasPrefix("-") { found.append(word.filter { $0 != "\\" && $0 != "\"" && $0 != "'" }) }
      isValue = [
        "--timeout", "--adapter", "--socket", "--value", "--count", "--time", "--as", "--every", "--file", "--chunk",
      ].contains(word)
    }
    return found
  }

  /// Calls the daemon; without an answer there are no candidates.
  private static func answer(_ ask: @escaping @Sendable (BledClient) async -> [String]) -> [String] {
    let found = Mutex<[String]>([])
    let done = DispatchSemaphore(value: 0)
    let task = Task.detached {
      if let client = try? await BledClient.connect(name: "bleshell completion") {
        let candidates = await ask(client)
        found.withLock { $0 = candidates }
        client.close()
      }
      done.signal()
    }
    if done.wait(timeout: .now() + .seconds(timeout)) == .timedOut { task.cancel() }
    let isZsh = CompletionShell.requesting == .zsh
    // In zsh a description follows a colon.
    return found.withLock { $0 }.prefix(maximum).map { isZsh ? $0.replacing(":", with: "\\:") : $0 }
  }

  /// The devices that the daemon knows, and the ones that the user names.
  private static func devices(_ client: BledClient) async -> [String] {
    let known = (try? await client.call(PeripheralList.self, Empty()).peripherals) ?? []
    let names = NameFiles.readable { _ in }
    let shown = known.map { device in
      (names.name(ofDevice: device.address) ?? device.name).flatMap { isPlain($0) ? $0 : nil } ?? device.address
    }
    return shown + names.deviceNames.filter { isPlain($0) && !shown.contains($0) }
  }

  private static func adapters(_ client: BledClient) async -> [String] {
    ((try? await client.call(AdapterList.self, Empty()).adapters) ?? []).map(\.adapter)
  }

  /// The characteristics of a device that is connected here already: no key makes a connection.
  private static func attributes(of device: String, _ use: AttributeUse, _ client: BledClient) async -> [String] {
    let known = (try? await client.call(PeripheralList.self, Empty()).peripherals) ?? []
    let names = NameFiles.readable { _ in }
    let own = names.address(ofDevice: device)
    let meant = known.filter { entry in
      entry.state == "connected"
        && ([entry.name, entry.address, entry.peripheral].contains { $0 == device } || entry.address == own)
    }
    guard meant.count == 1, let entry = meant.first,
      let peripheral = try? await client.connect(.identifier(entry.peripheral), timeout: .seconds(timeout))
    else { return [] }
    let services = try? await peripheral.discover()
    try? await peripheral.disconnect()
    let naming = AttributeNaming(list: names, address: entry.address)
    return (services ?? []).words(for: use, naming).filter { isPlain($0) || BluetoothUUID($0) != nil }
  }
}
