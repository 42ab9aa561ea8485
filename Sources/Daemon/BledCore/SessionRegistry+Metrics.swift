import BledRPC

extension SessionRegistry {
  /// The costs of users.
  var userMetrics: [Metric] {
    let users = users.costs(with: all.map { (user: $0.user, costs: $0.description(ofCostsAt: scheduler.now)) })
    func counter(_ name: String, _ help: String, _ value: (SessionDescription.Costs) -> Double) -> Metric {
      let samples = users.map { Metric.Sample(value($0.costs), labels: ["user": $0.user]) }
      return Metric("bled_user_\(name)_total", .counter, help, samples)
    }
    return [
      counter("calls", "Calls of the user's sessions.") { Double($0.requests) },
      counter("calls_failed", "Calls that failed, at once or later.") { Double($0.requestsFailed) },
      counter("scan_seconds", "Time with a scan.") { $0.scanTime },
      counter("link_seconds", "Time with links, of all devices together.") { $0.linkTime },
      counter("reports", "Reports of devices that were sent.") { Double($0.reports) },
      counter("reports_coalesced", "Reports replaced by newer ones before they were read.") {
        Double($0.reportsCoalesced)
      },
      counter("reports_dropped", "Reports dropped because they were not read.") { Double($0.reportsDropped) },
      counter("values", "Values that were sent.") { Double($0.values) },
      counter("values_refused", "Values dropped because they were not read.") { Double($0.valuesRefused) },
      counter("packets_lost", "Packets that the kernel dropped on links that are used.") { Double($0.packetsLost) },
      counter("links_slowed", "Links slowed down because their only reader fell behind.") { Double($0.linksSlowed) },
    ]
  }
}
