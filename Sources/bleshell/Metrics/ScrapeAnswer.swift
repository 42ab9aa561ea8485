/// The answer to a program that scrapes the metrics, as octets of HTTP/1.1.
enum ScrapeAnswer {
  /// 200 with the page.
  static func page(_ text: String) -> [UInt8] { octets(200, "OK", PrometheusText.contentType, text) }

  /// A refusal with its status and its words.
  static func refusal(_ status: Int, _ words: String) -> [UInt8] {
    octets(status, words, "text/plain; charset=utf-8", "\(words)\n")
  }

  /// 503: the daemon gave no metrics, and why.
  static func unavailable(_ reason: String) -> [UInt8] {
    octets(503, "Service Unavailable", "text/plain; charset=utf-8", "\(reason)\n")
  }

  private static func octets(_ status: Int, _ words: String, _ type: String, _ body: String) -> [UInt8] {
    let allow = status == 405 ? "Allow: GET\r\n" : ""
    let head =
      "HTTP/1.1 \(status) \(words)\r\nContent-Type: \(type)\r\nContent-Length: \(body.utf8.count)\r\n\(allow)"
      + "Connection: close\r\n\r\n"
    return Array((head + body).utf8)
  }
}
