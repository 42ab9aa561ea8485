import GATT

extension Configuration {
  /// How this machine, as a peripheral, would like its connections.
  public struct PreferredConnection: Hashable, Sendable, ConfigurationPart {
    /// What centrals read in the GAP service; nil where nothing is preferred.
    public var parameters: PreferredConnectionParameters?

    static let keys = ["preferredConnection"]

    mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
      guard let section = try root.section("preferredConnection") else { return }
      try section.allow(["interval", "latency", "timeout"])
      let pair = "give the shortest and the longest interval in seconds, 0.0075 to 4, such as [0.03, 0.05]"
      guard let interval = try section.value("interval", [Double].self, pair), interval.count == 2,
        0.0075...4 ~= interval[0], interval[0]...4 ~= interval[1]
      else { throw section.badValue("interval", pair) }
      let events = "give how many connection events may be skipped, 0 to 499"
      let latency = try section.value("latency", UInt16.self, events) ?? 0
      guard latency <= 499 else { throw section.badValue("latency", events) }
      // Vol 6, Part B, 4.5.2: a timeout that one skipped event more would reach makes no sense.
      let least = max(0.1, Double(1 + latency) * interval[1] * 2)
      let seconds = "give more seconds than \(least), which the interval and the latency need, up to 32"
      let timeout = try section.value("timeout", Double.self, seconds) ?? 4
      guard timeout > least, timeout <= 32 else { throw section.badValue("timeout", seconds) }
      parameters = PreferredConnectionParameters(
        interval: Self.units(interval[0], of: 0.00125)...Self.units(interval[1], of: 0.00125), latency: latency,
        timeout: Self.units(timeout, of: 0.01))
    }

    private static func units(_ seconds: Double, of unit: Double) -> UInt16 { UInt16((seconds / unit).rounded()) }
  }
}
