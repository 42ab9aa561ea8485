import BledRPC

extension CallMetrics {
  /// The numbers as they are published.
  var metrics: [Metric] {
    [
      Metric(
        "bled_calls_total", .counter, "Calls of sessions.",
        counters.filter { $0.count > 0 }.sorted { $0.method < $1.method }.map {
          .init(Double($0.count), labels: ["method": $0.method])
        }),
      .counter("bled_calls_failed_total", "Calls that were answered with an error.", Double(failed)),
      Metric(
        "bled_call_duration_seconds", .histogram, "Time from a call to its answer.", [all.sample]),
      Metric(
        "bled_read_duration_seconds", .histogram, "The same of successful gatt.read.", [reads.sample]),
    ]
  }
}

extension Metric {
  /// A metric with one value that may fall.
  static func gauge(_ name: String, _ help: String, _ value: Double) -> Metric {
    Metric(name, .gauge, help, [.init(value)])
  }

  /// A metric with one value that only rises.
  static func counter(_ name: String, _ help: String, _ value: Double) -> Metric {
    Metric(name, .counter, help, [.init(value)])
  }
}
