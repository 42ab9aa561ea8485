import Bluetooth

/// Returns the daemon's counters and measurements.
public enum MetricsGet: ClientCall {
  /// There are no parameters.
  public typealias Params = Empty
  public static let method = MethodDescription(
    "metrics.get", needs: nil,
    """
    Returns the daemon's counters and measurements since its start, as it gives them to Prometheus: adapters, links, \
    queues, dropped packets and events, durations of calls and reads, and the cost of users. session.list has the cost \
    of each session.
    """)

  public struct Result: RPCPayload, Hashable {
    /// The metrics, in the order of the page for Prometheus.
    public var metrics: [Metric]
    public init(metrics: [Metric]) { self.metrics = metrics }
  }
}

/// Something that the daemon counts or measures, under a name of Prometheus.
public struct Metric: Codable, Sendable, Hashable {
  /// Its name: "bled_links". It ends in the unit, a counter's in "_total".
  public var name: String
  /// "counter", which only grows, "gauge" or "histogram".
  public var kind: Word<Kind>
  /// The meaning of the metric, in words: one sentence.
  public var help: String
  /// Its values, one for each set of labels.
  public var samples: [Sample]

  /// The kinds of metrics.
  public enum Kind: String, Vocabulary {
    /// Only grows.
    case counter
    /// Rises and falls.
    case gauge
    /// Counts measurements by their size.
    case histogram
  }

  /// A value of a metric.
  public struct Sample: Codable, Sendable, Hashable {
    /// The labels that tell samples apart: "adapter", "method", "user" and so on; empty where there is only one sample.
    public var labels: [String: String]
    /// The count, or the value, 0 or more; of a histogram the sum of all measurements, in seconds.
    public var value: Double
    /// For a histogram, the number of measurements up to each bound; missing for other metrics.
    public var buckets: [Bucket]?
    public init(_ value: Double, labels: [String: String] = [:], buckets: [Bucket]? = nil) {
      self.value = value
      self.labels = labels
      self.buckets = buckets
    }
  }

  /// A part of a histogram.
  public struct Bucket: Codable, Sendable, Hashable {
    /// The greatest measurement that counts, 0 or more, in seconds; missing in the last bucket, which counts all.
    public var most: Double?
    /// The number of such measurements.
    public var count: Int
    public init(most: Double?, count: Int) {
      self.most = most
      self.count = count
    }
  }

  /// Makes a metric.
  public init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
    self.name = name
    self.kind = Word(kind)
    self.help = help
    self.samples = samples
  }
}
