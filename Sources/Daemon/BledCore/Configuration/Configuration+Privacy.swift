import JSONFiles

extension Configuration {
  /// The addresses used by this machine on the air.
  public struct Privacy: Hashable, Sendable, ConfigurationPart {
    /// A private address's lifetime; nil for none.
    public var rotation: Duration?

    static let keys = [Key.privacy]

    private enum Keys: String, CaseIterable { case rotation }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.privacy] else { return }
      guard section.isObject else {
        let isOn = try section.read(Bool.self, orSay: "give true, false, or { \"rotation\": 900 }")
        rotation = isOn ? .seconds(900) : nil
        return
      }
      // A change interrupts activities for a moment: more often would be felt.
      rotation = .seconds(try FileMembers(section, Keys.self).integer(.rotation, in: 10...86400, default: 900))
    }
  }
}
