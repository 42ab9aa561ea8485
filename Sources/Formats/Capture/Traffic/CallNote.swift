/// The note of a program's call: "session 5 (PROGRAM, user 1000): gatt.read …", or "bled itself asks …".
///
/// A program's own words are quoted in it where they could be mistaken for others.
public struct CallNote: Sendable {
  /// The text in front of the user's number, the number, and the text behind it; nil without a user.
  private let user: (front: Substring, number: UInt32, rest: Substring)?
  private let whole: String

  /// Reads a note's text; nil if it is about no call.
  public init?(_ text: String) {
    whole = text
    guard !text.hasPrefix("bled itself asks ") else {
      user = nil
      return
    }
    guard text.hasPrefix("session ") else { return nil }
    user = Self.user(text)
  }

  /// The text with the user's name in place of "user NUMBER", if there is one.
  /// - Parameter name: Gives the name of a user; nil for none.
  public func text(_ name: (UInt32) -> String?) -> String {
    guard let user, let name = name(user.number) else { return whole }
    return "\(user.front)\(name)\(user.rest)"
  }

  private static func user(_ text: String) -> (Substring, UInt32, Substring)? {
    guard let open = text.firstIndex(of: "("), text[..<open].dropFirst(8).dropLast().allSatisfy(\.isWholeNumber) else {
      return nil
    }
    // The parenthesis ends outside of quotation marks.
    var (isQuoted, isEscaped) = (false, false)
    var close = text.index(after: open)
    while close < text.endIndex {
      let character = text[close]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if !isQuoted, character == ")" {
        break
      }
      close = text.index(after: close)
    }
    let inside = text[text.index(after: open)..<close]
    let start = inside.lastIndex(of: " ").map { inside.index(after: $0) } ?? inside.startIndex
    guard close < text.endIndex, let number = UInt32(inside[start...]) else { return nil }
    let front = text[..<start]
    guard front.hasSuffix("(user ") || front.hasSuffix(", user ") else { return nil }
    return (front.dropLast(5), number, text[close...])
  }
}
