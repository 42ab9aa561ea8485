/// The checks of each request. Other users of the machine reach a loopback port, and so does each web page that a
/// browser shows: neither has the token.
///
/// | A request with …                                          | Answer |
/// |-----------------------------------------------------------|--------|
/// | another `Host`, or none (DNS rebinding)                   | 421    |
/// | an `Origin` that is not this server                       | 403    |
/// | a path below /api and no token, or a wrong one            | 401    |
struct Gate: Sendable {
  private let hosts: [String]
  private let token: [UInt8]

  /// - Parameters:
  ///   - port: the port of the server.
  ///   - token: the secret that pages send.
  init(port: UInt16, token: String) {
    hosts = ["127.0.0.1:\(port)", "localhost:\(port)"]
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
    guard let host = request[.host], hosts.contains(where: { $0.utf8.elementsEqual(host.utf8) }) else {
      return .refusal(421, "Misdirected Request")
    }
    guard let origin = request[.origin] else { return nil }
    return hosts.contains { "http://\($0)".utf8.elementsEqual(origin.utf8) } ? nil : .refusal(403, "Forbidden")
  }

  /// Whether a request has the token. The time that this takes does not depend on where it differs.
  func authorizes(_ request: HTTPRequest) -> Bool {
    let given = Array((request[.authorization] ?? "").utf8)
    guard given.count == token.count else { return false }
    return zip(given, token).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
