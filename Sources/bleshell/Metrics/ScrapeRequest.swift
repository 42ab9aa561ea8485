/// A request of HTTP/1 for the metrics, as it comes.
///
/// | Input                                              | State after it             |
/// |----------------------------------------------------|----------------------------|
/// | less than a whole head                             | waiting                    |
/// | a whole head: GET /metrics HTTP/1.0 or 1.1         | granted                    |
/// | the same with ? and anything behind /metrics       | granted                    |
/// | a whole head of another path                       | refused: 404               |
/// | a whole head of another method                     | refused: 405               |
/// | another first line, a body, control characters     | refused: 400               |
/// | more than 4096 octets without the end of the head  | refused: 431               |
struct ScrapeRequest {
  /// The state of the request.
  enum State: Equatable {
    case waiting
    case granted
    /// With the status and its words.
    case refused(Int, String)
  }

  /// How long a head may be, in octets.
  static let longest = 4096
  private static let end = Array("\r\n\r\n".utf8)
  private var head: [UInt8] = []
  private(set) var state = State.waiting

  /// Adds octets; none are of interest once it has been decided.
  mutating func append(_ octets: some Collection<UInt8>) {
    guard state == .waiting else { return }
    // The end may be divided.
    let start = max(0, head.count - Self.end.count + 1)
    head.append(contentsOf: octets.prefix(Self.longest + Self.end.count - head.count))
    if let end = Self.position(of: Self.end, in: head[start...]) {
      state = Self.decide(head[..<end])
    } else if head.count > Self.longest {
      state = .refused(431, "Request Header Fields Too Large")
    }
  }

  private static func position(of pattern: [UInt8], in octets: ArraySlice<UInt8>) -> Int? {
    octets.indices.first { octets[$0...].starts(with: pattern) }
  }

  private static func decide(_ head: ArraySlice<UInt8>) -> State {
    let bad = State.refused(400, "Bad Request")
    let isText = head.allSatisfy { $0 >= 0x20 && $0 < 0x7F || $0 == 0x0D || $0 == 0x0A || $0 == 0x09 }
    let lines = head.split(separator: 0x0A, omittingEmptySubsequences: false)
    guard isText, lines.dropLast().allSatisfy({ $0.last == 0x0D }), let first = lines.first else { return bad }
    let words = first.dropLast(lines.count > 1 ? 1 : 0).split(separator: 0x20, omittingEmptySubsequences: false)
    guard words.count == 3, words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8) else {
      return bad
    }
    guard words[0].elementsEqual("GET".utf8) else { return .refused(405, "Method Not Allowed") }
    let path = words[1].prefix { $0 != UInt8(ascii: "?") }
    guard path.elementsEqual("/metrics".utf8) else { return .refused(404, "Not Found") }
    return .granted
  }
}
