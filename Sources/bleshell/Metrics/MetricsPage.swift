import BledRPC

/// The page with the metrics. The daemon is asked once a second at most, and for one page at a time, however many
/// programs scrape.
@MainActor final class MetricsPage {
  /// The age up to which a page is served again.
  private static let freshness = Duration.seconds(1)
  /// The limit in seconds for the daemon's answer, shorter than that for a connection.
  private static let timeout = 4.0

  private let now: @MainActor () -> ContinuousClock.Instant
  private let fetch: @MainActor @Sendable () async throws -> [Metric]
  /// The last page, and the end of its second.
  private var last: (octets: [UInt8], end: ContinuousClock.Instant)?
  /// The call that has not been answered yet.
  private var pending: Task<[UInt8], Never>?

  init(
    now: @escaping @MainActor () -> ContinuousClock.Instant = { .now },
    fetch: @escaping @MainActor @Sendable () async throws -> [Metric]
  ) {
    self.now = now
    self.fetch = fetch
  }

  /// The answer to a scrape: the page, or 503 if the daemon does not give the metrics.
  func answer() async -> [UInt8] {
    if let last, now() < last.end { return last.octets }
    if let pending { return await pending.value }
    let task = Task { await load() }
    pending = task
    defer { pending = nil }
    return await task.value
  }

  private func load() async -> [UInt8] {
    do {
      guard let metrics = try await withDeadline(Self.timeout, fetch) else {
        return ScrapeAnswer.unavailable("bled did not answer within \(shortNumber(Self.timeout)) s")
      }
      let octets = ScrapeAnswer.page(PrometheusText.page(metrics))
      last = (octets, now() + Self.freshness)
      return octets
    } catch {
      return ScrapeAnswer.unavailable("\(error)")
    }
  }
}
