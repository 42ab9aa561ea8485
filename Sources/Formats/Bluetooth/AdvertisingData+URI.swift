/// An advertisement's URI (CSS, Part A, 1.18).
extension AdvertisingData {
  /// The URI in full; nil if it is invalid or its scheme is a code point not known here.
  public var uri: String? {
    guard let octets = first(.uri), let text = String(validating: octets, as: UTF8.self),
      let code = text.unicodeScalars.first
    else { return nil }
    guard let scheme = Self.uriSchemes.first(where: { $0.code == code })?.name else { return nil }
    return scheme + text.unicodeScalars.dropFirst().reduce(into: "") { $0.unicodeScalars.append($1) }
  }

  /// Schemes with their own code point (Assigned Numbers, 2.7); the first stands for all others.
  private static let uriSchemes: [(code: Unicode.Scalar, name: String)] = [
    ("\u{01}", ""), ("\u{16}", "http:"), ("\u{17}", "https:"),
  ]
}

extension AdvertisingData.Structure {
  /// A structure with a URI; a scheme with a code point is written as that.
  public static func uri(_ uri: String) -> Self {
    let scheme = AdvertisingData.uriSchemes.last { uri.utf8.starts(with: $0.name.utf8) }
    guard let scheme else { return Self(.uri, Array(uri.utf8)) }
    return Self(.uri, Array(String(scheme.code).utf8) + uri.utf8.dropFirst(scheme.name.utf8.count))
  }
}
