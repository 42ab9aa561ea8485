/// The table of assigned numbers and their names: lines such as "uuid 180D Heart Rate", sorted by their octets
/// (`AssignedNames+Table.swift`). The table is part of the program's constant data and is searched in place.
package enum AssignedNames {
  /// The kinds of numbers; the raw value is a line's first word.
  package enum Kind: String, CaseIterable, Sendable {
    /// AD types (Assigned Numbers, 2.3); 2 digits.
    case advertisingDataType = "ad"
    /// Categories of appearances, and under each its subcategories (2.6.3); 4 digits.
    case appearance
    /// Companies that are met often (7.1); 4 digits.
    case company
    /// The signs of units that are met often (3.5); 4 digits. "1" is a number without a unit.
    case unit
    /// Services, characteristics, descriptors and declarations (3.4 to 3.8, 3.11) with 4 digits, and UUIDs of 128 bits
    /// that vendors have published.
    case uuid
  }

  /// The octets of the table.
  static var octets: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: table.utf8Start, count: table.utf8CodeUnitCount)
  }

  /// The name of a number.
  /// - Parameter number: hexadecimal digits in upper case, as many as the kind has.
  /// - Returns: nil if the table does not hold it.
  package static func name(of number: String, _ kind: Kind) -> String? {
    let key = Array("\(kind.rawValue) \(number) ".utf8)
    let line = line(at: place(of: key))
    return line.starts(with: key) ? String(decoding: line.dropFirst(key.count), as: UTF8.self) : nil
  }

  /// The name of a number of 16 bits.
  package static func name(of number: UInt16, _ kind: Kind) -> String? { name(of: digits(number), kind) }

  /// The numbers of 16 bits with a name, in upper or lower case, or, if none has it, with a name that begins so; the
  /// lowest first.
  static func numbers(named name: String, _ kind: Kind) -> [UInt16] {
    let wanted = name.lowercased()
    guard !wanted.isEmpty else { return [] }
    let start = Array("\(kind.rawValue) ".utf8)
    var (whole, begun): ([UInt16], [UInt16]) = ([], [])
    var line = line(at: place(of: start))
    while line.starts(with: start) {
      let words = line.dropFirst(start.count).split(separator: UInt8(ascii: " "), maxSplits: 1)
      let found = words.map { String(decoding: $0, as: UTF8.self) }
      if found.count == 2, let number = UInt16(found[0], radix: 16) {
        let name = found[1].lowercased()
        if name == wanted { whole.append(number) }
        if name.hasPrefix(wanted) { begun.append(number) }
      }
      line = self.line(at: line.endIndex + 1)
    }
    return whole.isEmpty ? begun : whole
  }

  private static func digits(_ number: UInt16) -> String {
    Hex.encode([UInt8(truncatingIfNeeded: number >> 8), UInt8(truncatingIfNeeded: number)]).uppercased()
  }

  /// Where the first line begins that is not before `key`; the end of the table if all are.
  private static func place(of key: [UInt8]) -> Int {
    let octets = octets
    var (low, high) = (0, octets.count)
    // Both are beginnings of lines, or the end.
    while low < high {
      let middle = low + (high - low) / 2
      let start = octets[low..<middle].lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? low
      let line = line(at: start)
      if line.lexicographicallyPrecedes(key) { low = min(line.endIndex + 1, high) } else { high = start }
    }
    return low
  }

  /// The line that begins at a place, without its end; empty beyond the table.
  private static func line(at place: Int) -> Slice<UnsafeBufferPointer<UInt8>> {
    let octets = octets
    return octets[min(place, octets.count)...].prefix { $0 != UInt8(ascii: "\n") }
  }
}
