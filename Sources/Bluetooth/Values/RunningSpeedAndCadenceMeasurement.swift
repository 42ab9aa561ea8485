/// The value of RSC Measurement, 0x2A53 (GATT Specification Supplement, 3.193).
public struct RunningSpeedAndCadenceMeasurement: Hashable, Sendable {
  /// In 1/256 metres a second.
  public var speed: UInt16
  /// Steps a minute.
  public var cadence: UInt8
  /// In centimetres, where it is sent.
  public var strideLength: UInt16?
  /// In decimetres, where it is sent.
  public var totalDistance: UInt32?
  /// True for running, false for walking.
  public var isRunning: Bool

  /// Reads the value.
  /// - Returns: nil if it is shorter than its flags say.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard let flags = reader.uint8(), let speed = reader.uint16(), let cadence = reader.uint8() else { return nil }
    self.speed = speed
    self.cadence = cadence
    isRunning = flags & 0x04 != 0
    if flags & 0x01 != 0 {
      guard let length = reader.uint16() else { return nil }
      strideLength = length
    }
    if flags & 0x02 != 0 {
      guard let distance = reader.uint32() else { return nil }
      totalDistance = distance
    }
  }
}

extension RunningSpeedAndCadenceMeasurement: CustomStringConvertible {
  /// "running, 2.50 m/s, 160 steps/min, stride 0.95 m, distance 1200.5 m".
  public var description: String {
    var parts = [isRunning ? "running" : "walking"]
    parts.append("\(DecimalText.text(speed, over: 256, places: 2)) m/s")
    parts.append("\(cadence) steps/min")
    if let strideLength { parts.append("stride \(DecimalText.text(strideLength, exponent: -2)) m") }
    if let totalDistance { parts.append("distance \(DecimalText.text(totalDistance, exponent: -1)) m") }
    return parts.joined(separator: ", ")
  }
}
