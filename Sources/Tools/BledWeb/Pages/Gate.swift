import Bluetooth

/// The checks of each request. Other users of the machine reach a loopback port, and so does each web page that a
/// browser shows: neither has the token.
///
/// | A request with …                                          | Answer |
/// |-----------------------------------------------------------|--------|
/// | another `Host`, or none (DNS rebinding)                   | 421    |
/// | an `Origin` that is not this server, or not the `Host`    | 403    |
/// | a path below /api and no token, or a wrong one            | 401    |
struct Gate: Sendable {
  /// The names of the server; nil: it is behind a proxy, which has any.
  private let hosts: [String]?
  private let token: [UInt8]

  /// - Parameters:
  ///   - host: the address and port of the server, on this machine; nil: it listens on a Unix socket, which web pages
  ///     reach through a proxy only.
  ///   - token: the secret that pages send.
  init(host: String?, token: String) {
    hosts = host.map { host in [host, "localhost\(host[(host.lastIndex(of: ":") ?? host.endIndex)...])"] }
    self.token = Array("Bearer \(token)".utf8)
  }

  /// 128 bits at random, as hex digits.
  static func randomToken() -> String {
    var generator = SystemRandomNumberGenerator()
    let digits = [generator.next(), generator.next()].map { (number: UInt64) in
      let text = String(number, radix: 16)
      return String(repeating: "0", count: 16 - text.utf8.count) + text
    }
    return digits.joined()
  }

  /// The refusal of a request, with or without token; nil: it is from this server's own page, or a program.
  func refusal(of request: HTTPRequest) -> HTTPAnswer? {
    guard let host = request[.host], !host.isEmpty, hosts?.contains(where: { $0.hasSameOctets(as: host) }) != false
    else {
      return .refusal(421, "Misdirected Request")
    }
    guard let origin = request[.origin] else { return nil }
    let origins = hosts.map { $0.map { "http://\($0)" } } ?? ["http://\(host)", "https://\(host)"]
    return origins.contains { $0.hasSameOctets(as: origin) } ? nil : .refusal(403, "Forbidden")
  }

  /// Returns true if a request has the token. The time does not depend on the first difference.
  func authorizes(_ request: HTTPRequest) -> Bool {
    let given = Array((request[.authorization] ?? "").utf8)
    guard given.count == token.count else { return false }
    return zip(given, token).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
