/// An HTTP/1 request with its body, received in parts.
///
/// | Input                                                       | State after it |
/// |-------------------------------------------------------------|----------------|
/// | less than a whole head and the body that it announces       | waiting        |
/// | all of it                                                   | whole          |
/// | another first line, control characters, a field of `Field`  |                |
/// | that is repeated, a length that is not a number             | refused: 400   |
/// | a body that is longer than 64 KiB                           | refused: 413   |
/// | more than 8 KiB without the end of the head                 | refused: 431   |
/// | a body in chunks                                            | refused: 501   |
public struct HTTPRequest: Sendable {
  /// The state of the request.
  public enum State: Equatable, Sendable {
    case waiting
    case whole
    /// With the status and its reason phrase.
    case refused(Int, String)
  }

  /// The fields of the head that are kept.
  public enum Field: String, CaseIterable, Sendable {
    case host
    case origin
    case authorization
    case contentLength = "content-length"
    case transferEncoding = "transfer-encoding"
  }

  /// The limit for the head, in octets.
  public static let longestHead = 8192
  /// The limit for the body, in octets.
  public static let longestBody = 65_536
  private static let end = Array("\r\n\r\n".utf8)

  /// The state of the request.
  public private(set) var state = State.waiting
  /// The method, such as "GET".
  public private(set) var method = ""
  /// The path, without the query.
  public private(set) var path = ""
  /// The body; empty if there is none.
  public private(set) var body: [UInt8] = []
  private var fields: [Field: String] = [:]
  private var head: [UInt8] = []
  /// The length of the body; nil: the head is not whole.
  private var bodyLength: Int?

  /// Makes a request without any octets yet.
  public init() {}

  /// The value of a field; nil: the request does not have it.
  public subscript(_ field: Field) -> String? { fields[field] }

  /// Adds octets; ignores them once the outcome is known.
  public mutating func append(_ octets: some Collection<UInt8>) {
    guard state == .waiting else { return }
    guard bodyLength == nil else { return appendBody(octets) }
    // The end may be divided.
    let before = head.count
    let start = max(0, before - Self.end.count + 1)
    head.append(contentsOf: octets.prefix(Self.longestHead + Self.end.count - head.count))
    guard let end = head[start...].indices.first(where: { head[$0...].starts(with: Self.end) }) else {
      if head.count > Self.longestHead { state = .refused(431, "Request Header Fields Too Large") }
      return
    }
    state = decide(head[..<end])
    head = []
    if state == .waiting { appendBody(octets.dropFirst(end + Self.end.count - before)) }
  }

  private mutating func appendBody(_ octets: some Collection<UInt8>) {
    guard let bodyLength else { return }
    body.append(contentsOf: octets.prefix(bodyLength - body.count))
    if body.count == bodyLength { state = .whole }
  }

  private mutating func decide(_ head: ArraySlice<UInt8>) -> State {
    let bad = State.refused(400, "Bad Request")
    let isText = head.allSatisfy { $0 >= 0x20 && $0 < 0x7F || $0 == 0x0D || $0 == 0x0A || $0 == 0x09 }
    let lines = head.split(separator: 0x0A, omittingEmptySubsequences: false)
    // A carriage return elsewhere is the end of a line for some proxies (RFC 9112, 2.2).
    let returns = head.count { $0 == 0x0D }
    guard isText, returns == lines.count - 1, lines.dropLast().allSatisfy({ $0.last == 0x0D }), let first = lines.first
    else { return bad }
    let words = first.dropLast(lines.count > 1 ? 1 : 0).split(separator: 0x20, omittingEmptySubsequences: false)
    guard words.count == 3, words[2].elementsEqual("HTTP/1.1".utf8) || words[2].elementsEqual("HTTP/1.0".utf8) else {
      return bad
    }
    method = String(decoding: words[0], as: UTF8.self)
    path = String(decoding: words[1].prefix { $0 != UInt8(ascii: "?") }, as: UTF8.self)
    for line in lines.dropFirst() {
      guard add(line.last == 0x0D ? line.dropLast() : line) else { return bad }
    }
    guard fields[.transferEncoding] == nil else { return .refused(501, "Not Implemented") }
    let digits = fields[.contentLength] ?? "0"
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return bad }
    guard let length = Int(digits), length <= Self.longestBody else { return .refused(413, "Content Too Large") }
    bodyLength = length
    return .waiting
  }

  /// - Returns: false for a line that is not a field, and for a repeated one.
  private mutating func add(_ line: ArraySlice<UInt8>) -> Bool {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex else { return false }
    let name = String(decoding: line[..<colon], as: UTF8.self)
    guard !name.utf8.contains(where: { $0 <= 0x20 }) else { return false }
    guard let field = Field(rawValue: name.lowercased()) else { return true }
    guard fields[field] == nil else { return false }
    let isBlank = { (octet: UInt8) in octet == 0x20 || octet == 0x09 }
    let value = line[line.index(after: colon)...].drop(while: isBlank).reversed().drop(while: isBlank).reversed()
    fields[field] = String(decoding: Array(value), as: UTF8.self)
    return true
  }
}
