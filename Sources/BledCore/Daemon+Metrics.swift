import Adapter
import BledRPC

extension Daemon {
  /// All metrics, in the order of their page.
  var metrics: [Metric] { general + adapterMetrics + callMetrics + userMetrics }

  private var general: [Metric] {
    [
      Metric("bled_build_info", .gauge, "1; the label is the release.", [.init(1, labels: ["version": Self.version])]),
      gauge("bled_start_time_seconds", "When the daemon was started, since the epoch.", startTime),
      gauge("bled_sessions", "Sessions, preserved ones included.", Double(sessions.count)),
      gauge(
        "bled_preserved_sessions", "Sessions that are preserved without their programs.",
        Double(sessions.count { !$0.isPresent })),
      counter("bled_sessions_opened_total", "Sessions that were opened.", Double(lastSession)),
      gauge("bled_known_devices", "Devices that the daemon knows.", Double(directory.count)),
      gauge("bled_queue_octets", "Octets that wait until sessions read them.", Double(rules.queueOctets)),
      gauge("bled_captures", "Recordings of packets.", Double(captures.count)),
      counter(
        "bled_capture_packets_lost_total", "Packets that are missing from recordings.", Double(captures.lostPackets)),
    ]
  }

  private var adapterMetrics: [Metric] {
    func gauge(_ name: String, _ help: String, _ value: (AdapterSlot) -> Double) -> Metric {
      Metric(name, .gauge, help, adapters.slots.map { .init(value($0), labels: ["adapter": $0.id]) })
    }
    return [
      gauge("bled_adapter_on", "1 if the adapter works.") { $0.adapter.state == .on ? 1 : 0 },
      gauge("bled_adapter_failed", "1 if the adapter cannot be used.") {
        if case .failed = $0.adapter.state { 1 } else { 0 }
      },
      gauge("bled_adapter_scanning", "1 while the adapter scans.") { $0.isScanning ? 1 : 0 },
      gauge("bled_adapter_advertisements", "Advertisements on the air.") { Double($0.onAir.count) },
      gauge("bled_adapter_links", "Links.") { Double($0.linkCount) },
    ]
  }

  private var callMetrics: [Metric] {
    [
      Metric(
        "bled_calls_total", .counter, "Calls of sessions.",
        calls.counts.sorted { $0.key < $1.key }.map { .init(Double($0.value), labels: ["method": $0.key]) }),
      counter("bled_calls_failed_total", "Calls that were answered with an error.", Double(calls.failed)),
      Metric(
        "bled_call_duration_seconds", .histogram, "Time from a call to its answer.", [calls.all.sample]),
      Metric(
        "bled_read_duration_seconds", .histogram, "The same of successful gatt.read.", [calls.reads.sample]),
    ]
  }

  private var userMetrics: [Metric] {
    let users = users.costs(with: sessions.map { (user: $0.user, costs: costs(of: $0)) })
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

  private func gauge(_ name: String, _ help: String, _ value: Double) -> Metric {
    Metric(name, .gauge, help, [.init(value)])
  }

  private func counter(_ name: String, _ help: String, _ value: Double) -> Metric {
    Metric(name, .counter, help, [.init(value)])
  }
}
