/// Checks a whole line against the grammar of JSON (RFC 8259) in UTF-8, in one pass and without recursion, before
/// anything in it is understood. It also refuses input that no message of the protocol has, and input that is costly
/// for a reader: names of more than 128 octets and values nested more than 32 deep.
struct JSONChecker {
  /// The longest name of a member, in octets.
  static let longestName = 128
  /// Maximum nesting depth of values.
  static let deepest = 32

  /// An error of a line.
  enum Fault: Error, Hashable {
    /// The line is not valid JSON.
    case syntax
    /// The line is not valid JSON: a comma precedes a closing bracket.
    case trailingComma
    /// The line is valid, but has a name that is too long.
    case longName(Int)
    /// The line is valid, but its nesting is too deep.
    case tooDeep

    /// The error that answers the line.
    var error: RPCError {
      switch self {
      case .syntax: RPCError(code: RPCError.parseError, message: "the line is not valid JSON")
      case .trailingComma:
        RPCError(
          code: RPCError.parseError, message: "the line is not valid JSON: there is a comma before a closing bracket")
      case .longName(let length):
        .invalid("the line has a name of \(length) octets; the limit is \(JSONChecker.longestName)")
      case .tooDeep:
        RPCError(
          code: RPCError.parseError,
          message: "the line has values nested more than \(JSONChecker.deepest) deep, which is the limit")
      }
    }
  }

  private let codes: UnsafeBufferPointer<UInt8>
  private var position = 0
  private var limit: Fault?
  /// True if an opening bracket was read last.
  private var isOpening = false

  /// Checks a line.
  static func check(_ codes: UnsafeBufferPointer<UInt8>) -> Fault? {
    var checker = JSONChecker(codes: codes)
    guard checker.value() else { return checker.isAtTrailingComma ? .trailingComma : .syntax }
    return checker.limit
  }

  private init(codes: UnsafeBufferPointer<UInt8>) { self.codes = codes }

  /// True if a closing bracket is next, behind a comma.
  private var isAtTrailingComma: Bool {
    guard position < codes.count, codes[position] == .brace || codes[position] == .bracket else { return false }
    return codes[..<position].last { !$0.isJSONSpace } == UInt8(ascii: ",")
  }

  // MARK: Values

  /// Reads a value up to the end of the line. Where it returns false, `position` is where the fault is.
  private mutating func value() -> Bool {
    // For each open bracket, true if it is an object's.
    var open: [Bool] = []
    while true {
      if open.count > Self.deepest { limit = limit ?? .tooDeep }
      let isValid =
        switch next() {
        case UInt8(ascii: "{"), UInt8(ascii: "["): bracket(&open)
        case UInt8(ascii: "\""): string() != nil
        case UInt8(ascii: "t"): word("true")
        case UInt8(ascii: "f"): word("false")
        case UInt8(ascii: "n"): word("null")
        default: number()
        }
      guard isValid else { return false }
      // After an opening bracket its first value follows.
      if isOpening {
        isOpening = false
        continue
      }
      guard closed(&open) else { return false }
      if open.isEmpty { return next() == nil }
    }
  }

  /// Reads an opening bracket, with the name of an object's first member, or both brackets if they are empty.
  private mutating func bracket(_ open: inout [Bool]) -> Bool {
    let isObject = codes[position] == UInt8(ascii: "{")
    position += 1
    if next() == (isObject ? .brace : .bracket) {
      position += 1
      return true
    }
    isOpening = true
    open.append(isObject)
    return !isObject || name()
  }

  /// Reads the characters after a value, up to the next value or the end of the outermost one.
  private mutating func closed(_ open: inout [Bool]) -> Bool {
    while let isObject = open.last {
      switch next() {
      case UInt8(ascii: ","):
        position += 1
        return !isObject || name()
      case isObject ? .brace : .bracket:
        position += 1
        open.removeLast()
      default: return false
      }
    }
    return true
  }

  /// Reads the name of a member with its colon.
  private mutating func name() -> Bool {
    guard next() == UInt8(ascii: "\""), let length = string() else { return false }
    if length > Self.longestName {
      limit = limit ?? .longName(length)
    }
    guard next() == UInt8(ascii: ":") else { return false }
    position += 1
    return true
  }

  // MARK: Octets

  /// The next octet that is not white space; it is not consumed.
  private mutating func next() -> UInt8? {
    while position < codes.count, codes[position].isJSONSpace { position += 1 }
    return position < codes.count ? codes[position] : nil
  }

