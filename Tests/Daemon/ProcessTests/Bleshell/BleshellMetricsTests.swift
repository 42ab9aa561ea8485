import Glibc
import TestSupport
import Testing

/// `bleshell metrics --listen`, as programs that scrape it see it.
@Suite struct BleshellMetricsTests {
  /// A server on a free port, with its daemon.
  private final class Server {
    private let daemon: DaemonProcess
    let process: ChildProcess
    let port: UInt16

    init(for daemon: DaemonProcess) throws {
      self.daemon = daemon
      let process = try daemon.start(["metrics", "--listen", "127.0.0.1:0"])
      let start = "bleshell: serving http://127.0.0.1:"
      try eventually("the server listens") { process.errors.hasSuffix("\n") || process.hasEnded }
      let port = process.errors.hasPrefix(start) ? process.errors.dropFirst(start.count).prefix { $0 != "/" } : ""
      self.port = try #require(UInt16(port), "\(process.errors)")
      self.process = process
    }

    /// Sends a request until the answer has this status: on a slow machine a connection ends before its answer.
    func scrape(_ request: String = "GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", status: Int = 200) throws -> String {
      var answer = ""
      try eventually("the answer is \(status)") {
        let connection = try ServerConnection(port: port)
        try connection.send(request)
        answer = try connection.readAnswer()
        return answer.hasPrefix("HTTP/1.1 \(status) ")
      }
      return answer
    }
  }

  @Test("The page is as Prometheus reads it: help and kind first, numbers, labels in quotes, no line twice")
  func page() throws {
    let server = try Server(for: try DaemonProcess())
    let answer = try server.scrape()
    #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4; charset=utf-8\r\n"))
    let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
    try #require(parts.count == 2)
    #expect(parts[0].contains("Content-Length: \(parts[1].utf8.count)"))
    let lines = parts[1].split(separator: "\n", omittingEmptySubsequences: false)
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
    #expect(lines.contains("bled_sessions 1") && lines.contains("bled_calls_total{method=\"session.open\"} 1"))
    server.process.send(signal: SIGINT)
    #expect(try server.process.exitStatus() == 0, "\(server.process.errors)")
  }

  @Test("Silent connections keep nobody waiting, and of nine the oldest is closed; wrong requests are refused")
  func silence() throws {
    let server = try Server(for: try DaemonProcess())
    let silent = try (0..<8).map { _ in try ServerConnection(port: server.port) }
    _ = try server.scrape()
    try eventually("the oldest is closed") { silent[0].hasEnded }
    #expect(try server.scrape("PUT /metrics HTTP/1.1\r\n\r\n", status: 405).contains("\r\nAllow: GET\r\n"))
    _ = try server.scrape("\r\n\r\n", status: 400)
  }

  @Test("Several programs scrape at once")
  func several() throws {
    let server = try Server(for: try DaemonProcess())
    try eventually("all have the page") {
      let scrapers = try (0..<5).map { _ in try ServerConnection(port: server.port) }
      for scraper in scrapers { try scraper.send("GET /metrics HTTP/1.1\r\n\r\n") }
      return try scrapers.allSatisfy { try $0.readAnswer().hasPrefix("HTTP/1.1 200 OK\r\n") }
    }
  }

  @Test("A connection that does not say what it wants is closed")
  func timeout() throws {
    let server = try Server(for: try DaemonProcess())
    let silent = try ServerConnection(port: server.port)
    try silent.send("GET /metrics")
    #expect(try silent.readAnswer() == "")
  }

  @Test("While the daemon is gone the answer is 503, and with the next daemon the page is there again")
  func reconnecting() throws {
    let folder = try TemporaryFolder()
    var daemon = try DaemonProcess(folder: folder)
    let server = try Server(for: daemon)
    _ = try server.scrape()
    daemon.process.send(signal: SIGTERM)
    #expect(try daemon.process.exitStatus() == 0)
    // A page lives for a second.
    #expect(try server.scrape(status: 503).contains("bled is not running"))
    daemon = try DaemonProcess(folder: folder)
    _ = try server.scrape()
  }

  @Test("An address that is in use or not valid is an error, and --all belongs to the table")
  func refused() throws {
    let daemon = try DaemonProcess()
    let server = try Server(for: daemon)
    let second = try daemon.bleshell("metrics", "--listen", "127.0.0.1:\(server.port)")
    #expect(second.status == 1 && second.errors.contains("Address already in use"), "\(second.errors)")
    #expect(try daemon.bleshell("metrics", "--listen", "localhost:9459").status == 64)
    #expect(try daemon.bleshell("metrics", "--listen", "127.0.0.1:0", "--all").status == 64)
  }
}
