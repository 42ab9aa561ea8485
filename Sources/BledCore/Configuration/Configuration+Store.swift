extension Configuration {
  /// What outlasts the daemon.
  public struct Store: Hashable, Sendable, ConfigurationPart {
    /// Where it is unless something else is said.
    public static let defaultDirectory = "/var/lib/bled"

    /// Where it is; nil for systemd's choice, else the default one.
    public var directory: String?

    static let keys = ["stateDirectory"]

    mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
      directory = try root.value("stateDirectory", String.self, "give a path")
    }
  }
}
