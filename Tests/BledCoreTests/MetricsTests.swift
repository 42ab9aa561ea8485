import BledRPC
import Bluetooth
import EventLoop
import Glibc
import Logging
import TestSupport
import Testing

@testable import BledCore

/// The measurements of the daemon, and their form for Prometheus.
@Suite struct MetricsTests {
  private let world = World()

  private func sample(_ name: String, _ labels: [String: String] = [:]) -> Metric.Sample? {
    world.daemon.metrics.first { $0.name == name }?.samples.first { $0.labels == labels }
  }

  @Test("calls are counted by method, their times measured, and what users cost outlasts their sessions")
  func counting() throws {
    let client = world.client(user: 1000)
    let peer = world.peer()
    try peer.furnish()
    let link = try world.connect(client, peer)
    let read = try client.call(
      GATTRead.self, .init(peripheral: link.peripheral, attribute: .handle(peer.handle(of: 0x2A38))))
    world.settle()
    _ = try #require(try client.answer(to: read, GATTRead.self)).get()
    _ = try client.error(GATTRead.self, .init(peripheral: "nobody", attribute: .handle(1)))
    _ = try client.error(AdapterPower.self, .init(on: false))
    #expect(sample("bled_calls_total", ["method": "gatt.read"])?.value == 2)
    // A call that is not permitted is none of the method.
    #expect(sample("bled_calls_total", ["method": "adapter.power"]) == nil)
    #expect(sample("bled_calls_failed_total")?.value == 2)
    let reads = try #require(sample("bled_read_duration_seconds")?.buckets)
    #expect(reads.last?.count == 1 && reads.first?.most == 0.0001 && reads.last?.most == nil)
    #expect(zip(reads, reads.dropFirst()).allSatisfy { $0.count <= $1.count })
    #expect(sample("bled_adapter_links", ["adapter": "hci0"])?.value == 1)
    let before = try #require(sample("bled_user_calls_total", ["user": "1000"])?.value)
    client.die()
    #expect(before == 4 && sample("bled_user_calls_total", ["user": "1000"])?.value == before)
    #expect(sample("bled_sessions")?.value == 0 && sample("bled_sessions_opened_total")?.value == 1)
  }

  @Test("so many users come that some are told together")
  func manyUsers() {
    for user in 0..<100 as Range<UInt32> { world.client(user: 2000 + user).die() }
    let users = world.daemon.metrics.first { $0.name == "bled_user_calls_total" }?.samples ?? []
    #expect(users.count == 65 && users.contains { $0.labels["user"] == "others" })
  }

  @Test("what others cost never falls, whoever of them ends")
  func manyUsersEnd() throws {
    for user in 0..<63 as Range<UInt32> { world.client(user: 2000 + user).die() }
    let (first, second) = (world.client(user: 3000), world.client(user: 3001))
    _ = try first.result(AdapterList.self, Empty())
    for _ in 0..<5 { _ = try second.result(AdapterList.self, Empty()) }
    let before = try #require(sample("bled_user_calls_total", ["user": "others"])?.value)
    second.die()
    let between = try #require(sample("bled_user_calls_total", ["user": "others"])?.value)
    first.die()
    let after = try #require(sample("bled_user_calls_total", ["user": "others"])?.value)
    #expect(before == 5 && between == 5 && after == 5)
  }

  @Test("the page is as Prometheus reads it: help and kind first, numbers, labels in quotes, histograms that add up")
  func page() throws {
    let client = world.client(user: 1000)
    _ = try client.result(AdapterList.self, Empty())
    let lines = PrometheusText.page(world.daemon.metrics).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.last == "")
    let label = #"[a-z]+="[^"\\\n]*""#
    let line = try Regex(
      #"(?<name>[a-z_]+?)(_bucket|_sum|_count)?(\{\#(label)(,\#(label))*\})? (?<value>[0-9.e+-]+)"#)
    var current = ""
    var seen: Set<Substring> = []
    for text in lines.dropLast() {
      if text.hasPrefix("# ") {
        let words = text.split(separator: " ", maxSplits: 3)
        #expect(words.count == 4 && words[2].hasPrefix("bled_"), "\(text)")
        if words[1] == "HELP" { current = String(words[2]) }
        if words[1] == "TYPE" { #expect(words[2] == current && ["counter", "gauge", "histogram"].contains(words[3])) }
      } else {
        let match = try #require(try line.wholeMatch(in: text), "\(text)")
        #expect(match["name"]?.substring == current[...], "\(text)")
        #expect(match["value"]?.substring.flatMap { Double($0) } != nil, "\(text)")
        let (isNew, _) = seen.insert(text.prefix { $0 != " " })
        #expect(isNew, "\(text) is there twice")
      }
    }
    #expect(lines.contains("bled_calls_total{method=\"adapter.list\"} 1"))
    #expect(lines.contains("bled_call_duration_seconds_bucket{le=\"+Inf\"} 1"))
    #expect(lines.contains("bled_call_duration_seconds_count 1"))
    let quoted = Metric("a", "gauge", "b\\\n", [.init(0.5, labels: ["c": "\"\\\n"])])
    #expect(PrometheusText.page([quoted]) == "# HELP a b\\\\\\n\n# TYPE a gauge\na{c=\"\\\"\\\\\\n\"} 0.5\n")
  }

  @Test(
    "one path, one method, and nothing else",
    arguments: [
      ("GET /metrics HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n", ScrapeRequest.State.granted),
      ("GET /metrics HTTP/1.0\r\n\r\n", .granted), ("GET /metrics HTTP/1.1\r\nHost: a\r\n", .waiting),
      ("GET /metrics?x=1 HTTP/1.1\r\n\r\n", .granted), ("GET /metrics? HTTP/1.1\r\n\r\n", .granted),
      ("GET / HTTP/1.1\r\n\r\n", .refused(404, "Not Found")),
      ("GET /metric?/metrics HTTP/1.1\r\n\r\n", .refused(404, "Not Found")),
      ("GET /metrics/ HTTP/1.1\r\n\r\n", .refused(404, "Not Found")),
      ("POST /metrics HTTP/1.1\r\n\r\n", .refused(405, "Method Not Allowed")),
      ("GET /metrics HTTP/2\r\n\r\n", .refused(400, "Bad Request")),
      ("GET  /metrics HTTP/1.1\r\n\r\n", .refused(400, "Bad Request")),
      ("GET /metrics HTTP/1.1\nHost: a\r\n\r\n", .refused(400, "Bad Request")),
      ("\r\n\r\n", .refused(400, "Bad Request")),
      (String(repeating: "a", count: 5000), .refused(431, "Request Header Fields Too Large")),
    ])
  func requests(text: String, state: ScrapeRequest.State) {
    var whole = ScrapeRequest()
    whole.append(Array(text.utf8))
    #expect(whole.state == state)
    var pieces = ScrapeRequest()
    for octet in text.utf8 { pieces.append([octet]) }
    #expect(pieces.state == state)
  }

  /// Connects to a port of this machine.
  private func connect(_ port: in_port_t) throws -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(result == 0)
    return descriptor
  }

