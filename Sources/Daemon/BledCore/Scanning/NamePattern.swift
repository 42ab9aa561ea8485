import Bluetooth

/// A name to look for, or its beginning.
///
/// Names are compared octet by octet, never by canonical equivalence: that takes Swift a time that grows with the
/// square of the name's length. Without regard to case they are compared by the lower case of each Unicode scalar, so
/// "ß" and "SS" stay different.
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

  /// Whether it is the name, or the name begins so. Nothing is allocated, as every report is held against it: the lower
  /// case of a scalar is short enough to be kept in place.
  func matches(_ name: String) -> Bool {
    guard ignoresCase else { return isWhole ? name.utf8.elementsEqual(octets) : name.utf8.starts(with: octets) }
    var index = 0
    for scalar in name.unicodeScalars {
      if index == octets.count { return !isWhole }
      if scalar.isASCII {
        guard accept(UInt8(truncatingIfNeeded: scalar.value).lowercasedASCII, at: &index) else { return false }
      } else {
        for octet in scalar.properties.lowercaseMapping.utf8 {
          // The pattern may end within the lower case of a scalar, which can be two.
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
