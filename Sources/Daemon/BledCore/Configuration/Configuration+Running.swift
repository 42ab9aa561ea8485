import BledRPC
import JSONFiles
import Logging

// How the daemon runs: its adapters, its socket, its files and its log.

extension Configuration {
  /// The adapters to use.
  public struct Adapters: Hashable, Sendable, ConfigurationPart {
    /// Their names in the form of `--adapter`; the first is the default one.
    public var names = ["hci0"] {
      didSet {
        values = []
        isDefault = false
      }
    }
    /// True if no adapter is named.
    public private(set) var isDefault = true
    /// Their places in the file, if they are from there.
    private var values: [FileValue] = []

    static let keys = [Key.adapters]
    static let isReloaded = true
    /// More than any list of controllers needs.
    private static let maximum = 256

    /// Compares the names, wherever they are from.
    public static func == (left: Self, right: Self) -> Bool { left.names == right.names }

    /// Hashes the names.
    public func hash(into hasher: inout Hasher) { hasher.combine(names) }

    /// The error for an invalid name; nil if it is not from a file.
    public func failure(_ index: Int, _ message: String) -> FileError? {
      values.indices.contains(index) ? values[index].failure(message) : nil
    }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let value = root[.adapters] else { return }
      let remedy = "give a list of one or more strings, such as [\"hci0\"]"
      names = try value.read(orSay: remedy)
      guard (1...Self.maximum).contains(names.count) else { throw value.failure(remedy) }
      values = try value.elements()
    }
  }

  /// The socket for clients.
  public struct Socket: Hashable, Sendable, ConfigurationPart {
    /// Its path; nil for the default one.
    public var path: String?
    /// The socket file's permissions.
    public var mode: UInt16 = 0o660
    /// The socket file's group, if that group exists.
    public var group = "bluetooth"

    static let keys = [Key.socket]

    private enum Keys: String, CaseIterable { case path, mode, group }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.socket] else { return }
      let members = try FileMembers(section, Keys.self)
      path = try members.optional(.path) { value throws(FileError) in try value.path(.socket) }
      if let value = members[.group] {
        group = try value.text(atMost: 256)
        guard !group.isEmpty, !group.utf8.contains(0) else { throw value.failure("give the name of a group") }
      }
      guard let value = members[.mode] else { return }
      let octal = "give three or four octal digits as a string, such as \"0660\""
      let text = try value.read(String.self, orSay: octal)
      // A sign would otherwise be accepted.
      guard (3...4).contains(text.utf8.count), text.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "7")).contains),
        let mode = UInt16(text, radix: 8), mode <= 0o777
      else { throw value.failure(octal) }
      self.mode = mode
    }
  }

  /// The state kept across restarts.
  public struct Store: Hashable, Sendable, ConfigurationPart {
    /// Its path; nil for systemd's choice, else the default one.
    public var directory: String?

    static let keys = [Key.stateDirectory]

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      directory = try root.optional(.stateDirectory) { value throws(FileError) in try value.path(.directory) }
    }
  }

  /// The settings of the log.
  public struct Log: Hashable, Sendable, ConfigurationPart {
    /// The lowest logged level.
    public var level = Logger.Level.info

    static let keys = [Key.logLevel]
    static let isReloaded = true

    mutating func read(_ root: FileMembers<Key>) throws(FileError) { level = try root.word(.logLevel, default: level) }
  }

  /// The retention of sessions for disconnected programs.
  public struct Restoration: Hashable, Sendable, ConfigurationPart {
    /// The longest time, in seconds; 0: not at all.
    public var keep = 3600
    /// The directory of files that start programs; nil: beside the socket, see `Configuration.wakeDirectory`.
    public var wakeDirectory: String?

    static let keys = [Key.restoration]

    private enum Keys: String, CaseIterable { case keep, wakeDirectory }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.restoration] else { return }
      let members = try FileMembers(section, Keys.self)
      // At most a week.
      keep = try members.integer(.keep, in: 0...604_800, default: keep)
      wakeDirectory = try members.optional(.wakeDirectory) { value throws(FileError) in try value.path(.directory) }
    }

    func keysForRestart(after old: Self) -> [String] {
      wakeDirectory == old.wakeDirectory ? [] : ["restoration.wakeDirectory"]
    }
  }

  /// The directory of files that start programs: the one given, else one per socket, so two daemons do not share it.
  public var wakeDirectory: String {
    if let directory = restoration.wakeDirectory { return directory }
    guard let path = socket.path, path != SocketPath.system else { return "/run/bled/wake" }
    return "\(path).wake"
  }

  /// The kind of file expected at a path.
  public enum PathKind: Sendable {
    case directory
    case socket

    /// The problem of a path and its remedy; nil if the path can be used. A usable path does not depend on the
    /// directory where the daemon is started, and is not truncated by its users.
    public func problem(of path: String) -> String? {
      switch self {
      case _ where path.utf8.first != UInt8(ascii: "/") || path.utf8.contains(0):
        "give an absolute path, which begins with /"
      case .socket where path.utf8.count > 107: "give a shorter path: that of a socket has at most 107 octets"
      case .directory where path.utf8.count > 4000: "give a shorter path: it has more than 4000 octets"
      case .socket where path.utf8.last == UInt8(ascii: "/"): "give the path of the socket in its directory"
      default: nil
      }
    }
  }
}

extension FileValue {
  /// A path.
  func path(_ kind: Configuration.PathKind) throws(FileError) -> String {
    let path = try text()
    if let problem = kind.problem(of: path) { throw failure(problem) }
    return path
  }
}
