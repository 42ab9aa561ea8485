extension Configuration {
  /// The socket that clients connect to.
  public struct Socket: Hashable, Sendable, ConfigurationPart {
    /// Its path.
    public var path = "/run/bled/bled.sock"
    /// The permissions of its file.
    public var mode: UInt16 = 0o660
    /// The group of its file, if there is one of that name.
    public var group = "bluetooth"

    static let keys = ["socket"]

    mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
      guard let section = try root.section("socket") else { return }
      try section.allow(["path", "mode", "group"])
      path = try section.value("path", String.self, "give a path") ?? path
      group = try section.value("group", String.self, "give the name of a group") ?? group
      let octal = "give three octal digits as text, such as \"0660\""
      guard let text = try section.value("mode", String.self, octal) else { return }
      guard let value = UInt16(text, radix: 8), value <= 0o777 else { throw section.badValue("mode", octal) }
      mode = value
    }
  }
}
