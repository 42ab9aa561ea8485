import BledRPC

extension Daemon {
  /// All metrics, in their order on the page.
  var metrics: [Metric] { general + adapters.metrics + calls.metrics + sessionRegistry.userMetrics }

  private var build: [String: String] {
    var labels = ["version": Self.version]
    labels["commit"] = commit
    return labels
  }

  private var general: [Metric] {
    [
      Metric("bled_build_info", .gauge, "1; the labels are the release and the commit.", [.init(1, labels: build)]),
      .gauge("bled_start_time_seconds", "When the daemon was started, since the epoch.", startTime),
      .gauge("bled_sessions", "Sessions, preserved ones included.", Double(sessions.count)),
      .gauge(
        "bled_preserved_sessions", "Sessions that are preserved without their programs.",
        Double(sessions.count { !$0.isPresent })),
      .counter("bled_sessions_opened_total", "Sessions that were opened.", Double(sessionRegistry.last)),
      .gauge("bled_known_devices", "Devices that the daemon knows.", Double(directory.count)),
      .gauge("bled_queue_octets", "Octets that wait until sessions read them.", Double(rules.queueOctets)),
      .gauge("bled_captures", "Recordings of packets.", Double(captures.count)),
      .counter(
        "bled_capture_packets_lost_total", "Packets that are missing from recordings.", Double(captures.lostPackets)),
    ]
  }
}
