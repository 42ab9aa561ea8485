import Bluetooth

/// The compressed URLs of Eddystone (Eddystone-URL, URL Scheme Prefix and HTTP URL encoding): one octet for the
/// beginning, then printable ASCII, in which some octets stand for frequent ends of host names.
enum EddystoneURL {
  /// Maximum octets after the one for the beginning.
  private static let limit = 17
  private static let beginnings = ["http://www.", "https://www.", "http://", "https://"]
  private static let ends = ["com", "org", "edu", "net", "info", "biz", "gov"]

  /// An octet's expansion; nil for reserved ones.
  private static func expansion(_ octet: UInt8) -> String? {
    switch octet {
    case 0..<7: ".\(ends[Int(octet)])/"
    case 7..<14: ".\(ends[Int(octet) - 7])"
    case 0x21...0x7E: String(Unicode.Scalar(octet))
    default: nil
    }
  }

  /// Reads a frame's octets.
  /// - Returns: nil for more octets than fit, and for reserved ones.
  static func text(_ octets: ArraySlice<UInt8>) -> String? {
    guard let first = octets.first, first < beginnings.count, (1...limit).contains(octets.count - 1) else { return nil }
    var text = beginnings[Int(first)]
    for octet in octets.dropFirst() {
      guard let expansion = expansion(octet) else { return nil }
      text += expansion
    }
    return text
  }

  /// Writes a frame's octets.
  /// - Throws: `BledError.invalidParameter` for other text than a web URL, and for one that is too long.
  static func octets(_ url: String) throws(BluetoothError) -> [UInt8] {
    let codes = Array(url.utf8)
    // "http://www." is also a "http://": the longer ones precede, and something must be left.
    let first = beginnings.firstIndex { codes.starts(with: $0.utf8) && codes.count > $0.utf8.count }
    guard let first else {
      throw BledError.invalidParameter.error(
        "a beacon's URL must begin with http:// or https://, and a host must follow")
    }
    var octets = [UInt8(truncatingIfNeeded: first)]
    var rest = codes.dropFirst(beginnings[first].utf8.count)
    while let code = rest.first {
      // The expansions with a slash precede.
      if let short = (0..<14).first(where: { expansion($0).map { rest.starts(with: $0.utf8) } ?? false }) {
        octets.append(short)
        rest = rest.dropFirst(expansion(short)?.utf8.count ?? 1)
      } else {
        guard (0x21...0x7E).contains(code) else {
          throw BledError.invalidParameter.error(
            "a beacon's URL may have printable ASCII characters only: write others as %XX, and hosts as xn--…")
        }
        octets.append(code)
        rest = rest.dropFirst()
      }
    }
    guard (1...limit).contains(octets.count - 1) else {
      throw BledError.invalidParameter.error(
        "the URL takes \(octets.count - 1) octets after its beginning, and a beacon has room for 1 to \(limit): shorten it"
      )
    }
    return octets
  }
}
