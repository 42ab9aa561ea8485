/// The value of Heart Rate Measurement, 0x2A37 (GATT Specification Supplement, 3.116).
public struct HeartRateMeasurement: Hashable, Sendable {
  /// Beats per minute.
  public var rate: UInt16
  /// Whether the sensor has skin contact; nil if it does not detect that.
  public var isInContact: Bool?
  /// The energy expended since the last reset, in kilojoules, where it is sent.
  public var energyExpended: UInt16?
  /// The times between beats, oldest first, in 1/1024 s.
  public var intervals: [UInt16]

  /// Reads the value.
  /// - Returns: nil if it is shorter than its flags say.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard let flags = reader.uint8(), let rate = flags & 0x01 == 0 ? reader.uint8().map(UInt16.init) : reader.uint16()
    else { return nil }
    self.rate = rate
    isInContact = flags & 0x04 == 0 ? nil : flags & 0x02 != 0
    if flags & 0x08 != 0 {
      guard let energy = reader.uint16() else { return nil }
      energyExpended = energy
    }
    intervals = []
    while flags & 0x10 != 0, let interval = reader.uint16() { intervals.append(interval) }
  }
}

extension HeartRateMeasurement: CustomStringConvertible {
  /// "72 bpm, contact, 12 kJ, RR 0.830 0.812 s".
  public var description: String {
    var parts = ["\(rate) bpm"]
    if let isInContact { parts.append(isInContact ? "contact" : "no contact") }
    if let energyExpended { parts.append("\(energyExpended) kJ") }
    if !intervals.isEmpty {
      let texts = intervals.map { DecimalText.text($0, over: 1024, places: 3) }
      parts.append("RR \(texts.joined(separator: " ")) s")
    }
    return parts.joined(separator: ", ")
  }
}
