import BledClient
import BledConnection
import FoundationEssentials
import TestSupport
import Testing
import ValueFormats

@testable import BledWeb

/// The running server, without a daemon.
@Suite struct WebServerTests {
  /// A server on a free port.
  @MainActor private final class Site {
    let port: UInt16
    let token: String
    private let task: Task<Void, Never>

    init(allowsWrites: Bool = false) throws {
      let listener = try ListenAddress(loopback: 0).listen()
      let server = WebServer(
        listener, socket: "/nonexistent/bled.sock", allowsWrites: allowsWrites, keys: nil,
        words: Words(
          name: { _ in nil }, contents: { _ in [] }, user: { _ in nil }, names: { NameList() }, rename: { _, _, _ in }),
        doctor: { Data("[]".utf8) })
      token = try #require(server.address.split(separator: "#").last.map(String.init))
      port = try #require(listener.port)
      task = Task { await server.run() }
    }

    func close() async {
      task.cancel()
      await task.value
    }

    /// Sends a request with the token, and gives the answer.
    func request(_ line: String, host: String? = nil, token: String? = nil, fields: [String] = [], body: String = "")
      async throws -> String
    {
      let head = [
        "\(line) HTTP/1.1", "Host: \(host ?? "127.0.0.1:\(port)")", "Authorization: Bearer \(token ?? self.token)",
        "Content-Length: \(body.utf8.count)",
      ]
      let text = (head + fields).joined(separator: "\r\n") + "\r\n\r\n" + body
      let port = port
      return try await onThread {
        Result {
          let connection = try ServerConnection(port: port)
          try connection.send(text)
          return try connection.readAnswer()
        }
      }.get()
    }

    func status(_ line: String, host: String? = nil, token: String? = nil, fields: [String] = [], body: String = "")
      async throws -> String
    {
      let answer = try await request(line, host: host, token: token, fields: fields, body: body)
      return String(answer.dropFirst("HTTP/1.1 ".count).prefix(3))
    }
  }

  @Test("Files of the page need no token, have the strict policy and no cookie")
  @MainActor func page() async throws {
    let site = try Site()
    for (path, type) in [
      ("/", "text/html"), ("/page.css", "text/css"), ("/page.js", "text/javascript"),
      ("/server.js", "text/javascript"),
    ] {
      let answer = try await site.request("GET \(path)", token: "none")
      #expect(answer.hasPrefix("HTTP/1.1 200 OK\r\nContent-Type: \(type); charset=utf-8\r\n"))
      #expect(answer.contains("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'; "))
      #expect(answer.contains("\r\nX-Content-Type-Options: nosniff\r\n"))
      #expect(answer.contains("\r\nReferrer-Policy: no-referrer\r\n"))
      #expect(answer.contains("\r\nCache-Control: no-store\r\n"))
      #expect(!answer.contains("Set-Cookie") && !answer.contains("Access-Control-"))
      #expect(!answer.contains(site.token))
    }
    await site.close()
  }

  @Test("Foreign hosts and origins and wrong tokens are refused on each path")
  @MainActor func attacks() async throws {
    let site = try Site(allowsWrites: true)
    let lines = [
      "GET /api/events", "GET /api/doctor", "GET /api/devices/a", "POST /api/devices/a/write", "POST /api/recordings",
      "GET /api/recordings/1",
    ]
    for line in lines {
      #expect(try await site.status(line, token: "0") == "401", "\(line)")
      #expect(try await site.status(line, host: "evil.example:\(site.port)") == "421", "\(line)")
      #expect(try await site.status(line, fields: ["Origin: http://evil.example"]) == "403", "\(line)")
    }
    #expect(try await site.status("GET /", host: "evil.example") == "421")
    #expect(try await site.status("OPTIONS /api/doctor") == "405")
    #expect(try await site.status("GET /api/nothing") == "404")
    #expect(try await site.status("GET /other.js") == "404")
    await site.close()
  }

  @Test("Without a daemon operations say so, and wrong bodies are refused")
  @MainActor func operations() async throws {
    let site = try Site()
    #expect(try await site.status("GET /api/doctor") == "200")
    #expect(try await site.status("GET /api/devices/a") == "404")
    #expect(try await site.status("POST /api/devices/a/connect") == "503")
    #expect(try await site.status("POST /api/recordings") == "503")
    #expect(try await site.status("POST /api/devices/a/read", body: "{\"handle\":3}") == "409")
    for body in ["", "{}", "{\"handle\":70000}", "[", "{\"handle\":\"3\"}"] {
      #expect(try await site.status("POST /api/devices/a/read", body: body) == "400", "\(body)")
    }
    let write = "{\"handle\":3,\"value\":\"00\",\"response\":true}"
    let answer = try await site.request("POST /api/devices/a/write", body: write)
    #expect(answer.hasPrefix("HTTP/1.1 403 ") && answer.contains("--allow-writes"))
    for (operation, body) in [("pair", "{}"), ("forget", ""), ("name", "{\"name\":\"a\"}")] {
      let answer = try await site.request("POST /api/devices/a/\(operation)", body: body)
      #expect(answer.hasPrefix("HTTP/1.1 403 ") && answer.contains("--allow-writes"))
    }
    #expect(try await site.status("POST /api/pairing", body: "{\"question\":1}") == "200")
    #expect(try await site.status("POST /api/pairing", body: "{}") == "400")
    await site.close()
    let writing = try Site(allowsWrites: true)
    #expect(try await writing.status("POST /api/devices/a/pair", body: "{}") == "409")
    #expect(try await writing.status("POST /api/devices/a/name", body: "{\"name\":\"a\"}") == "400")
    #expect(try await writing.status("POST /api/devices/a/write", body: write) == "409")
    await writing.close()
  }
}
