import Bluetooth
import CWebPage

/// A file of the page; all of them are part of the program.
struct PageFile: Hashable, Sendable {
  private static let document = "page.html"
  private static let types = [
    "html": "text/html; charset=utf-8", "css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8",
  ]

  private let number: Int

  /// - Parameter path: that of a request.
  init?(path: String) {
    guard path.utf8.first == UInt8(ascii: "/") else { return nil }
    let name = path.utf8.count == 1 ? Self.document : String(path.dropFirst())
    // The document has one address.
    guard path.utf8.count == 1 || !name.hasSameOctets(as: Self.document) else { return nil }
    let found = (0..<bled_page_file_count()).first { Self.name($0)?.hasSameOctets(as: name) == true }
    guard let found else { return nil }
    number = found
  }

  private static func name(_ number: Int) -> String? {
    bled_page_file(number).map { String(cString: $0.pointee.name) }
  }

  /// The file with its media type. It contains no data: the page fetches them with the token.
  var answer: HTTPAnswer {
    let kind = Self.name(number)?.split(separator: ".").last.map(String.init) ?? ""
    return HTTPAnswer(200, "OK", type: Self.types[kind] ?? "application/octet-stream", body: .octets(octets))
  }

  private var octets: [UInt8] {
    guard let file = bled_page_file(number)?.pointee else { return [] }
    return Array(UnsafeRawBufferPointer(start: file.start, count: file.end - file.start))
  }
}
