import Bluetooth

/// The format of a document's file: a header line, then its content.
///
///     bled-store 2 peripherals 1 20 8c2f01aa
///     {"peripherals":[…]}
///
/// The words are a mark, the format version, the document's name, its content's version, the content's length in
/// octets, and its CRC-32. A truncated or altered file is rejected. Version 1 had no length; a truncated content may
/// have had the same checksum, but is not valid JSON.
enum DocumentFormat {
  /// The reason why a file is rejected.
  enum Problem: Error, Hashable, CustomStringConvertible {
    case damaged
    case foreign

    var description: String {
      switch self {
      case .damaged: "it is damaged"
      case .foreign: "another version of bled wrote it"
      }
    }
  }

  private static let mark = "bled-store"
  private static let version = 2
  /// No first line has more octets.
  private static let longestHeader = 128
  /// No member's name in the content has more octets.
  private static let longestName = 128

  /// A document's file.
  static func encode(_ content: [UInt8], name: String, version: Int) -> [UInt8] {
    Array("\(header(content, name, version))\n".utf8) + content
  }

  /// A file's content.
  static func decode(_ file: [UInt8], name: String, version: Int) throws(Problem) -> [UInt8] {
    guard let lineFeed = file.prefix(longestHeader).firstIndex(of: UInt8(ascii: "\n")) else { throw .damaged }
    let line = file[..<lineFeed]
    let content = Array(file[(lineFeed + 1)...])
    let checksum = checksum(content)
    let known = [header(content, name, version), "\(mark) 1 \(name) \(version) \(checksum)"]
    if known.contains(where: { line.elementsEqual($0.utf8) }) { return content }
    let words = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    // Only an undamaged file may be called foreign.
    guard words.count == 6, words[0] == mark, words[2] == name, words[4] == "\(content.count)", words[5] == checksum,
      let format = Int(words[1]), let contents = Int(words[3]), (format, contents) != (Self.version, version)
    else { throw .damaged }
    throw .foreign
  }

  /// True if no member of this JSON has a longer name than the daemon writes: looking up a long one can be slow.
  static func hasShortNames(_ json: [UInt8]) -> Bool {
    // The beginning of the current string, and the length of the last one.
    var start: Int?
    var length = 0
    var isEscaped = false
    for (index, octet) in json.enumerated() {
      if let first = start {
        if isEscaped {
          isEscaped = false
        } else if octet == UInt8(ascii: "\\") {
          isEscaped = true
        } else if octet == UInt8(ascii: "\"") {
          length = index - first
          start = nil
        }
      } else if octet == UInt8(ascii: "\"") {
        start = index
      } else if octet == UInt8(ascii: ":"), length > longestName {
        return false
      }
    }
    return true
  }

  private static func header(_ content: [UInt8], _ name: String, _ version: Int) -> String {
    "\(mark) \(Self.version) \(name) \(version) \(content.count) \(checksum(content))"
  }

  private static func checksum(_ content: [UInt8]) -> String {
    var crc = CRC32()
    crc.add(content)
    return Hex.encode((0..<4).reversed().map { UInt8(truncatingIfNeeded: crc.value >> (8 * UInt32($0))) })
  }
}
