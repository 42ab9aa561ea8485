/// What the daemon can be told in its configuration file, `docs/configuration.md`. What is missing there has its default.
///
/// Each part has its file, knows its keys and reads them; a new part is one file and three lines here.
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

  /// The defaults.
  public init() {}

  /// Takes over what the file's outermost object says.
  mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
    let parts: [any ConfigurationPart.Type] = [
      Adapters.self, Socket.self, Store.self, Log.self, Identity.self, PreferredConnection.self, Restoration.self,
    ]
    try root.allow(parts.flatMap { $0.keys })
    try adapters.read(root)
    try socket.read(root)
    try store.read(root)
    try log.read(root)
    try identity.read(root)
    try preferredConnection.read(root)
    try restoration.read(root)
  }
}

/// One part of the configuration.
protocol ConfigurationPart {
  /// Its keys in the file's outermost object.
  static var keys: [String] { get }

  /// Takes over what is said under these keys.
  mutating func read(_ root: ConfigurationSection) throws(ConfigurationError)
}
