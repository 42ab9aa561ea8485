/// What the daemon can be told in its configuration file, `docs/configuration.md`. What is missing there has its default.
///
/// Each part has its file, knows its keys and reads them; a new part is one file, a member here, and its place in `parts` and
/// `read`.
public struct Configuration: Hashable, Sendable {
  /// The adapters to use.
  public var adapters = Adapters()
  /// The socket, unless systemd hands one over.
  public var socket = Socket()
  /// What outlasts the daemon.
  public var store = Store()
  /// What is logged.
  public var log = Log()
  /// What devices see of this machine.
  public var identity = Identity()
  /// How connections to this machine ought to be.
  public var preferredConnection = PreferredConnection()
  /// What is kept for programs that are gone.
  public var restoration = Restoration()
  /// Who may do what.
  public var policy = Policy()
  /// How much there may be of everything.
  public var limits = Limits()

  /// The defaults.
  public init() {}

  private var parts: [any ConfigurationPart] {
    [adapters, socket, store, log, identity, preferredConnection, restoration, policy, limits]
  }

  /// Takes over what the file's outermost object says.
  mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
    try root.allow(parts.flatMap { type(of: $0).keys })
    try adapters.read(root)
    try socket.read(root)
    try store.read(root)
    try log.read(root)
    try identity.read(root)
    try preferredConnection.read(root)
    try restoration.read(root)
    try policy.read(root)
    try limits.read(root)
  }
}

extension Configuration {
  /// The keys that differ from another configuration and cannot change while the daemon runs.
  public func keysForRestart(after old: Configuration) -> [String] {
    zip(parts, old.parts).flatMap { $0.keysForRestart(afterAny: $1) }
  }
}

/// One part of the configuration.
protocol ConfigurationPart: Hashable, Sendable {
  /// Its keys in the file's outermost object.
  static var keys: [String] { get }
  /// Whether a change comes into force while the daemon runs. False unless a part says otherwise.
  static var isReloaded: Bool { get }
  /// Those of its keys that differ from another configuration and wait for the next start. All or none, by `isReloaded`,
  /// unless a part says otherwise.
  func keysForRestart(after old: Self) -> [String]

  /// Takes over what is said under these keys.
  mutating func read(_ root: ConfigurationSection) throws(ConfigurationError)
}

extension ConfigurationPart {
  static var isReloaded: Bool { false }

  func keysForRestart(after old: Self) -> [String] { Self.isReloaded || self == old ? [] : Self.keys }

  fileprivate func keysForRestart(afterAny old: any ConfigurationPart) -> [String] {
    (old as? Self).map(keysForRestart) ?? []
  }
}