  private func octet(_ offset: Int) -> UInt8? {
    position + offset < codes.count ? codes[position + offset] : nil
  }

  private mutating func word(_ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    for offset in 0..<count where octet(offset) != word.utf8Start[offset] { return false }
    position += count
    return true
  }

  private mutating func number() -> Bool {
    if octet(0) == UInt8(ascii: "-") { position += 1 }
    let start = position
    let whole = digits()
    guard whole > 0, whole == 1 || codes[start] != UInt8(ascii: "0") else { return false }
    if octet(0) == UInt8(ascii: ".") {
      position += 1
      guard digits() > 0 else { return false }
    }
    if octet(0) == UInt8(ascii: "e") || octet(0) == UInt8(ascii: "E") {
      position += 1
      if octet(0) == UInt8(ascii: "+") || octet(0) == UInt8(ascii: "-") { position += 1 }
      guard digits() > 0 else { return false }
    }
    return true
  }

  private mutating func digits() -> Int {
    let start = position
    while let code = octet(0), case UInt8(ascii: "0")...UInt8(ascii: "9") = code { position += 1 }
    return position - start
  }

  /// Reads a string with both quotation marks.
  /// - Returns: the number of octets it stands for; nil if it is not valid.
  private mutating func string() -> Int? {
    position += 1
    var length = 0
    while position < codes.count {
      switch codes[position] {
      case UInt8(ascii: "\""):
        position += 1
        return length
      case UInt8(ascii: "\\"):
        guard let octets = escape() else { return nil }
        length += octets
      case 0..<0x20: return nil
      case ..<0x80:
        position += 1
        length += 1
      default:
        guard let octets = character() else { return nil }
        position += octets
        length += octets
      }
    }
    return nil
  }

  /// Reads an escape sequence.
  /// - Returns: the number of octets it stands for. Half a surrogate pair is valid here (RFC 8259, 8.2), and counts as
  ///   two.
  private mutating func escape() -> Int? {
    switch octet(1) {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
      UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      position += 2
      return 1
    case UInt8(ascii: "u"):
      guard position + 6 <= codes.count, let unit = UInt16(hex: codes[position + 2..<position + 6]) else { return nil }
      position += 6
      return unit < 0x80 ? 1 : unit < 0x800 || 0xD800..<0xE000 ~= unit ? 2 : 3
    default: return nil
    }
  }

  /// - Returns: the number of octets of the non-ASCII character at `position`; nil if it is not well formed (Unicode
  ///   15, table 3-7).
  private func character() -> Int? {
    func follows(_ offset: Int, _ range: ClosedRange<UInt8> = 0x80...0xBF) -> Bool {
      octet(offset).map(range.contains) ?? false
    }
    switch codes[position] {
    case 0xC2...0xDF: return follows(1) ? 2 : nil
    case 0xE0: return follows(1, 0xA0...0xBF) && follows(2) ? 3 : nil
    case 0xED: return follows(1, 0x80...0x9F) && follows(2) ? 3 : nil
    case 0xE1...0xEF: return follows(1) && follows(2) ? 3 : nil
    case 0xF0: return follows(1, 0x90...0xBF) && follows(2) && follows(3) ? 4 : nil
    case 0xF1...0xF3: return follows(1) && follows(2) && follows(3) ? 4 : nil
    case 0xF4: return follows(1, 0x80...0x8F) && follows(2) && follows(3) ? 4 : nil
    default: return nil
    }
  }
}

extension UInt8 {
  /// White space between the tokens of JSON.
  var isJSONSpace: Bool {
    switch self {
    case 0x20, 0x09, 0x0A, 0x0D: true
    default: false
    }
  }

  static let brace = UInt8(ascii: "}")
  static let bracket = UInt8(ascii: "]")
}

extension UInt16 {
  /// Reads four hex digits.
  init?(hex digits: some Collection<UInt8>) {
    self = 0
    for digit in digits {
      switch digit {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): self = self << 4 | UInt16(digit - UInt8(ascii: "0"))
      case UInt8(ascii: "a")...UInt8(ascii: "f"): self = self << 4 | UInt16(digit - UInt8(ascii: "a") + 10)
      case UInt8(ascii: "A")...UInt8(ascii: "F"): self = self << 4 | UInt16(digit - UInt8(ascii: "A") + 10)
      default: return nil
      }
    }
  }
}
