import FoundationEssentials
import Logging

/// What the daemon can be told in its configuration file, `docs/configuration.md`. What is missing there has its default.
public struct Configuration: Hashable, Sendable {
  /// Where the file is unless `--config` names another one. It may be missing.
  public static let defaultFile = "/etc/bled/bled.json"

  /// The socket that clients connect to.
  public struct Socket: Hashable, Sendable {
    /// Its path.
    public var path = "/run/bled/bled.sock"
    /// The permissions of its file.
    public var mode: UInt16 = 0o660
    /// The group of its file, if there is one of that name.
    public var group = "bluetooth"
  }

  /// The adapters as `--adapter` takes them; the first is the default one.
  public var adapters = ["hci0"]
  /// The socket, unless systemd hands one over.
  public var socket = Socket()
  /// From which level on there are log messages.
  public var logLevel = Logger.Level.info
  /// The name that devices see; nil for the name of the machine.
  public var name: String?
  /// What kind of thing devices see (Assigned Numbers, 2.6).
  public var appearance: UInt16 = 0

  /// The defaults.
  public init() {}

  /// Reads a file.
  /// - Parameter path: nil for the default file, which may be missing.
  /// - Throws: `ConfigurationError`.
  public init(file path: String?) throws(ConfigurationError) {
    let file = path ?? Self.defaultFile
    let octets: Data
    do {
      octets = try Data(contentsOf: URL(filePath: file))
    } catch {
      let isMissing = (error as? CocoaError)?.code == .fileReadNoSuchFile
      if path == nil, isMissing {
        self.init()
        return
      }
      throw .unreadable(file: file, reason: isMissing ? "there is no such file" : "it cannot be read")
    }
    try self.init(octets, file: file)
  }

  /// Reads the content of a file.
  /// - Parameters:
  ///   - octets: JSON5: JSON that may have comments.
  ///   - file: the name for error messages.
  /// - Throws: `ConfigurationError`.
  public init(_ octets: Data, file: String) throws(ConfigurationError) {
    self.init()
    let decoder = JSONDecoder()
    decoder.allowsJSON5 = true
    let section: ConfigurationSection
    do {
      section = try decoder.decode(ConfigurationSection.self, from: octets)
    } catch DecodingError.dataCorrupted(let context) {
      throw .notJSON(file: file, reason: context.underlyingError.map { "\($0)" } ?? context.debugDescription)
    } catch {
      throw .notJSON(file: file, reason: "it must be an object")
    }
    try read(section, file)
  }

  private mutating func read(_ section: ConfigurationSection, _ file: String) throws(ConfigurationError) {
    let root = section.named("", in: file)
    try root.allow(["adapters", "socket", "logLevel", "name", "appearance"])
    if let value = try root.value("adapters", [String].self, "give a list of texts, such as [\"hci0\"]") {
      guard !value.isEmpty else {
        throw .badValue(file: file, key: "adapters", remedy: "give at least one, such as [\"hci0\"]")
      }
      adapters = value
    }
    if let value = try root.value("logLevel", String.self, Self.levels) {
      guard let level = Logger.Level(rawValue: value) else {
        throw .badValue(file: file, key: "logLevel", remedy: Self.levels)
      }
      logLevel = level
    }
    name = try root.value("name", String.self, "give a text")
    appearance = try root.value("appearance", UInt16.self, "give a number from 0 to 65535") ?? appearance
    guard let socket = try root.section("socket") else { return }
    try socket.allow(["path", "mode", "group"])
    self.socket.path = try socket.value("path", String.self, "give a path") ?? self.socket.path
    self.socket.group = try socket.value("group", String.self, "give the name of a group") ?? self.socket.group
    let octal = "give three octal digits as text, such as \"0660\""
    if let text = try socket.value("mode", String.self, octal) {
      guard let mode = UInt16(text, radix: 8), mode <= 0o777 else {
        throw .badValue(file: file, key: "socket.mode", remedy: octal)
      }
      self.socket.mode = mode
    }
  }

  private static let levels =
    "give one of " + Logger.Level.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
}
