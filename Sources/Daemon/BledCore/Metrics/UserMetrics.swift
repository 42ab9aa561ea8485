import BledRPC

/// The costs of each user's sessions since the daemon's start, ended ones included.
struct UserMetrics {
  /// Maximum users counted separately; the costs of others are added up.
  private static let maximum = 64
  /// The name for all others.
  private static let others = "others"
  /// The users counted separately: the first ones, for good, since a user's count must not move to another.
  private var apart: Set<String> = []
  private var ended: [String: SessionDescription.Costs] = [:]

  /// A session begins for this user.
  mutating func begins(of user: UInt32?) {
    if apart.count < Self.maximum { apart.insert(Self.name(of: user)) }
  }

  /// A session has ended.
  mutating func add(_ costs: SessionDescription.Costs, of user: UInt32?) { Self.add(costs, to: &ended[key(of: user)]) }

  /// The costs by user, present sessions included.
  func costs(
    with open: [(user: UInt32?, costs: SessionDescription.Costs)]
  ) -> [(user: String, costs: SessionDescription.Costs)] {
    var all = ended
    for (user, costs) in open { Self.add(costs, to: &all[key(of: user)]) }
    return all.sorted { $0.key < $1.key }.map { (user: $0.key, costs: $0.value) }
  }

  private func key(of user: UInt32?) -> String {
    let name = Self.name(of: user)
    return apart.contains(name) ? name : Self.others
  }

  private static func name(of user: UInt32?) -> String { user.map { "\($0)" } ?? "unknown" }

  private static func add(_ costs: SessionDescription.Costs, to all: inout SessionDescription.Costs?) {
    var sum = all ?? .init()
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
    all = sum
  }
}
