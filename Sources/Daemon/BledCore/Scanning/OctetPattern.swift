import BledRPC
import Bluetooth

/// Octets to find, with a mask of the significant bits.
struct OctetPattern {
  /// Maximum octets.
  static let longest = 64

  /// Insignificant bits are 0.
  private let octets: [UInt8]
  /// As long as `octets`; nil: all bits count.
  private let mask: [UInt8]?

  /// - Parameter place: its container, for errors: "filters[0].manufacturer".
  init(_ data: HexBytes?, mask: HexBytes?, at place: String) throws {
    let octets = data?.octets ?? []
    guard octets.count <= Self.longest else {
      throw BledError.invalidParameter.error(
        "\"\(place).data\" has \(octets.count) octets; give at most the first \(Self.longest)")
    }
    guard let mask = mask?.octets else {
      self.octets = octets
      self.mask = nil
      return
    }
    guard mask.count == octets.count else {
      throw BledError.invalidParameter.error(
        """
        "\(place).mask" has \(mask.count) octets and "\(place).data" \(octets.count): give both the same length, and \
        zeros in the mask where anything will do
        """)
    }
    self.octets = zip(octets, mask).map { $0 & $1 }
    self.mask = mask
  }

  var count: Int { octets.count }

  /// True if data has these octets at an offset. Every report is compared: nothing is allocated.
  func matches(_ data: [UInt8], at offset: Int) -> Bool {
    guard offset <= data.count, data.count - offset >= octets.count else { return false }
    guard let mask else {
      for index in octets.indices where data[offset + index] != octets[index] { return false }
      return true
    }
    for index in octets.indices where data[offset + index] & mask[index] != octets[index] { return false }
    return true
  }
}
