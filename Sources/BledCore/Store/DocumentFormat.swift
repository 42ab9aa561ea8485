import Bluetooth

/// The format of a document's file: a line that describes it, then its content.
///
///     bled-store 1 peripherals 1 8c2f01aa
///     {"peripherals":[…]}
///
/// The words are a mark, the version of this format, the document's name, the version of its content, and the CRC-32 of
/// the content. A file that was truncated or altered is rejected.
enum DocumentFormat {
  /// Why a file is rejected.
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
  private static let version = 1

  /// The file of a document.
  static func encode(_ content: [UInt8], name: String, version: Int) -> [UInt8] {
    Array("\(header(content, name, version))\n".utf8) + content
  }

  /// The content of a file.
  static func decode(_ file: [UInt8], name: String, version: Int) throws(Problem) -> [UInt8] {
    guard let lineFeed = file.firstIndex(of: UInt8(ascii: "\n")) else { throw .damaged }
    let line = String(decoding: file[..<lineFeed], as: UTF8.self)
    let content = Array(file[(lineFeed + 1)...])
    if line == header(content, name, version) { return content }
    let words = line.split(separator: " ", omittingEmptySubsequences: false)
    // Only an undamaged file may be called foreign.
    guard words.count == 5, words[0] == mark, words[2] == name, words[4] == checksum(content),
      let format = Int(words[1]), let contents = Int(words[3]), (format, contents) != (Self.version, version)
    else { throw .damaged }
    throw .foreign
  }

  private static func header(_ content: [UInt8], _ name: String, _ version: Int) -> String {
    "\(mark) \(Self.version) \(name) \(version) \(checksum(content))"
  }

  private static func checksum(_ content: [UInt8]) -> String {
    var crc = CRC32()
    crc.add(content)
    return Hex.encode((0..<4).reversed().map { UInt8(truncatingIfNeeded: crc.value >> (8 * UInt32($0))) })
  }
}

/// The checksum of Ethernet and zip (ISO/IEC/IEEE 8802-3, 3.2.9).
private struct CRC32 {
  private var register = UInt32.max

  var value: UInt32 { ~register }

  mutating func add(_ octets: [UInt8]) {
    for octet in octets { register = register >> 8 ^ Self.table[Int(UInt8(truncatingIfNeeded: register) ^ octet)] }
  }

  private static let table: [UInt32] = (0..<256).map { index in
    (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0xEDB8_8320 }
  }
}
