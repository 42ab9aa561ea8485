import Foundation

/// A Temperature Measurement (GATT Specification Supplement, 3.229).
struct Temperature: CustomStringConvertible {
  /// In the unit that the thermometer uses.
  var value: Double
  var isFahrenheit: Bool

  /// Reads the characteristic's value: flags, then an IEEE 11073 float; nil if it is too short or not a number.
  init?(_ data: Data) {
    let octets = Array(data)
    guard octets.count >= 5 else { return nil }
    isFahrenheit = octets[0] & 1 != 0
    let mantissa = Int32(bitPattern: UInt32(octets[1]) << 8 | UInt32(octets[2]) << 16 | UInt32(octets[3]) << 24) >> 8
    guard abs(mantissa) < 0x7F_FFFE else { return nil }
    value = Double(mantissa) * pow(10, Double(Int8(bitPattern: octets[4])))
  }

  var description: String { String(format: "%.2f %@", value, isFahrenheit ? "°F" : "°C") }
}
