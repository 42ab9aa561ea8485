import Testing

@testable import BledWeb

/// A request, received in one piece and octet by octet.
@Suite struct HTTPRequestTests {
  private static let head = "POST /api/a?b HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n"

  @Test(
    "A request is whole with its body, or refused",
    arguments: [
      ("GET / HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n", HTTPRequest.State.whole),
      ("GET / HTTP/1.0\r\n\r\n", .whole), ("GET / HTTP/1.1\r\nHost: a\r\n", .waiting), (head + "ab", .waiting),
      (head + "abc", .whole), (head + "abcd", .whole),
      ("GET / HTTP/2\r\n\r\n", .refused(400, "Bad Request")), ("GET  / HTTP/1.1\r\n\r\n", .refused(400, "Bad Request")),
      ("GET / HTTP/1.1\nHost: a\r\n\r\n", .refused(400, "Bad Request")), ("\r\n\r\n", .refused(400, "Bad Request")),
      ("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", .refused(400, "Bad Request")),
      ("GET / HTTP/1.1\r\nHost : a\r\n\r\n", .refused(400, "Bad Request")),
      ("GET / HTTP/1.1\r\n: a\r\n\r\n", .refused(400, "Bad Request")),
      ("GET / HTTP/1.1\r\nHost: a\rContent-Length: 3\r\n\r\n", .refused(400, "Bad Request")),
      ("GET / HTTP/1.1\r\nHost: a\r\r\n\r\n", .refused(400, "Bad Request")),
      ("GET / HTTP/1.1\r\nHost: \u{1}\r\n\r\n", .refused(400, "Bad Request")),
      ("POST / HTTP/1.1\r\nContent-Length: +3\r\n\r\n", .refused(400, "Bad Request")),
      ("POST / HTTP/1.1\r\nContent-Length: \r\n\r\n", .refused(400, "Bad Request")),
      ("POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n", .refused(413, "Content Too Large")),
      ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", .refused(413, "Content Too Large")),
      ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", .refused(501, "Not Implemented")),
      (String(repeating: "a", count: 9000), .refused(431, "Request Header Fields Too Large")),
    ])
  func states(text: String, state: HTTPRequest.State) {
    var whole = HTTPRequest()
    whole.append(Array(text.utf8))
    #expect(whole.state == state)
    var pieces = HTTPRequest()
    for octet in text.utf8 { pieces.append([octet]) }
    #expect(pieces.state == state)
    #expect(pieces.body == whole.body && pieces.path == whole.path && pieces.method == whole.method)
  }

  @Test("The method, the path without the query, the fields without blanks, and the body")
  func parts() {
    var request = HTTPRequest()
    request.append(Array("POST /a?b=c HTTP/1.1\r\nHOST: \t h \r\nContent-Length: 2\r\norigin:o\r\n\r\nxyz".utf8))
    #expect(request.state == .whole && request.method == "POST" && request.path == "/a")
    #expect(request[.host] == "h" && request[.origin] == "o" && request[.authorization] == nil)
    #expect(request.body == Array("xy".utf8))
  }
}
