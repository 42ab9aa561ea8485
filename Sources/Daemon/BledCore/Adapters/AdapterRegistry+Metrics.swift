import BledRPC

extension AdapterRegistry {
  /// The metrics of each adapter.
  var metrics: [Metric] {
    func gauge(_ name: String, _ help: String, _ value: (AdapterSlot) -> Double) -> Metric {
      Metric(name, .gauge, help, slots.map { .init(value($0), labels: ["adapter": $0.id]) })
    }
    func age(_ name: String, _ help: String, _ value: (AdapterSlot) -> Duration?) -> Metric {
      Metric(
        name, .gauge, help,
        slots.compactMap { slot in value(slot).map { .init($0.inSeconds, labels: ["adapter": slot.id]) } })
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
      age("bled_adapter_report_age_seconds", "Since the last advertisement or scan response.") {
        $0.adapter.state == .on ? $0.adapter.silence.report : nil
      },
      age("bled_adapter_event_age_seconds", "Since the last event of the controller.") {
        $0.adapter.state == .on ? $0.adapter.silence.event : nil
      },
      Metric(
        "bled_adapter_quirk", .gauge, "1; the labels name a fault of the controller, known or learned.",
        slots.flatMap { slot in
          slot.adapter.information.quirks.map { entry in
            let origin = entry.learned == nil ? "known" : "learned"
            return .init(1, labels: ["adapter": slot.id, "quirk": entry.quirk.name, "origin": origin])
          }
        }),
    ]
  }
}
