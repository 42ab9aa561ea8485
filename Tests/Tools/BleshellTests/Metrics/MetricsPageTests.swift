import BledConnection
import BledRPC
import Testing

@testable import BledWeb
@testable import bleshell

/// The page that `bleshell metrics --listen` serves to Prometheus.
@Suite struct MetricsPageTests {
  @Test("Help and kind are escaped, labels are quoted and sorted, numbers are short")
  func text() {
    let quoted = Metric("a", "gauge", "b\\\n", [.init(0.5, labels: ["c": "\"\\\n"])])
    #expect(PrometheusText.page([quoted]) == "# HELP a b\\\\\\n\n# TYPE a gauge\na{c=\"\\\"\\\\\\n\"} 0.5\n")
    let labels = Metric("n", "counter", "N.", [.init(2, labels: ["z": "1", "b": "2"]), .init(3)])
    #expect(PrometheusText.page([labels]) == "# HELP n N.\n# TYPE n counter\nn{b=\"2\",z=\"1\"} 2\nn 3\n")
    #expect(PrometheusText.page([Metric("empty", "gauge", "E.", [])]) == "")
  }

  @Test("A histogram has its buckets, the last without a bound, its sum and its count")
  func histogram() {
    let buckets = [Metric.Bucket(most: 0.1, count: 1), .init(most: nil, count: 3)]
    #expect(
      PrometheusText.page([Metric("h", "histogram", "H.", [.init(1.5, labels: ["a": "b"], buckets: buckets)])]) == """
        # HELP h H.
        # TYPE h histogram
        h_bucket{a="b",le="0.1"} 1
        h_bucket{a="b",le="+Inf"} 3
        h_sum{a="b"} 1.5
        h_count{a="b"} 3

        """)
  }

  @Test(
    "One path and one method are granted",
    arguments: [
      ("GET /metrics HTTP/1.1", 200), ("GET /metrics HTTP/1.0", 200), ("GET /metrics?x=1 HTTP/1.1", 200),
      ("GET / HTTP/1.1", 404), ("GET /metric?/metrics HTTP/1.1", 404), ("GET /metrics/ HTTP/1.1", 404),
      ("POST /metrics HTTP/1.1", 405), ("GET /metrics HTTP/2", 400),
    ])
  @MainActor func requests(line: String, status: Int) async {
    var request = HTTPRequest()
    request.append(Array("\(line)\r\n\r\n".utf8))
    #expect(await Stage().page.answer(request).status == status)
  }

  @Test("An address is numeric, with a port")
  func addresses() throws {
    let invalid = ["127.0.0.1", "127.0.0.1:", ":9459", "localhost:9459", "127.0.0.1:65536", "::1:9459", "[::1]", "[:1"]
    for text in invalid { #expect(ListenAddress(argument: text) == nil, "\(text)") }
    let valid = ["127.0.0.1:9459", "[::1]:9459", "0.0.0.0:0"]
    for text in valid { #expect(ListenAddress(argument: text) != nil, "\(text)") }
    let listener = try #require(ListenAddress(argument: "127.0.0.1:0")).listen()
    #expect(listener.name.hasPrefix("127.0.0.1:") && listener.name != "127.0.0.1:0")
    let taken = try #require(ListenAddress(argument: listener.name))
    #expect(throws: Failure.self) { _ = try taken.opened() }
  }

  /// A scripted daemon, and a clock.
  @MainActor private final class Stage {
    // Real time: the beginning; the test moves it.
    var time = ContinuousClock.now
    var calls = 0
    var failure: Failure?
    /// Ends the wait of a call; without it calls are answered at once.
    var gate: AsyncStream<Void>?

    private(set) lazy var page = MetricsPage(now: { self.time }) { [self] in
      calls += 1
      if let gate { for await _ in gate { break } }
      if let failure { throw failure }
      return [Metric("calls", "counter", "C.", [.init(Double(calls))])]
    }

    func answer() async -> String { String(decoding: await page.answer().octets, as: UTF8.self) }
  }

  @Test("The page is made once a second at most")
  @MainActor func cached() async {
    let stage = Stage()
    let first = await stage.answer()
    #expect(first.hasPrefix("HTTP/1.1 200 OK\r\n") && first.hasSuffix("\ncalls 1\n"))
    stage.time += .milliseconds(999)
    #expect(await stage.answer() == first)
    stage.time += .milliseconds(1)
    #expect(await stage.answer().hasSuffix("\ncalls 2\n"))
  }

  @Test("Programs that scrape at once share one call")
  @MainActor func shared() async {
    let stage = Stage()
    let (gate, opener) = AsyncStream.makeStream(of: Void.self)
    stage.gate = gate
    async let first = stage.answer()
    async let second = stage.answer()
    while stage.calls == 0 { await Task.yield() }
    opener.finish()
    let pages = await [first, second]
    #expect(pages[0] == pages[1] && stage.calls == 1)
  }

  @Test("Without the daemon the answer is 503 with the reason, and the next scrape asks again")
  @MainActor func unavailable() async {
    let stage = Stage()
    stage.failure = Failure("bled is not running")
    let answer = await stage.answer()
    #expect(answer.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n") && answer.contains("bled is not running"))
    stage.failure = nil
    #expect(await stage.answer().hasSuffix("\ncalls 2\n"))
  }
}
