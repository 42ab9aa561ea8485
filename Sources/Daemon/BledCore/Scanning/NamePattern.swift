import Bluetooth

/// A name to search for, or its beginning.
///
/// Names are compared octet by octet, never by canonical equivalence: Swift's time for it is quadratic in the length.
/// Ignoring case, they are compared by each Unicode scalar's lower case, so "ß" and "SS" stay different.
struct NamePattern {
  private let octets: [UInt8]
  private let isWhole: Bool
  private let ignoresCase: Bool

  init(_ text: String, isWhole: Bool = false, ignoresCase: Bool = false) {
    self.isWhole = isWhole
    self.ignoresCase = ignoresCase
    octets =
      ignoresCase
      ? text.unicodeScalars.flatMap { Array($0.properties.lowercaseMapping.utf8) } : Array(text.utf8)
  }

  /// True if it is the name, or a prefix of it. Comparing allocates nothing, as every report is compared: a scalar's
  /// lower case is short enough to be stored in place.
  func matches(_ name: String) -> Bool {
    guard ignoresCase else { return isWhole ? name.utf8.elementsEqual(octets) : name.utf8.starts(with: octets) }
    var index = 0
    for scalar in name.unicodeScalars {
      if index == octets.count { return !isWhole }
      if scalar.isASCII {
        guard accept(UInt8(truncatingIfNeeded: scalar.value).lowercasedASCII, at: &index) else { return false }
      } else {
        for octet in scalar.properties.lowercaseMapping.utf8 {
          // The pattern may end within a scalar's lower case, which can be two scalars.
          if index == octets.count { return !isWhole }
          guard accept(octet, at: &index) else { return false }
        }
      }
    }
    return index == octets.count
  }

  private func accept(_ octet: UInt8, at index: inout Int) -> Bool {
    guard octets[index] == octet else { return false }
    index += 1
    return true
  }
}

extension UInt8 {
  fileprivate var lowercasedASCII: UInt8 { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self }
}
