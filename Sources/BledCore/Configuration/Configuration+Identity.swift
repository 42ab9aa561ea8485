extension Configuration {
  /// What devices see of this machine.
  public struct Identity: Hashable, Sendable, ConfigurationPart {
    /// The Device Name of the GAP service; nil for the name of the machine.
    public var name: String?
    /// The Appearance of the GAP service (Assigned Numbers, 2.6); 0 is unknown.
    public var appearance: UInt16 = 0

    static let keys = ["name", "appearance"]
    static let isReloaded = true

    mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
      name = try root.value("name", String.self, "give a text")
      appearance = try root.value("appearance", UInt16.self, "give a number from 0 to 65535") ?? appearance
    }
  }
}
