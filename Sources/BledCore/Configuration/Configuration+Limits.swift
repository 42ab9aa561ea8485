extension Limits: ConfigurationPart {
  static let keys = ["limits"]
  static let isReloaded = true

  mutating func read(_ root: ConfigurationSection) throws(ConfigurationError) {
    guard let section = try root.section("limits") else { return }
    try section.allow(Self.names(of: total) + ["perUser", "perSession"])
    try Self.read(&total, section)
    if let part = try section.section("perUser") {
      try part.allow(Self.names(of: perUser))
      try Self.read(&perUser, part)
    }
    if let part = try section.section("perSession") {
      try part.allow(Self.names(of: perSession))
      try Self.read(&perSession, part)
    }
  }

  private static func names(of limits: [Resource: Int]) -> [String] {
    Resource.allCases.filter { limits[$0] != nil }.map(\.rawValue)
  }

  private static func read(
    _ limits: inout [Resource: Int], _ section: ConfigurationSection
  ) throws(ConfigurationError) {
    for resource in Resource.allCases where limits[resource] != nil {
      let key = resource.rawValue
      let remedy = "give a whole number from \(resource.least) to \(Int32.max)"
      guard let value = try section.value(key, Int.self, remedy) else { continue }
      guard value >= resource.least, value <= Int32.max else { throw section.badValue(key, remedy) }
      limits[resource] = value
    }
  }
}
