/// A device and its characteristics among the words of a command: `DEVICE CHARACTERISTIC… + DEVICE CHARACTERISTIC…`.
struct DeviceWords: Equatable {
  let device: String
  let characteristics: [String]

  /// The word between two devices.
  static let separator = "+"

  /// Reads the words of a command.
  /// - Returns: Empty if no device is named for certain: there is no separator, and at most one word.
  /// - Throws: `Failure` if a device is without characteristics, or named twice.
  static func groups(_ words: [String], of use: AttributeUse) throws(Failure) -> [DeviceWords] {
    let parts = words.split(separator: separator, omittingEmptySubsequences: false)
    guard parts.count > 1 || words.count > 1 else { return [] }
    var groups: [DeviceWords] = []
    var names: Set<[UInt8]> = []
    for part in parts {
      guard let device = part.first, part.count > 1 else {
        throw Failure(
          "each device needs a characteristic: give DEVICE CHARACTERISTIC … + DEVICE CHARACTERISTIC …; see "
            + "\"bleshell help \(use.rawValue)\"", status: 64)
      }
      guard names.insert(Array(device.utf8)).inserted else {
        throw Failure("\(device) is named twice: name it once, with all its characteristics", status: 64)
      }
      groups.append(DeviceWords(device: device, characteristics: Array(part.dropFirst())))
    }
    return groups
  }
}

extension Shell {
  /// Calls a function with several devices, connected one after the other, for that long.
  /// - Parameters: As `use` with one name.
  func use(
    each names: [String], within deadline: Deadline, over adapter: String?, onlyConnecting: Bool,
    _ body: @escaping @MainActor ([Device]) async throws -> Void
  ) async throws {
    guard let first = names.first else { return try await body([]) }
    try await use(first, within: deadline, over: adapter, onlyConnecting: onlyConnecting) { device in
      try await self.use(
        each: Array(names.dropFirst()), within: deadline, over: adapter, onlyConnecting: onlyConnecting
      ) { others in try await body([device] + others) }
    }
  }
}
