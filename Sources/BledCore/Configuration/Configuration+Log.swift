import Logging

extension Configuration {
  /// What is logged.
  public struct Log: Hashable, Sendable, ConfigurationPart {
    /// From which level on there are log messages.
    public var level = Logger.Level.info

    static let keys = ["logLevel"]
    static let isReloaded = true

    mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
      let levels = "give one of " + Logger.Level.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")
      guard let word = try root.value("logLevel", String.self, levels) else { return }
      guard let value = Logger.Level(rawValue: word) else { throw root.badValue("logLevel", levels) }
      level = value
    }
  }
}
