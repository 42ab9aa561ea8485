import Bluetooth

/// A device that a text of the user may denote.
struct DeviceCandidate {
  let identifier: String
  let name: String?
  let address: String

  init(_ identifier: String, _ name: String?, _ address: String) {
    self.identifier = identifier
    self.name = name
    self.address = address
  }

  /// The device that matches: by identifier or address, name, prefix of the identifier or prefix of the name, in this
  /// order.
  /// - Throws: `Failure` if several match in the same way.
  static func choose(_ text: String, among candidates: [DeviceCandidate]) throws -> DeviceCandidate? {
    let lower = text.lowercased()
    let address = address(text)
    let rules: [(DeviceCandidate) -> Bool] = [
      { $0.identifier.lowercased() == lower || $0.address == address },
      { $0.name == text },
      { $0.name?.lowercased() == lower },
      { lower.count >= 4 && $0.identifier.lowercased().hasPrefix(lower) },
      { $0.name?.lowercased().hasPrefix(lower) == true },
    ]
    for rule in rules {
      let matches = candidates.filter(rule)
      if matches.count > 1 {
        let sorted = matches.sorted { ($0.name ?? "", $0.address) < ($1.name ?? "", $1.address) }
        let names = sorted.map { "\($0.name.map(Output.clean) ?? "?") \($0.address) \($0.identifier)" }
        throw Failure(
          "\(text) is ambiguous; give the address or identifier of one of these:\n" + names.joined(separator: "\n"))
      }
      if let match = matches.first { return match }
    }
    return nil
  }

  /// Parses an address in any spelling: with colons, dashes or nothing between its six pairs of digits.
  /// - Returns: The address with colons, in upper case; nil for other text.
  static func address(_ text: String) -> String? {
    let digits = Array(text.filter { $0 != ":" && $0 != "-" })
    guard digits.count == 12, text.utf8.count == 12 || text.utf8.count == 17 else { return nil }
    let pairs = stride(from: 0, to: 12, by: 2).map { String(digits[$0...($0 + 1)]) }
    let separator = text.utf8.count == 17 && text.contains("-") ? "-" : ":"
    guard text.utf8.count == 12 || text == pairs.joined(separator: separator) else { return nil }
    return DeviceAddress(pairs.joined(separator: ":"), kind: .public).map { "\($0)" }
  }
}
