import Bluetooth

/// The times of packets on the air (Core 5.4, Vol 6, Part B, 2.1 and 2.2).
enum AirTime {
  /// The octets around data, in microseconds for each PHY: preamble, access address, header, check.
  private static let overhead = [0, 80, 44, 720]
  private static let octet = [0, 8, 4, 64]

  /// The time of a packet with so many octets of data.
  static func microseconds(_ octets: Int, on phy: PHY) -> Int {
    overhead[Int(phy.rawValue)] + octet[Int(phy.rawValue)] * octets
  }
}
