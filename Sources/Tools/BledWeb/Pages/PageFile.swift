import CWebPage

/// The files of the page, which are part of the program.
enum PageFile: Hashable, CaseIterable, Sendable {
  case document
  case style
  case module

  init?(path: String) {
    guard let file = Self.allCases.first(where: { $0.path == path }) else { return nil }
    self = file
  }

  private var path: String {
    switch self {
    case .document: "/"
    case .style: "/page.css"
    case .module: "/page.js"
    }
  }

  /// The file with its media type. It contains no data: the page fetches them with the token.
  var answer: HTTPAnswer {
    switch self {
    case .document: HTTPAnswer(200, "OK", type: "text/html; charset=utf-8", body: .octets(octets))
    case .style: HTTPAnswer(200, "OK", type: "text/css; charset=utf-8", body: .octets(octets))
    case .module: HTTPAnswer(200, "OK", type: "text/javascript; charset=utf-8", body: .octets(octets))
    }
  }

  private var octets: [UInt8] {
    let (start, length) =
      switch self {
      case .document: (bled_page_html(), bled_page_html_length())
      case .style: (bled_page_css(), bled_page_css_length())
      case .module: (bled_page_js(), bled_page_js_length())
      }
    return Array(UnsafeRawBufferPointer(start: start, count: length))
  }
}
