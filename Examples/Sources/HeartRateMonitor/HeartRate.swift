import Foundation

/// A Heart Rate Measurement (GATT Specification Supplement, 3.116).
struct HeartRate: CustomStringConvertible {
  /// Beats per minute.
  var rate: Int
  /// Whether the belt has skin contact; nil if it does not detect that.
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
    case true: "\(rate) beats per minute"
    case false: "\(rate) beats per minute (no skin contact)"
    default: "\(rate) beats per minute (contact unknown)"
    }
  }
}
