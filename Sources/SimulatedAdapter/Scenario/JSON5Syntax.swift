/// Finds the place where a text ceases to be JSON5: on Linux the decoder says only that it does.
struct JSON5Syntax {
  /// A place in a text, counted from 1, and what would have to stand there.
  struct Fault: Error {
    let line: Int
    let column: Int
    let message: String
  }

  private let text: [UInt8]
  private var index = 0

  /// Deeper than this nobody writes; it keeps the recursion bounded.
  private static let deepest = 200

  /// The first fault of a text; nil if there is none.
  static func fault(in text: some Sequence<UInt8>) -> Fault? {
    var syntax = JSON5Syntax(text: Array(text))
    do throws(Fault) {
      try syntax.value(depth: 0)
      try syntax.blank()
      return syntax.index < syntax.text.count
        ? syntax.fault("nothing may follow here: look for a bracket too many.") : nil
    } catch {
      return error
    }
  }

  private init(text: [UInt8]) { self.text = text }

  private var next: UInt8? { index < text.count ? text[index] : nil }

  private func fault(_ message: String) -> Fault {
    let before = text.prefix(index)
    let line = before.count { $0 == UInt8(ascii: "\n") } + 1
    let column = index - (before.lastIndex(of: UInt8(ascii: "\n")) ?? -1)
    return Fault(line: line, column: column, message: message)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard next == UInt8(ascii: character) else { return false }
    index += 1
    return true
  }

  /// Passes over white space and comments.
  private mutating func blank() throws(Fault) {
    while let octet = next {
      if octet <= 0x20 {
        index += 1
      } else if octet == UInt8(ascii: "/") {
        try comment()
      } else {
        return
      }
    }
  }

  private mutating func comment() throws(Fault) {
    let rest = text[(index + 1)...]
    switch rest.first {
    case UInt8(ascii: "/"): index = rest.firstIndex(of: UInt8(ascii: "\n")) ?? text.count
    case UInt8(ascii: "*"):
      let start = index
      index += 2
      while index + 1 < text.count, !(text[index] == UInt8(ascii: "*") && text[index + 1] == UInt8(ascii: "/")) {
        index += 1
      }
      guard index + 1 < text.count else {
        index = start
        throw fault("this comment has no end: close it with */.")
      }
      index += 2
    default: throw fault("there is a / too many: a comment begins with // or /*.")
    }
  }

  private mutating func value(depth: Int) throws(Fault) {
    try blank()
    guard depth < Self.deepest else { throw fault("this is nested too deeply.") }
    switch next {
    case UInt8(ascii: "{"): try list(to: "}", depth) { syntax throws(Fault) in try syntax.name() }
    case UInt8(ascii: "["): try list(to: "]", depth) { _ throws(Fault) in }
    case UInt8(ascii: "\""), UInt8(ascii: "'"): try string()
    default: try word("a value is missing here.")
    }
  }

  /// An object or a list: elements with commas between them, and perhaps one behind the last.
  private mutating func list(
    to end: Unicode.Scalar, _ depth: Int, prefix: (inout JSON5Syntax) throws(Fault) -> Void
  ) throws(Fault) {
    let start = index
    index += 1
    try blank()
    while !take(end) {
      try prefix(&self)
      try value(depth: depth + 1)
      try blank()
      if next == nil {
        index = start
        throw fault("this bracket is never closed: add \(end).")
      }
      guard take(",") || next == UInt8(ascii: end) else { throw fault("a comma or \(end) is missing here.") }
      try blank()
    }
  }

  /// The name of a member and the colon behind it.
  private mutating func name() throws(Fault) {
    if next == UInt8(ascii: "\"") || next == UInt8(ascii: "'") {
      try string()
    } else {
      try word("a name is missing here.")
    }
    try blank()
    guard take(":") else { throw fault("a colon is missing here.") }
  }

  private mutating func string() throws(Fault) {
    let start = index
    let quote = text[index]
    index += 1
    while let octet = next, octet != UInt8(ascii: "\n") {
      index += octet == UInt8(ascii: "\\") ? 2 : 1
      if octet == quote { return }
    }
    index = start
    throw fault("this text has no end: add a quote.")
  }

  /// A number, a name without quotes, true, false or null.
  private mutating func word(_ missing: String) throws(Fault) {
    let start = index
    while let octet = next, octet > 0x20, !"{}[]:,\"'/".utf8.contains(octet) { index += 1 }
    if index == start { throw fault(missing) }
  }
}
