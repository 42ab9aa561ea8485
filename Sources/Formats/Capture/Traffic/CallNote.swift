import Bluetooth

/// The note of a program's call: "session 5 (PROGRAM, user 1000): gatt.read …", or "bled itself asks …".
///
/// A program's own words are quoted in it where they could be mistaken for others.
public struct CallNote: Sendable {
  /// The text in front of the user's number, the number, and the text behind it; nil without a user.
  private let user: (front: Substring, number: UInt32, rest: Substring)?
  private let whole: String

  /// No note of a call is longer, in octets. Comparing the characters of a longer one may take forever.
  private static let longest = 2048

  /// Reads a note's text; nil if it is about no call.
  public init?(_ text: String) {
    guard text.utf8.count <= Self.longest else { return nil }
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

  /// The name and the address of the device that the call is for; nil if the note has none.
  public var device: (name: String, address: String)? {
    // Behind the session's words: "PERIPHERAL (NAME, ADDRESS)", with the name in quotation marks if it is not plain.
    let words = user?.rest.dropFirst() ?? whole[...]
    guard let open = Self.plain("(", in: words, from: words.startIndex), let close = words.lastIndex(of: ")"),
      open < close
    else { return nil }
    var rest = words[words.index(after: open)..<close]
    var name = ""
    if rest.first == "\"" {
      rest = rest.dropFirst()
      while let character = rest.popFirst(), character != "\"" {
        guard let next = character == "\\" ? rest.popFirst() : character else { return nil }
        name.append(next)
      }
    } else {
      name = String(rest.prefix { $0 != "," })
      rest = rest.dropFirst(name.count)
    }
    guard rest.hasPrefix(", "), !name.isEmpty, DeviceAddress(rest.dropFirst(2), kind: .public) != nil else {
      return nil
    }
    return (name, String(rest.dropFirst(2)))
  }

  /// The first place of a character outside of quotation marks.
  private static func plain(_ wanted: Character, in text: Substring, from start: Substring.Index) -> Substring.Index? {
    var (isQuoted, isEscaped) = (false, false)
    for place in text[start...].indices {
      let character = text[place]
      if isEscaped {
        isEscaped = false
      } else if isQuoted, character == "\\" {
        isEscaped = true
      } else if character == "\"" {
        isQuoted.toggle()
      } else if !isQuoted, character == wanted {
        return place
      }
    }
    return nil
  }

  private static func user(_ text: String) -> (Substring, UInt32, Substring)? {
    guard let open = text.firstIndex(of: "("), text[..<open].dropFirst(8).dropLast().allSatisfy(\.isWholeNumber) else {
      return nil
    }
    let close = plain(")", in: text[...], from: text.index(after: open)) ?? text.endIndex
    let inside = text[text.index(after: open)..<close]
    let start = inside.lastIndex(of: " ").map { inside.index(after: $0) } ?? inside.startIndex
    guard close < text.endIndex, let number = UInt32(inside[start...]) else { return nil }
    let front = text[..<start]
    guard front.hasSuffix("(user ") || front.hasSuffix(", user ") else { return nil }
    return (front.dropLast(5), number, text[close...])
  }
}
