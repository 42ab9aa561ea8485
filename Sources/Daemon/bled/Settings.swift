import ArgumentParser
import BledCore
import Glibc
import Logging
import Scenarios

/// The daemon's settings: from the configuration file, and from the command line, which takes precedence.
struct Settings: Sendable {
  /// The place to read from.
  struct Source: Sendable {
    /// The file; nil for the default one, which may be missing.
    var file: String?
    /// The command-line options.
    var adapters: [String] = []
    var socket: String?
    var stateDirectory: String?
    var logLevel: Logger.Level?

    /// Reads the file, and looks up its users and groups.
    /// - Throws: `FileError` or `ValidationError`, with the remedy.
    func read() throws -> Settings {
      var configuration = try Configuration(file: file)
      if !adapters.isEmpty { configuration.adapters.names = adapters }
      if let socket { configuration.socket.path = try Self.checked(socket, .socket, "--socket") }
      if let stateDirectory {
        configuration.store.directory = try Self.checked(stateDirectory, .directory, "--state-directory")
      }
      configuration.socket.path = configuration.socket.path ?? DefaultPaths.socket
      if let logLevel { configuration.log.level = logLevel }
      var unknown: [String] = []
      let policy = Policy(configuration.policy, accounts: .system, ownUser: getuid()) { unknown.append($0) }
      let adapters = try AdapterChoice.list(configuration.adapters)
      return Settings(
        configuration: configuration, adapters: adapters, clock: try AdapterChoice.clock(of: adapters),
        policy: policy,
        // The default group need not exist.
        unknownAccounts: configuration.policy == Configuration().policy ? [] : unknown)
    }

    private static func checked(_ path: String, _ kind: Configuration.PathKind, _ option: String) throws -> String {
      if let problem = kind.problem(of: path) { throw ValidationError("\(option): \(problem)") }
      return path
    }
  }

  let configuration: Configuration
  /// The adapters in the configuration.
  let adapters: [AdapterChoice]
  /// The clock requested by their scenarios; nil for the machine's.
  let clock: SimulationClock?
  /// True if at least one of them is the kernel's.
  var hasKernelAdapters: Bool {
    adapters.contains { adapter in
      switch adapter {
      case .kernel, .all: true
      case .host, .simulated, .virtual: false
      }
    }
  }
  /// True if `bled` is the host of at least one of them.
  var hasHostAdapters: Bool {
    adapters.contains { adapter in
      switch adapter {
      case .host, .virtual: true
      case .kernel, .all, .simulated: false
      }
    }
  }
  /// The policy in the configuration.
  let policy: Policy
  /// Its users and groups that do not exist.
  let unknownAccounts: [String]

  /// The socket, unless systemd passes one.
  var socketPath: String { configuration.socket.path ?? DefaultPaths.socket }

  /// This machine's identity as devices see it.
  var identity: Daemon.Identity {
    .init(
      name: configuration.identity.name ?? Self.machineName, appearance: configuration.identity.appearance,
      preferredConnection: configuration.preferredConnection.parameters)
  }

  private static var machineName: String {
    var octets = [CChar](repeating: 0, count: 256)
    guard gethostname(&octets, octets.count - 1) == 0 else { return "bled" }
    let name = String(decoding: octets.prefix { $0 != 0 }.map { UInt8(truncatingIfNeeded: $0) }, as: UTF8.self)
    return name.isEmpty ? "bled" : name
  }
}
