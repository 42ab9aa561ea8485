import BledRPC
import BledWeb

/// The page with the metrics. The daemon is called once a second at most, and for one page at a time, regardless of the
/// number of scraping programs.
@MainActor final class MetricsPage {
  /// The maximum age of a page that is served again.
  private static let freshness = Duration.seconds(1)
  /// The limit in seconds for the daemon's answer, shorter than that for a connection.
  private static let timeout = 4.0

  private let now: @MainActor () -> ContinuousClock.Instant
  private let fetch: @MainActor @Sendable () async throws -> [Metric]
  /// The last page, and the end of its second.
  private var last: (answer: HTTPAnswer, end: ContinuousClock.Instant)?
  /// The call that has not been answered yet.
  private var pending: Task<HTTPAnswer, Never>?

  init(
    now: @escaping @MainActor () -> ContinuousClock.Instant = { .now },
    fetch: @escaping @MainActor @Sendable () async throws -> [Metric]
  ) {
    self.now = now
    self.fetch = fetch
  }

  /// The answer to a request: the page, a refusal, or 503 if the daemon does not give the metrics.
  func answer(_ request: HTTPRequest) async -> HTTPAnswer {
    if case .refused(let status, let words) = request.state { return .refusal(status, words) }
    guard request.path == "/metrics" else { return .refusal(404, "Not Found") }
    guard request.method == "GET" else { return .methodNotAllowed("GET") }
    return await answer()
  }

  /// The page, or 503.
  func answer() async -> HTTPAnswer {
    if let last, now() < last.end { return last.answer }
    if let pending { return await pending.value }
    let task = Task { await load() }
    pending = task
    defer { pending = nil }
    return await task.value
  }

  private func load() async -> HTTPAnswer {
    do {
      guard let metrics = try await withDeadline(Self.timeout, fetch) else {
        return Self.unavailable("bled did not answer within \(shortNumber(Self.timeout)) s")
      }
      let page = Array(PrometheusText.page(metrics).utf8)
      let answer = HTTPAnswer(200, "OK", type: PrometheusText.contentType, body: .octets(page))
      last = (answer, now() + Self.freshness)
      return answer
    } catch {
      return Self.unavailable("\(error)")
    }
  }

  private static func unavailable(_ reason: String) -> HTTPAnswer {
    HTTPAnswer(503, "Service Unavailable", text: reason)
  }
}
