import JSONFiles

/// The address of a broker, or of one node of a cluster.
package struct BrokerAddress: Hashable, Sendable, CustomStringConvertible {
  /// A name, or a numeric address.
  package let host: String
  package let port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST`, `HOST:PORT` or `[ADDRESS]:PORT`; a host with several colons is an IPv6 address without a port.
  init(_ value: FileValue, port: UInt16) throws(FileError) {
    let text = try value.text(atMost: 255)
    let (host, rest) = Self.parts(of: text)
    let given = rest.isEmpty ? port : rest.utf8.first == UInt8(ascii: ":") ? UInt16(rest.dropFirst()) : nil
    guard !host.isEmpty, let given, given > 0,
      host.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && !"/[]".utf8.contains($0) })
    else {
      throw value.failure(
        "give the name or the address of the broker alone, such as \"broker.example\", or with a port, "
          + "\"broker.example:1884\"")
    }
    self.host = String(host)
    self.port = given
  }

  /// The host, and the rest: a colon and a port, or nothing.
  private static func parts(of text: String) -> (host: Substring, rest: Substring) {
    if text.utf8.first == UInt8(ascii: "["), let end = text.firstIndex(of: "]") {
      return (text[..<end].dropFirst(), text[end...].dropFirst())
    }
    guard text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1, let end = text.firstIndex(of: ":") else {
      return (text[...], "")
    }
    return (text[..<end], text[end...])
  }

  package var description: String {
    host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
  }

  /// True if the broker is on this machine, by its name.
  var isHere: Bool {
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    return host == "localhost" || host == "::1"
      || host.utf8.starts(with: "127.".utf8) && host.utf8.allSatisfy { digits.contains($0) || $0 == UInt8(ascii: ".") }
  }
}
