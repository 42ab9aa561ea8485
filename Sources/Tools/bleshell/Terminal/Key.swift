/// A key of a terminal's keyboard.
enum Key: Hashable {
  case character(Character)
  /// A letter with Ctrl, in lower case.
  case control(Character)
  /// A letter with Alt, in lower case.
  case alt(Character)
  case enter, tab, escape, backspace, delete
  case up, down, left, right, home, end, pageUp, pageDown
}

/// Decodes the octets of a terminal into keys.
///
/// | State            | Input                          | Effect                                                |
/// |------------------|--------------------------------|-------------------------------------------------------|
/// | no octets wait   | a control character            | its key                                               |
/// |                  | ESC, or the first of UTF-8     | it waits                                              |
/// | ESC waits        | `[` or `O`                     | both wait                                             |
/// |                  | a letter                       | Alt and that letter                                   |
/// |                  | another octet                  | its key; ESC is dropped                               |
/// | a sequence waits | parameters                     | they wait, 16 octets at the most                      |
/// |                  | its last octet                 | its key; nothing for an unknown one                   |
/// | UTF-8 waits      | the octets that belong to it   | the character                                         |
/// |                  | another octet                  | the waiting ones are dropped, and it is a new one     |
/// | any              | `finish`: nothing follows      | Escape if ESC waits; waiting octets are dropped       |
struct KeyDecoder {
  private static let maximumWaiting = 16

  private var waiting: [UInt8] = []

  /// True if the next octet belongs to the preceding ones.
  var isWaiting: Bool { !waiting.isEmpty }

  /// Handles an octet.
  mutating func handle(_ octet: UInt8) -> Key? {
    guard let first = waiting.first else { return begin(octet) }
    guard first == 0x1B else { return character(octet) }
    if waiting.count == 1, octet != UInt8(ascii: "["), octet != UInt8(ascii: "O") {
      waiting = []
      return octet == 0x1B ? .escape : letter(octet).map { .alt($0) } ?? begin(octet)
    }
    waiting.append(octet)
    if waiting.count > 2, (0x40...0x7E).contains(octet) {
      defer { waiting = [] }
      return Self.sequence(waiting.dropFirst(2))
    }
    if waiting.count > Self.maximumWaiting { waiting = [] }
    return nil
  }

  /// No octets followed for a while.
  mutating func finish() -> Key? {
    defer { waiting = [] }
    return waiting == [0x1B] ? .escape : nil
  }

  private mutating func begin(_ octet: UInt8) -> Key? {
    switch octet {
    case 0x0A, 0x0D: return .enter
    case 0x09: return .tab
    case 0x08, 0x7F: return .backspace
    case 0x1B, 0xC2...0xF4:
      waiting = [octet]
      return nil
    case 0x01...0x1A: return .control(Character(Unicode.Scalar(octet + 0x60)))
    case 0x20..<0x7F: return .character(Character(Unicode.Scalar(octet)))
    default: return nil
    }
  }

  private mutating func character(_ octet: UInt8) -> Key? {
    guard (0x80...0xBF).contains(octet), let first = waiting.first else {
      waiting = []
      return begin(octet)
    }
    waiting.append(octet)
    let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
    guard waiting.count == length else { return nil }
    defer { waiting = [] }
    return String(validating: waiting, as: UTF8.self)?.first.map { .character($0) }
  }

  private func letter(_ octet: UInt8) -> Character? {
    (0x20..<0x7F).contains(octet) ? Character(Unicode.Scalar(octet)).lowercased().first : nil
  }

  /// The key of a control sequence, without its introducer.
  private static func sequence(_ octets: ArraySlice<UInt8>) -> Key? {
    switch octets.last {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "~"):
      switch octets.first {
      case UInt8(ascii: "1"), UInt8(ascii: "7"): .home
      case UInt8(ascii: "4"), UInt8(ascii: "8"): .end
      case UInt8(ascii: "3"): .delete
      case UInt8(ascii: "5"): .pageUp
      case UInt8(ascii: "6"): .pageDown
      default: nil
      }
    default: nil
    }
  }
}
