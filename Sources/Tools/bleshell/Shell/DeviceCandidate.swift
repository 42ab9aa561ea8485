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
    let rules: [(DeviceCandidate) -> Bool] = [
      { $0.identifier.lowercased() == lower || $0.address.lowercased() == lower },
      { $0.name == text },
      { $0.name?.lowercased() == lower },
      { lower.count >= 4 && $0.identifier.lowercased().hasPrefix(lower) },
      { $0.name?.lowercased().hasPrefix(lower) == true },
    ]
    for rule in rules {
      let matches = candidates.filter(rule)
      if matches.count > 1 {
        let names = matches.map { "\($0.name.map(Output.clean) ?? "?") \($0.address) \($0.identifier)" }
        throw Failure(
          "\(text) is ambiguous; give the address or identifier of one of these:\n" + names.joined(separator: "\n"))
      }
      if let match = matches.first { return match }
    }
    return nil
  }
}
