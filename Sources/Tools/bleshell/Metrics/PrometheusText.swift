import BledRPC

/// The text format of Prometheus, version 0.0.4.
enum PrometheusText {
  /// The media type for HTTP.
  static let contentType = "text/plain; version=0.0.4; charset=utf-8"

  /// Writes metrics: for each its help and its kind, and a line for each value.
  static func page(_ metrics: [Metric]) -> String {
    var page = ""
    for metric in metrics where !metric.samples.isEmpty {
      page += "# HELP \(metric.name) \(escaped(metric.help, quotes: false))\n# TYPE \(metric.name) \(metric.kind)\n"
      for sample in metric.samples { add(sample, of: metric.name, to: &page) }
    }
    return page
  }

  private static func add(_ sample: Metric.Sample, of name: String, to page: inout String) {
    let labels = sample.labels.sorted { $0.key < $1.key }.map { "\($0.key)=\"\(escaped($0.value, quotes: true))\"" }
    guard let buckets = sample.buckets else {
      page += "\(name)\(braced(labels)) \(number(sample.value))\n"
      return
    }
    for bucket in buckets {
      let most = "le=\"\(bucket.most.map { number($0) } ?? "+Inf")\""
      page += "\(name)_bucket\(braced(labels + [most])) \(bucket.count)\n"
    }
    page += "\(name)_sum\(braced(labels)) \(number(sample.value))\n"
    page += "\(name)_count\(braced(labels)) \(buckets.last?.count ?? 0)\n"
  }

  private static func braced(_ labels: [String]) -> String {
    labels.isEmpty ? "" : "{\(labels.joined(separator: ","))}"
  }

  /// A number as short as it can be.
  private static func number(_ value: Double) -> String {
    Int(exactly: value).map { "\($0)" } ?? "\(value)"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var escaped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": escaped.append(contentsOf: "\\\\".unicodeScalars)
      case "\n": escaped.append(contentsOf: "\\n".unicodeScalars)
      case "\"" where quotes: escaped.append(contentsOf: "\\\"".unicodeScalars)
      default: escaped.append(scalar)
      }
    }
    return String(escaped)
  }
}
