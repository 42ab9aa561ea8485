/// The value of CSC Measurement, 0x2A5B (GATT Specification Supplement, 3.55).
public struct CyclingSpeedAndCadenceMeasurement: Hashable, Sendable {
  /// Revolutions counted so far and when the last of them was.
  public struct Revolutions: Hashable, Sendable {
    /// The number; it wraps round (32 bits for the wheel, 16 for the crank).
    public var count: UInt32
    /// The time of the last one in 1/1024 s; it wraps round after 64 s.
    public var lastEvent: UInt16
  }

  /// The wheel's, where they are sent.
  public var wheel: Revolutions?
  /// The crank's, where they are sent.
  public var crank: Revolutions?

  /// Reads the value.
  /// - Returns: nil if it is shorter than its flags say.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard let flags = reader.uint8() else { return nil }
    if flags & 0x01 != 0 {
      guard let count = reader.uint32(), let time = reader.uint16() else { return nil }
      wheel = Revolutions(count: count, lastEvent: time)
    }
    if flags & 0x02 != 0 {
      guard let count = reader.uint16(), let time = reader.uint16() else { return nil }
      crank = Revolutions(count: UInt32(count), lastEvent: time)
    }
  }
}

extension CyclingSpeedAndCadenceMeasurement: CustomStringConvertible {
  /// "wheel 1200 revolutions at 12.500 s, crank 300 revolutions at 12.250 s".
  public var description: String {
    [("wheel", wheel), ("crank", crank)].compactMap { name, revolutions in
      revolutions.map {
        "\(name) \($0.count) revolutions at \(DecimalText.text($0.lastEvent, over: 1024, places: 3)) s"
      }
    }.joined(separator: ", ")
  }
}
