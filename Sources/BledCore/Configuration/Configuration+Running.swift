import JSONFiles
import Logging

// How the daemon runs: its adapters, its socket, its files and its log.

extension Configuration {
  /// The adapters to use.
  public struct Adapters: Hashable, Sendable, ConfigurationPart {
    /// Their names as `--adapter` takes them; the first is the default one.
    public var names = ["hci0"]

    static let keys = [Key.adapters]
    static let isReloaded = true

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let value = root[.adapters] else { return }
      let remedy = "give a list of one or more strings, such as [\"hci0\"]"
      names = try value.read(orSay: remedy)
      guard !names.isEmpty else { throw value.failure(remedy) }
    }
  }

  /// The socket that clients connect to.
  public struct Socket: Hashable, Sendable, ConfigurationPart {
    /// Its path.
    public var path = "/run/bled/bled.sock"
    /// The permissions of its file.
    public var mode: UInt16 = 0o660
    /// The group of its file, if there is one of that name.
    public var group = "bluetooth"

    static let keys = [Key.socket]

    private enum Keys: String, CaseIterable { case path, mode, group }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.socket] else { return }
      let members = try FileMembers(section, Keys.self)
      path = try members.value(.path, default: path)
      group = try members.value(.group, default: group)
      guard let value = members[.mode] else { return }
      let octal = "give three octal digits as a string, such as \"0660\""
      guard let mode = UInt16(try value.read(String.self, orSay: octal), radix: 8), mode <= 0o777 else {
        throw value.failure(octal)
      }
      self.mode = mode
    }
  }

  /// The state that is kept across restarts.
  public struct Store: Hashable, Sendable, ConfigurationPart {
    /// The default directory.
    public static let defaultDirectory = "/var/lib/bled"

    /// Where it is; nil for systemd's choice, else the default one.
    public var directory: String?

    static let keys = [Key.stateDirectory]

    mutating func read(_ root: FileMembers<Key>) throws(FileError) { directory = try root.optional(.stateDirectory) }
  }

  /// What is logged.
  public struct Log: Hashable, Sendable, ConfigurationPart {
    /// The lowest level that is logged.
    public var level = Logger.Level.info

    static let keys = [Key.logLevel]
    static let isReloaded = true

    mutating func read(_ root: FileMembers<Key>) throws(FileError) { level = try root.word(.logLevel, default: level) }
  }

  /// How sessions are kept for programs that have disconnected.
  public struct Restoration: Hashable, Sendable, ConfigurationPart {
    /// The longest time, in seconds; 0: not at all.
    public var keep = 3600
    /// The directory of the files that start programs; nil: beside the socket, see `Configuration.wakeDirectory`.
    public var wakeDirectory: String?

    static let keys = [Key.restoration]

    private enum Keys: String, CaseIterable { case keep, wakeDirectory }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.restoration] else { return }
      let members = try FileMembers(section, Keys.self)
      // At most a week.
      keep = try members.integer(.keep, in: 0...604_800, default: keep)
      wakeDirectory = try members.optional(.wakeDirectory)
    }

    func keysForRestart(after old: Self) -> [String] {
      wakeDirectory == old.wakeDirectory ? [] : ["restoration.wakeDirectory"]
    }
  }

  /// The directory of the files that start programs: the one given, else one for each socket, so that two daemons do
  /// not share it.
  public var wakeDirectory: String {
    restoration.wakeDirectory ?? (socket.path == Socket().path ? "/run/bled/wake" : "\(socket.path).wake")
  }
}
