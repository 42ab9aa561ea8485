private import Glibc

/// Ten to the power of a number.
enum PowerOfTen {
  static func value(_ exponent: Double) -> Double { pow(10, exponent) }
}
