/// Texts in structures of the kernel.
package enum KernelText {
  /// Whole characters of a text without control characters, in so many octets with a zero at the end.
  package static func octets(_ text: String, _ size: Int) -> [UInt8] {
    var octets: [UInt8] = []
    for scalar in text.unicodeScalars {
      let isControl = scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value)
      let next = Array(String(isControl ? "?" : scalar).utf8)
      guard octets.count + next.count < size else { break }
      octets += next
    }
    return octets + [UInt8](repeating: 0, count: size - octets.count)
  }
}
