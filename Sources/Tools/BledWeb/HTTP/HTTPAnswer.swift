import FoundationEssentials

/// An answer of HTTP/1.1; the connection is closed after it.
public struct HTTPAnswer: Sendable {
  /// The body of an answer.
  public enum Body: Sendable {
    case octets([UInt8])
    /// Octets that follow while the connection is open.
    case stream(any HTTPStream)
  }

  /// The status, 100 to 599.
  public let status: Int
  /// The words of the status.
  public let words: String
  /// More fields of the head.
  public var fields: [(name: String, value: String)]
  /// The body.
  public let body: Body

  /// Makes an answer.
  /// - Parameter type: the media type of the body.
  public init(_ status: Int, _ words: String, type: String, body: Body) {
    self.status = status
    self.words = words
    fields = [("Content-Type", type)]
    self.body = body
  }

  /// Plain text with a line feed.
  public init(_ status: Int, _ words: String, text: String) {
    self.init(status, words, type: "text/plain; charset=utf-8", body: .octets(Array("\(text)\n".utf8)))
  }

  /// A refusal with its status and its words.
  public static func refusal(_ status: Int, _ words: String) -> HTTPAnswer { HTTPAnswer(status, words, text: words) }

  /// 405: the path has another method.
  public static func methodNotAllowed(_ allowed: String) -> HTTPAnswer {
    var answer = refusal(405, "Method Not Allowed")
    answer.fields.append(("Allow", allowed))
    return answer
  }

  /// The head, and the body if it is known.
  var octets: [UInt8] {
    var head = "HTTP/1.1 \(status) \(words)\r\n"
    for field in fields { head += "\(field.name): \(field.value)\r\n" }
    head += "Connection: close\r\n"
    switch body {
    case .octets(let octets): return Array("\(head)Content-Length: \(octets.count)\r\n\r\n".utf8) + octets
    case .stream: return Array("\(head)\r\n".utf8)
    }
  }
}

/// The source of a body without a known end. It keeps no more for the receiver than `next` returns.
@MainActor public protocol HTTPStream: AnyObject, Sendable {
  /// The octets to send next; empty: none for now. Called only when all earlier ones were accepted by the system.
  func next() -> [UInt8]
  /// The connection has ended; called once.
  func end()
}
