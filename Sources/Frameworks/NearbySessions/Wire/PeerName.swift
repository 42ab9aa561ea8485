/// The names of peers and their files.
public enum PeerName {
  /// A peer's longest name, in octets of UTF-8.
  public static let longest = 63

  /// Returns true for a valid peer name: 1 to 63 octets of UTF-8 without control characters.
  public static func isValid(_ name: String) -> Bool {
    1...longest ~= name.utf8.count && !name.unicodeScalars.contains(where: isUnsafe)
  }

  /// A valid peer name derived from any text; "unnamed" if nothing of it is left.
  public static func valid(_ text: String) -> String {
    let name = cleaned(text).cut(to: longest)
    return name.isEmpty ? "unnamed" : name
  }

  /// The name for storing a received file: the last component without control characters and characters that change the
  /// text direction, without dots and spaces in front, and with at most 200 octets, so that a number and an ending have
  /// room within a file system's 255. The ending survives the cut.
  /// - Returns: "unnamed" if nothing of it is left.
  public static func file(_ name: String) -> String {
    let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
    let visible = String(cleaned(last).drop { $0 == "." || $0 == " " })
    guard visible.utf8.count > 200 else { return visible.isEmpty ? "unnamed" : visible }
    let (stem, ending) = parts(visible)
    guard ending.utf8.count <= 32 else { return visible.cut(to: 200) }
    return stem.cut(to: 200 - ending.utf8.count) + ending
  }

  /// The alternative names for a file when one is taken: "photo (2).jpg".
  /// - Parameter number: 2 or more.
  public static func file(_ name: String, number: Int) -> String {
    let (stem, ending) = parts(name)
    return "\(stem) (\(number))\(ending)"
  }

  private static func parts(_ name: String) -> (stem: String, ending: String) {
    guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return (name, "") }
    return (String(name[..<dot]), String(name[dot...]))
  }

  private static func cleaned(_ text: String) -> String {
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars where !isUnsafe(scalar) { scalars.append(scalar) }
    return String(scalars)
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