  private func read(_ descriptor: Int32) -> String {
    var all: [UInt8] = []
    var octets = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = recv(descriptor, &octets, octets.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { return String(decoding: all, as: UTF8.self) }
      all += octets[..<count]
    }
  }

  /// Serves the metrics on a free port.
  private func serve() throws -> (loop: EventLoop, server: MetricsServer, port: in_port_t) {
    let loop = try EventLoop()
    let listening = try ListeningSocket(loopbackPort: 0)
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    _ = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listening.descriptor, $0, &length) }
    }
    return (loop, try MetricsServer(listening, daemon: world.daemon, loop: loop), address.sin_port)
  }

  /// Asks for the page.
  private func scrape(_ port: in_port_t, _ loop: EventLoop) throws -> String {
    let scraper = try connect(port)
    defer { close(scraper) }
    let text = "GET /metrics HTTP/1.1\r\n\r\n"
    #expect(send(scraper, text, text.utf8.count, 0) == text.utf8.count)
    while try loop.poll() {}
    return read(scraper)
  }

  @Test("The page is made once a second, however often it is asked for", .timeLimit(.minutes(10)))
  func cached() throws {
    let (loop, server, port) = try serve()
    defer { server.close() }
    let start = ContinuousClock.now
    let page = try scrape(port, loop)
    let client = world.client()
    let next = try scrape(port, loop)
    if start.duration(to: .now) < .seconds(1) { #expect(next.contains("\nbled_sessions 0\n") && next == page) }
    #expect(try Patience.wait { try scrape(port, loop).contains("\nbled_sessions 1\n") })
    #expect(start.duration(to: .now) >= .seconds(1))
    client.die()
  }

  @Test("Of nine that say nothing the oldest gives way, and whoever asks is answered", .timeLimit(.minutes(10)))
  func silence() throws {
    let (loop, server, port) = try serve()
    defer { server.close() }
    let silent = try (0..<8).map { _ in try connect(port) }
    defer { for descriptor in silent { close(descriptor) } }
    while try loop.poll() {}
    #expect(try scrape(port, loop).hasPrefix("HTTP/1.1 200 OK"))
    var octets = [UInt8](repeating: 0, count: 1)
    #expect(recv(silent[0], &octets, 1, Int32(MSG_DONTWAIT)) == 0, "it was closed")
    for descriptor in silent.dropFirst() {
      #expect(recv(descriptor, &octets, 1, Int32(MSG_DONTWAIT)) < 0 && errno == EAGAIN, "it waits")
    }
  }

  @Test("over HTTP: the page, and who says nothing holds up nobody")
  func server() throws {
    let (loop, server, port) = try serve()
    defer { server.close() }
    let silent = try connect(port)
    let scraper = try connect(port)
    let wrong = try connect(port)
    defer { for descriptor in [silent, scraper, wrong] { close(descriptor) } }
    for (descriptor, text) in [(scraper, "GET /metrics HTTP/1.1\r\n\r\n"), (wrong, "PUT /metrics HTTP/1.1\r\n\r\n")] {
      #expect(send(descriptor, text, text.utf8.count, 0) == text.utf8.count)
    }
    while try loop.poll() {}
    let answer = read(scraper)
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
    let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
    #expect(parts.count == 2 && parts[0].contains("Content-Length: \(parts[1].utf8.count)"))
    #expect(parts.last?.hasSuffix("\n") == true && parts.last?.contains("\nbled_sessions 0\n") == true)
    let refusal = read(wrong)
    #expect(refusal.hasPrefix("HTTP/1.1 405 ") && refusal.contains("\r\nAllow: GET\r\n"))
    #expect(read(silent).isEmpty)
  }
}
