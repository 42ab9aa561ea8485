import BledRPC

extension AdapterRegistry {
  /// The metrics of each adapter.
  var metrics: [Metric] {
    func gauge(_ name: String, _ help: String, _ value: (AdapterSlot) -> Double) -> Metric {
      Metric(name, .gauge, help, slots.map { .init(value($0), labels: ["adapter": $0.id]) })
    }
    return [
      gauge("bled_adapter_on", "1 if the adapter works.") { $0.adapter.state == .on ? 1 : 0 },
      gauge("bled_adapter_failed", "1 if the adapter cannot be used.") {
        if case .failed = $0.adapter.state { 1 } else { 0 }
      },
      gauge("bled_adapter_scanning", "1 while the adapter scans.") { $0.isScanning ? 1 : 0 },
      gauge("bled_adapter_advertisements", "Advertisements on the air.") { Double($0.onAir.count) },
      gauge("bled_adapter_links", "Links.") { Double($0.linkCount) },
      Metric(
        "bled_adapter_stray_answers_total", .counter, "ATT answers of devices that nothing awaited; they are ignored.",
        slots.map { .init(Double($0.strayAnswers), labels: ["adapter": $0.id]) }),
    ]
  }
}
