import Bluetooth

/// The value of Heart Rate Measurement, 0x2A37 (GATT Specification Supplement, 3.116).
public struct HeartRateMeasurement: Hashable, Sendable {
  /// Beats per minute.
  public var rate: UInt16
  /// True with skin contact; nil if the sensor does not detect that.
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
