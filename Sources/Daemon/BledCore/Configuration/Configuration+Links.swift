import JSONFiles

extension Configuration {
  /// The settings of every new link where both sides can.
  public struct Links: Hashable, Sendable, ConfigurationPart {
    /// The PHYs to which links may change on their own.
    public enum PHY: String, CaseIterable, Sendable {
      case le1M = "1M"
      case le2M = "2M"
    }

    /// The PHY.
    public var phy = PHY.le2M
    /// The longest payload in octets.
    public var longestPacket = 251
    /// Maximum interval, times latency plus 1, granted when devices request another.
    public var maximumInterval = Duration.seconds(2)

    static let keys = [Key.links]
    static let isReloaded = true

    private enum Keys: String, CaseIterable { case phy, longestPacket, maximumInterval }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.links] else { return }
      let members = try FileMembers(section, Keys.self)
      phy = try members.word(.phy, default: phy)
      longestPacket = try members.integer(.longestPacket, in: 27...251, default: longestPacket)
      maximumInterval = try members.seconds(.maximumInterval, in: 0.1...16, default: maximumInterval.inSeconds)
    }
  }
}
