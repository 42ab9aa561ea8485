import Fuzzing

/// Requests of HTTP/1 from a network: each is refused, or whole and means the same written again, however it was
/// divided, and nothing beyond the limits is kept.
@main
enum HTTPFuzz {
  /// A length that an input may reach: beyond the longest head with the longest body.
  private static let largest = HTTPRequest.longestHead + HTTPRequest.longestBody + 1024

  static func main() {
    fuzz { octets in
      var input = FuzzInput(octets)
      let size = Int(input.octet()) + 1
      let text = input.expanded(to: largest)
      let request = parsed(text, size: text.count)
      check(request, length: text.count)
      invariant(isSame(parsed(text, size: size), request), "in pieces of \(size) it is another")
      guard request.state == .whole else { return }
      let again = parsed(written(request), size: size)
      invariant(isSame(again, request), "written again it is another")
    }
  }

  private static func parsed(_ text: [UInt8], size: Int) -> HTTPRequest {
    var request = HTTPRequest()
    for start in stride(from: 0, to: text.count, by: max(1, size)) {
      request.append(text[start..<min(start + size, text.count)])
    }
    return request
  }

  private static func check(_ request: HTTPRequest, length: Int) {
    let texts = [request.method, request.path] + HTTPRequest.Field.allCases.compactMap { request[$0] }
    invariant(
      texts.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F || $0 == 0x09 } }, "control characters: \(texts)")
    let kept = texts.reduce(request.body.count) { $0 + $1.utf8.count }
    invariant(kept <= length, "more was kept than came")
    switch request.state {
    case .waiting:
      invariant(length < HTTPRequest.longestHead + 4 + HTTPRequest.longestBody, "waiting after \(length) octets")
    case .whole:
      invariant(request.body.count == Int(request[.contentLength] ?? "0"), "a body of another length")
      invariant(request.body.count <= HTTPRequest.longestBody, "a body of \(request.body.count) octets")
    case .refused(let status, let words):
      invariant([400, 413, 431, 501].contains(status) && !words.isEmpty, "refused with \(status)")
    }
  }

  private static func isSame(_ one: HTTPRequest, _ other: HTTPRequest) -> Bool {
    one.state == other.state && one.method == other.method && one.path == other.path && one.body == other.body
      && HTTPRequest.Field.allCases.allSatisfy { one[$0] == other[$0] }
  }

  /// The octets of a request with these parts.
  private static func written(_ request: HTTPRequest) -> [UInt8] {
    var head = "\(request.method) \(request.path) HTTP/1.1\r\n"
    for field in HTTPRequest.Field.allCases {
      if let value = request[field] { head += "\(field.rawValue): \(value)\r\n" }
    }
    return Array("\(head)\r\n".utf8) + request.body
  }
}
