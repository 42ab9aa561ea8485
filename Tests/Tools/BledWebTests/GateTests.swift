import Testing

@testable import BledWeb

/// The checks of requests, and their routes.
@Suite struct GateTests {
  private static let token = String(repeating: "0a", count: 16)
  private let gate = Gate(host: "127.0.0.1:8080", token: Self.token)

  private func request(_ fields: String...) -> HTTPRequest {
    var request = HTTPRequest()
    request.append(Array("GET / HTTP/1.1\r\n\(fields.map { $0 + "\r\n" }.joined())\r\n".utf8))
    return request
  }

  @Test("The host is this machine, with the port", arguments: ["127.0.0.1:8080", "localhost:8080"])
  func hosts(host: String) {
    #expect(gate.refusal(of: request("Host: \(host)")) == nil)
    #expect(gate.refusal(of: request("Host: \(host)", "Origin: http://\(host)")) == nil)
  }

  @Test(
    "Other hosts are refused",
    arguments: [
      "127.0.0.1", "127.0.0.1:8081", "evil.example:8080", "127.0.0.1:8080.evil.example", "localhost:8080@evil.example",
      "", "127.0.0.1:8080, evil.example",
    ])
  func otherHosts(host: String) { #expect(gate.refusal(of: request("Host: \(host)"))?.status == 421) }

  @Test("On ::1 the host is that, or localhost")
  func version6() {
    let gate = Gate(host: "[::1]:8080", token: Self.token)
    for host in ["[::1]:8080", "localhost:8080"] {
      #expect(gate.refusal(of: request("Host: \(host)", "Origin: http://\(host)")) == nil)
    }
    for host in ["127.0.0.1:8080", "[::1]", "::1:8080"] {
      #expect(gate.refusal(of: request("Host: \(host)"))?.status == 421, "\(host)")
    }
  }

  @Test("Behind a proxy the host is any, and the origin is the same")
  func proxy() {
    let gate = Gate(host: nil, token: Self.token)
    #expect(gate.refusal(of: request("Host: pi.example")) == nil)
    #expect(gate.refusal(of: request("Host: pi.example", "Origin: https://pi.example")) == nil)
    #expect(gate.refusal(of: request("Host: pi.example", "Origin: http://pi.example")) == nil)
    #expect(gate.refusal(of: request("Host: pi.example", "Origin: https://evil.example"))?.status == 403)
    #expect(gate.refusal(of: request("Host:"))?.status == 421)
    #expect(gate.refusal(of: request())?.status == 421)
  }

  @Test("A request without a host is refused")
  func noHost() { #expect(gate.refusal(of: request())?.status == 421) }

  @Test(
    "Other origins are refused",
    arguments: [
      "http://evil.example", "null", "https://127.0.0.1:8080", "http://127.0.0.1", "http://127.0.0.1:80801", "",
    ]
  )
  func otherOrigins(origin: String) {
    #expect(gate.refusal(of: request("Host: 127.0.0.1:8080", "Origin: \(origin)"))?.status == 403)
  }

  @Test("The token is needed, whole and exact")
  func authorization() {
    #expect(gate.authorizes(request("Authorization: Bearer \(Self.token)")))
    let wrong = [
      "", "Bearer", "Bearer ", "Bearer \(Self.token)0", "Bearer \(Self.token.dropLast())", Self.token,
      "Basic \(Self.token)", "Bearer \(Self.token.dropLast())b",
    ]
    for value in wrong { #expect(!gate.authorizes(request("Authorization: \(value)")), "\(value)") }
    #expect(!gate.authorizes(request()))
  }

  @Test("A token has 128 bits as hex digits, and each is another one")
  func randomTokens() {
    let tokens = (0..<100).map { _ in Gate.randomToken() }
    #expect(tokens.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
    #expect(Set(tokens).count == 100)
  }

  @Test(
    "Each path has its method, and needs the token",
    arguments: [
      ("GET", "/api/events", Route.events), ("GET", "/api/doctor", .doctor), ("GET", "/api/devices/a", .device("a")),
      ("POST", "/api/devices/a/write", .operation(.write, device: "a")),
      ("POST", "/api/devices/a/subscribe", .operation(.subscribe, device: "a")),
      ("POST", "/api/devices/a/pair", .operation(.pair, device: "a")), ("POST", "/api/pairing", .pairing),
      ("POST", "/api/devices/a/forget", .operation(.forget, device: "a")),
    ])
  func routes(method: String, path: String, route: Route) throws {
    #expect(try Route.find(method, path) == route)
    #expect(route.needsToken)
    #expect(throws: Route.Problem.methodNotAllowed(method)) { try Route.find(method == "GET" ? "POST" : "GET", path) }
  }

  @Test("The files of the page need no token", arguments: ["/", "/page.css", "/page.js", "/server.js"])
  func files(path: String) throws {
    let route = try Route.find("GET", path)
    #expect(route == PageFile(path: path).map { .page($0) } && !route.needsToken)
    #expect(throws: Route.Problem.methodNotAllowed("GET")) { try Route.find("POST", path) }
  }

  @Test(
    "Other paths are not found",
    arguments: [
      "", "//", "/page.html", "/../page.js", "/api", "/api/", "/api/devices", "/api/devices/a/b", "/a/events",
    ])
  func otherPaths(path: String) {
    #expect(throws: Route.Problem.notFound) { try Route.find("GET", path) }
  }
}
