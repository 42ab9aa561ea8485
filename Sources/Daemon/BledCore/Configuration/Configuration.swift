import JSONFiles

/// The configuration file's content, `docs/configuration.md`. A missing key has its default.
///
/// Each part knows its keys and reads them; a new part is a type, a member here, and its place in `parts` and `read`.
public struct Configuration: Hashable, Sendable {
  /// The file's default path. It may be missing.
  public static let defaultFile = "/etc/bled/bled.json"

  /// The keys in the file's outermost object.
  enum Key: String, CaseIterable, Sendable {
    case adapters, publicAddresses, socket, stateDirectory, logLevel, name, appearance, preferredConnection, links,
      pairing, privacy, restoration, policy, limits, metrics
  }

  /// The adapters to use.
  public var adapters = Adapters()
  /// The addresses for controllers without one.
  public var publicAddresses = PublicAddresses()
  /// The socket, unless systemd passes one.
  public var socket = Socket()
  /// The state kept across restarts.
  public var store = Store()
  /// The settings of the log.
  public var log = Log()
  /// This machine as devices see it.
  public var identity = Identity()
  /// The preferred parameters of connections to this machine.
  public var preferredConnection = PreferredConnection()
  /// The settings of every new link where both sides can.
  public var links = Links()
  /// The answers to pairing requests from devices.
  public var pairing = Pairing()
  /// The addresses used by this machine on the air.
  public var privacy = Privacy()
  /// The retention of sessions for disconnected programs.
  public var restoration = Restoration()
  /// The permissions of programs.
  public var policy = Policy()
  /// The limits.
  public var limits = Limits()

  /// The defaults.
  public init() {}

  /// Reads a file.
  /// - Parameter path: nil for the default file, which may be missing.
  /// - Throws: the file's error and its place.
  public init(file path: String?) throws(FileError) {
    let value: FileValue
    do throws(FileError) {
      value = try JSONFile.read(path ?? Self.defaultFile)
    } catch {
      guard path == nil, error.isMissingFile else { throw error }
      self.init()
      return
    }
    try self.init(value)
  }

  /// Reads a file's content.
  /// - Parameters:
  ///   - octets: JSON5, which may have comments.
  ///   - file: the name for error messages.
  /// - Throws: the fault and its place.
  public init(_ octets: some Sequence<UInt8>, file: String) throws(FileError) {
    try self.init(try JSONFile.parse(octets, name: file))
  }

  private init(_ value: FileValue) throws(FileError) {
    let root = try FileMembers(value, Key.self)
    try adapters.read(root)
    try publicAddresses.read(root)
    try socket.read(root)
    try store.read(root)
    try log.read(root)
    try identity.read(root)
    try preferredConnection.read(root)
    try links.read(root)
    try pairing.read(root)
    try privacy.read(root)
    try restoration.read(root)
    try policy.read(root)
    try limits.read(root)
    // The key from releases in which the daemon served the page itself.
    if let metrics = root[.metrics] {
      throw metrics.failure(
        "remove \"metrics\": \"bleshell metrics --listen 127.0.0.1:PORT\" or bled-metrics.service serves the page")
    }
  }

  private var parts: [any ConfigurationPart] {
    [
      adapters, publicAddresses, socket, store, log, identity, preferredConnection, links, pairing, privacy,
      restoration, policy, limits,
    ]
  }

  /// The keys that differ from another configuration and need a restart.
  public func keysForRestart(after old: Configuration) -> [String] {
    zip(parts, old.parts).flatMap { $0.keysForRestart(afterAny: $1) }
  }
}

/// A part of the configuration.
protocol ConfigurationPart: Hashable, Sendable {
  /// Its keys.
  static var keys: [Configuration.Key] { get }
  /// True if a change takes effect while the daemon runs. False by default.
  static var isReloaded: Bool { get }
  /// The changed keys that take effect at the next start. All or none, by `isReloaded`, unless a part says otherwise.
  func keysForRestart(after old: Self) -> [String]

  /// Reads the values of these keys.
  mutating func read(_ root: FileMembers<Configuration.Key>) throws(FileError)
}

extension ConfigurationPart {
  static var isReloaded: Bool { false }

  func keysForRestart(after old: Self) -> [String] { Self.isReloaded || self == old ? [] : Self.keys.map(\.rawValue) }

  fileprivate func keysForRestart(afterAny old: any ConfigurationPart) -> [String] {
    (old as? Self).map(keysForRestart) ?? []
  }
}

extension FileValue {
  /// Reads the value; throws an error with this remedy if it is not valid.
  func read<Value: ReadableFromFile>(
    _: Value.Type = Value.self, orSay remedy: String
  ) throws(FileError) -> Value {
    do throws(FileError) {
      return try Value(self)
    } catch {
      throw error.with(message: remedy)
    }
  }
}
