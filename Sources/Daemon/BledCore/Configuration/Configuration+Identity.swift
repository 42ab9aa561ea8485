import GATT
import JSONFiles

extension Configuration {
  /// This machine as devices see it.
  public struct Identity: Hashable, Sendable, ConfigurationPart {
    /// The Device Name in the GAP service; nil for the machine's name.
    public var name: String?
    /// The Appearance in the GAP service (Assigned Numbers, 2.6); 0 is unknown.
    public var appearance: UInt16 = 0

    static let keys = [Key.name, .appearance]
    static let isReloaded = true

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      // Vol 3, Part C, 12.1.
      name = try root.optional(.name) { value throws(FileError) in try value.text(atMost: 248) }
      appearance = try root.integer(.appearance, in: 0...UInt16.max, default: appearance)
    }
  }

  /// The connection parameters preferred by this machine as a peripheral.
  public struct PreferredConnection: Hashable, Sendable, ConfigurationPart {
    /// The parameters for centrals in the GAP service; nil for no preference.
    public var parameters: PreferredConnectionParameters?

    static let keys = [Key.preferredConnection]

    private enum Keys: String, CaseIterable { case interval, latency, timeout }

    mutating func read(_ root: FileMembers<Key>) throws(FileError) {
      guard let section = root[.preferredConnection] else { return }
      let members = try FileMembers(section, Keys.self)
      let interval = try Self.interval(members)
      let latency = try members.integer(.latency, in: 0...UInt16(499), default: 0)
      // Vol 6, Part B, 4.5.2: a timeout shorter than one more skipped event makes no sense.
      let least = max(0.1, Double(1 + latency) * interval.upperBound * 2)
      let timeout = try members[.timeout]?.number() ?? 4
      guard timeout > least, timeout <= 32 else {
        throw members.failure(
          .timeout, "give more than \(least) seconds, which the interval and the latency require, and at most 32")
      }
      parameters = PreferredConnectionParameters(
        interval: Self.units(interval.lowerBound, of: 0.00125)...Self.units(interval.upperBound, of: 0.00125),
        latency: latency, timeout: Self.units(timeout, of: 0.01))
    }

    /// The shortest and the longest interval, in seconds.
    private static func interval(_ members: FileMembers<Keys>) throws(FileError) -> ClosedRange<Double> {
      let pair = "give the shortest and the longest interval in seconds, 0.0075 to 4, such as [0.03, 0.05]"
      guard let value = members[.interval] else { throw members.failure(.interval, pair) }
      let elements = try value.elements()
      guard elements.count == 2 else { throw value.failure(pair) }
      let (shortest, longest) = (try elements[0].number(in: 0.0075...4), try elements[1].number(in: 0.0075...4))
      guard shortest <= longest else { throw value.failure(pair) }
      return shortest...longest
    }

    private static func units(_ seconds: Double, of unit: Double) -> UInt16 { UInt16((seconds / unit).rounded()) }
  }
}
