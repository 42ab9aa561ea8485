extension Configuration {
  /// The adapters to use.
  public struct Adapters: Hashable, Sendable, ConfigurationPart {
    /// Their names as `--adapter` takes them; the first is the default one.
    public var names = ["hci0"]

    static let keys = ["adapters"]
    static let isReloaded = true

    mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
      let remedy = "give a list of texts, at least one, such as [\"hci0\"]"
      guard let value = try root.value("adapters", [String].self, remedy) else { return }
      guard !value.isEmpty else { throw root.badValue("adapters", remedy) }
      names = value
    }
  }
}
