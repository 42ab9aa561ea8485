/// A table of names in the program's constant data: lines with a key, a space and a name, sorted by their octets. The
/// table is searched in place.
struct NameTable: Sendable {
  private let text: StaticString

  init(_ text: StaticString) { self.text = text }

  /// The octets of all lines.
  var octets: UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
  }

  /// The name for a key; nil if it is not in the table.
  func name(of key: String) -> String? {
    let key = Array("\(key) ".utf8)
    let line = line(at: place(of: key))
    return line.starts(with: key) ? String(decoding: line.dropFirst(key.count), as: UTF8.self) : nil
  }

  /// The 16-bit numbers with a name, in upper or lower case, or, if none has it, with a name that begins so; the lowest
  /// first.
  /// - Parameter start: the keys' beginning, before the digits of the number.
  func numbers(named name: String, _ start: String = "") -> [UInt16] {
    let wanted = name.lowercased()
    guard !wanted.isEmpty else { return [] }
    var (whole, begun): ([UInt16], [UInt16]) = ([], [])
    forEachLine(start) { digits, name in
      guard let number = UInt16(digits, radix: 16) else { return }
      let name = name.lowercased()
      if name == wanted { whole.append(number) }
      if name.hasPrefix(wanted) { begun.append(number) }
    }
    return whole.isEmpty ? begun : whole
  }

  /// The names of all keys with this beginning.
  /// - Parameter isWanted: receives the rest of the key.
  func names(_ start: String = "", where isWanted: (String) -> Bool = { _ in true }) -> [String] {
    var names: [String] = []
    forEachLine(start) { rest, name in
      if isWanted(rest) { names.append(name) }
    }
    return names
  }

  /// - Parameter body: receives the rest of the key, and the name.
  private func forEachLine(_ start: String, _ body: (String, String) -> Void) {
    let start = Array(start.utf8)
    var line = line(at: place(of: start))
    while !line.isEmpty, line.starts(with: start) {
      let words = line.dropFirst(start.count).split(separator: UInt8(ascii: " "), maxSplits: 1)
      let found = words.map { String(decoding: $0, as: UTF8.self) }
      if found.count == 2 { body(found[0], found[1]) }
      line = self.line(at: line.endIndex + 1)
    }
  }

  /// The beginning of the first line not before `key`; the table's end if all are.
  private func place(of key: [UInt8]) -> Int {
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

  /// The line at a place, without its end; empty beyond the table.
  private func line(at place: Int) -> Slice<UnsafeBufferPointer<UInt8>> {
    let octets = octets
    return octets[min(place, octets.count)...].prefix { $0 != UInt8(ascii: "\n") }
  }
}
