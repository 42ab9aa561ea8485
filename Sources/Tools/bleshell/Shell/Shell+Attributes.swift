import BledRPC
import Bluetooth

extension Shell {
  /// Calls a function with a device and the words behind it: a characteristic, then others.
  /// - Parameters:
  ///   - words: An optional device, a characteristic, and the others.
  ///   - use: The use of the characteristic.
  ///   - others: The names of the others.
  ///   - deadline: The time limit for all of it.
  ///   - adapter: The adapter to use; nil: any.
  ///   - onlyConnecting: True if the limit is for the connection alone, and the function may take longer.
  /// - Throws: `Failure` for missing words, with the possible ones; and the function's errors.
  func use(
    _ words: [String], for use: AttributeUse, _ others: [String] = [], within deadline: Deadline,
    over adapter: String? = nil, onlyConnecting: Bool = false,
    _ body: @escaping @MainActor (Device, [String]) async throws -> Void
  ) async throws {
    let count = others.count + 1
    guard words.count <= count + 1 else {
      let usage = (["[DEVICE] CHARACTERISTIC"] + others).joined(separator: " ")
      throw Failure("expected \(usage); see \"bleshell help \(use.rawValue)\"", status: 64)
    }
    if words.count == count + 1 {
      if try await areOfCurrent(words), let current = devices.current {
        let expected = (["CHARACTERISTIC"] + others).joined(separator: " ")
        let device = Output.clean(current.name)
        throw Failure(
          "\(words[0]) is a characteristic of the current device, \(device): expected \(expected)"
            + (others.isEmpty ? "" : "; octets are one word: \"01 02\""), status: 64)
      }
      return try await self.use(words[0], within: deadline, over: adapter, onlyConnecting: onlyConnecting) {
        try await body($0, Array(words.dropFirst()))
      }
    }
    let first = words.first
    if let first, try await isDevice(first) {
      guard words.count == 1 else { throw missing(others.last, of: use) }
      return try await self.use(first, within: deadline, over: adapter, onlyConnecting: onlyConnecting) {
        throw try await self.choice(of: use, on: $0)
      }
    }
    guard let current = devices.current else {
      guard first == nil else { throw Failure("no device is connected: name one, or connect first") }
      throw Failure(
        "\(use.rawValue) needs a device and a characteristic; after \"connect\" only a characteristic", status: 64)
    }
    guard first != nil else { throw try await choice(of: use, on: current) }
    guard words.count == count else { throw missing(others.last, of: use) }
    try await self.use(nil, within: deadline, over: adapter, onlyConnecting: onlyConnecting) {
      try await body($0, words)
    }
  }

  /// True if several words are for the current device: the first one is a characteristic of it, and not the name of a
  /// device.
  func areOfCurrent(_ words: [String]) async throws -> Bool {
    guard let current = devices.current, let first = words.first, words.count > 1,
      !words.contains(DeviceWords.separator)
    else { return false }
    if first.lowercased().hasPrefix("0x") || first.utf8.count == 4 && BluetoothUUID(first) != nil {
      return try await !isDevice(named: first)
    }
    guard try await !isDevice(named: first) else { return false }
    return (try? await current.tree().attribute(first, current.naming)) != nil
  }

  /// True if a word is the name of a device, its address, its identifier, or the beginning of one of these.
  private func isDevice(named word: String) async throws -> Bool {
    if devices.find(word) != nil { return true }
    return (try? await finder().isKnown(word)) ?? false
  }

  /// True if a word denotes a device rather than a characteristic of the current one.
  private func isDevice(_ word: String) async throws -> Bool {
    if AttributePath(word) != nil || word.lowercased().hasPrefix("0x") { return false }
    // Without the descriptions on the device: reading them is slow, and a name of a device needs none.
    if let current = devices.current, (try? await current.tree().attribute(word, current.naming)) != nil {
      return false
    }
    return try await isDevice(named: word)
  }

  private func missing(_ name: String?, of use: AttributeUse) -> Failure {
    Failure("\(use.rawValue) needs a \(name ?? "CHARACTERISTIC"); see \"bleshell help \(use.rawValue)\"", status: 64)
  }

  /// The error for a characteristic that was not given.
  private func choice(of use: AttributeUse, on device: Device) async throws -> Failure {
    let all = try await device.tree().flatMap { $0.characteristics ?? [] }.filter { use.fits($0.properties) }
    let naming = device.naming
    let lines = all.map {
      "  \($0.handle.handleText)  \(Attribute.title($0.uuid, named: naming.name(of: $0.uuid, handle: $0.handle)))"
    }
    let name = Output.clean(device.name)
    guard !lines.isEmpty else { return Failure("\(name) has no characteristic to \(use.rawValue)") }
    return Failure(
      "\(use.rawValue) needs a CHARACTERISTIC of \(name), one of:\n" + lines.joined(separator: "\n"), status: 64)
  }
}
