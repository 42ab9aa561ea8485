import BledRPC

/// What the sessions of each user have cost since the daemon's start, those that have ended included.
struct UserMetrics {
  /// How many users are told apart; what others cost is added up.
  private static let most = 64
  /// What stands for all others.
  private static let others = "others"
  private var ended: [String: SessionDescription.Costs] = [:]

  /// A session has ended.
  mutating func add(_ costs: SessionDescription.Costs, of user: UInt32?) { Self.add(costs, of: user, to: &ended) }

  /// The costs by user, with those of sessions that have not ended.
  func costs(
    with open: [(user: UInt32?, costs: SessionDescription.Costs)]
  ) -> [(user: String, costs: SessionDescription.Costs)] {
    var all = ended
    for (user, costs) in open { Self.add(costs, of: user, to: &all) }
    return all.sorted { $0.key < $1.key }.map { (user: $0.key, costs: $0.value) }
  }

  private static func add(
    _ costs: SessionDescription.Costs, of user: UInt32?, to all: inout [String: SessionDescription.Costs]
  ) {
    let name = user.map { "\($0)" } ?? "unknown"
    let key = all[name] != nil || all.count < most ? name : others
    var sum = all[key] ?? .init()
    sum.requests += costs.requests
    sum.requestsFailed += costs.requestsFailed
    sum.scanTime += costs.scanTime
    sum.reports += costs.reports
    sum.reportsCoalesced += costs.reportsCoalesced
    sum.reportsDropped += costs.reportsDropped
    sum.linkTime += costs.linkTime
    sum.values += costs.values
    sum.valuesRefused += costs.valuesRefused
    sum.packetsLost += costs.packetsLost
    sum.linksSlowed += costs.linksSlowed
    all[key] = sum
  }
}
