import Foundation

/// A Heart Rate Measurement (GATT Specification Supplement, 3.116).
struct HeartRate: CustomStringConvertible {
  /// Beats a minute.
  var rate: Int
  /// Whether the belt touches the skin; nil if it cannot tell.
  var hasContact: Bool?

  /// Reads the characteristic's value; nil if it is too short.
  init?(_ value: Data) {
    let octets = Array(value)
    guard let flags = octets.first, octets.count >= (flags & 1 == 0 ? 2 : 3) else { return nil }
    rate = flags & 1 == 0 ? Int(octets[1]) : Int(octets[1]) | Int(octets[2]) << 8
    hasContact = flags & 4 == 0 ? nil : flags & 2 != 0
  }

  var description: String {
    switch hasContact {
    case true: "\(rate) beats a minute"
    case false: "\(rate) beats a minute (no skin contact)"
    default: "\(rate) beats a minute (contact unknown)"
    }
  }
}
