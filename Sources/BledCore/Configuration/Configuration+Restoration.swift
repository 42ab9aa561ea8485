extension Configuration {
  /// What is kept for programs that are gone.
  public struct Restoration: Hashable, Sendable, ConfigurationPart {
    /// For how long at the most, in seconds; 0: not at all.
    public var keep = 3600
    /// The directory of the files that start programs; nil: beside the socket, see `Configuration.wakeDirectory`.
    public var wakeDirectory: String?

    static let keys = ["restoration"]

    mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
      guard let section = try root.section("restoration") else { return }
      try section.allow(["keep", "wakeDirectory"])
      let seconds = "give a number of seconds from 0 to 604800, a week"
      keep = try section.value("keep", Int.self, seconds) ?? keep
      guard (0...604_800).contains(keep) else { throw section.badValue("keep", seconds) }
      wakeDirectory = try section.value("wakeDirectory", String.self, "give a path") ?? wakeDirectory
    }

    func keysForRestart(after old: Self) -> [String] {
      wakeDirectory == old.wakeDirectory ? [] : ["restoration.wakeDirectory"]
    }
  }
}

extension Configuration {
  /// The directory of the files that start programs: the one given, else one for each socket, so that two daemons do not
  /// share it.
  public var wakeDirectory: String {
    restoration.wakeDirectory ?? (socket.path == Socket().path ? "/run/bled/wake" : "\(socket.path).wake")
  }
}
