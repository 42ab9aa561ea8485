/// Tables of numbers and their names, kept as text and read when first asked for.
enum AssignedNames {
  /// Reads lines of a hexadecimal number, a space and a name.
  static func table(_ text: StaticString) -> [UInt32: String] {
    var table: [UInt32: String] = [:]
    for line in text.description.utf8.split(separator: UInt8(ascii: "\n")) {
      guard let space = line.firstIndex(of: UInt8(ascii: " ")),
        let number = String(line[..<space]).flatMap({ UInt32($0, radix: 16) }),
        let name = String(line[line.index(after: space)...])
      else { continue }
      table[number] = name
    }
    return table
  }
}
