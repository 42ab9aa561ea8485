import Bluetooth

/// The value of Blood Pressure Measurement, 0x2A35, and Intermediate Cuff Pressure, 0x2A36
/// (GATT Specification Supplement, 3.32).
public struct BloodPressureMeasurement: Hashable, Sendable {
  /// The upper pressure in the unit given by `isKilopascal`; the cuff's pressure in 0x2A36.
  public var systolic: MedicalFloat
  /// The lower pressure.
  public var diastolic: MedicalFloat
  /// The mean arterial pressure.
  public var mean: MedicalFloat
  /// True for kilopascals, false for millimetres of mercury.
  public var isKilopascal: Bool
  /// The time of measurement, if sent.
  public var time: DateTime?
  /// Beats per minute, if sent.
  public var pulseRate: MedicalFloat?

  /// Reads the value.
  /// - Returns: nil if it is shorter than its flags say.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard let flags = reader.uint8(), let systolic = reader.uint16(), let diastolic = reader.uint16(),
      let mean = reader.uint16()
    else { return nil }
    self.systolic = MedicalFloat(sfloat: systolic)
    self.diastolic = MedicalFloat(sfloat: diastolic)
    self.mean = MedicalFloat(sfloat: mean)
    isKilopascal = flags & 0x01 != 0
    if flags & 0x02 != 0 {
      guard let time = DateTime(&reader) else { return nil }
      self.time = time
    }
    if flags & 0x04 != 0 {
      guard let bits = reader.uint16() else { return nil }
      pulseRate = MedicalFloat(sfloat: bits)
    }
  }
}

extension BloodPressureMeasurement: CustomStringConvertible {
  /// "120/80 mmHg, mean 93, 72 bpm, 2026-11-21 08:30:00".
  public var description: String {
    var parts = ["\(systolic)/\(diastolic) \(isKilopascal ? "kPa" : "mmHg")", "mean \(mean)"]
    if let pulseRate { parts.append("\(pulseRate) bpm") }
    if let time { parts.append("\(time)") }
    return parts.joined(separator: ", ")
  }
}

/// The value of Temperature Measurement, 0x2A1C, and Intermediate Temperature, 0x2A1E
/// (GATT Specification Supplement, 3.214).
public struct TemperatureMeasurement: Hashable, Sendable {
  /// The temperature in the unit given by `isFahrenheit`.
  public var temperature: MedicalFloat
  /// True for degrees Fahrenheit, false for Celsius.
  public var isFahrenheit: Bool
  /// The time of measurement, if sent.
  public var time: DateTime?
  /// The place of measurement on the body, if sent: a Temperature Type, 0x2A1D.
  public var type: UInt8?

  /// Reads the value.
  /// - Returns: nil if it is shorter than its flags say.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard let flags = reader.uint8(), let bits = reader.uint32() else { return nil }
    temperature = MedicalFloat(float: bits)
    isFahrenheit = flags & 0x01 != 0
    if flags & 0x02 != 0 {
      guard let time = DateTime(&reader) else { return nil }
      self.time = time
    }
    if flags & 0x04 != 0 {
      guard let type = reader.uint8() else { return nil }
      self.type = type
    }
  }
}

extension TemperatureMeasurement: CustomStringConvertible {
  /// "36.5 °C, armpit, 2026-11-21 08:30:00".
  public var description: String {
    var parts = ["\(temperature) \(isFahrenheit ? "°F" : "°C")"]
    if let type { parts.append(AssignedValue.temperatureType(type)) }
    if let time { parts.append("\(time)") }
    return parts.joined(separator: ", ")
  }
}

/// The value of Date Time, 0x2A08, which other values carry too (GATT Specification Supplement, 3.71).
public struct DateTime: Hashable, Sendable {
  /// 1582 to 9999; 0 if not known.
  public var year: UInt16
  /// 1 to 12; 0 if not known.
  public var month: UInt8
  /// 1 to 31; 0 if not known.
  public var day: UInt8
  /// 0 to 23.
  public var hours: UInt8
  /// 0 to 59.
  public var minutes: UInt8
  /// 0 to 59.
  public var seconds: UInt8

  /// Reads the value.
  /// - Returns: nil if it is shorter than 7 octets.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    self.init(&reader)
  }

  init?(_ reader: inout OctetReader) {
    guard let year = reader.uint16(), let month = reader.uint8(), let day = reader.uint8(),
      let hours = reader.uint8(), let minutes = reader.uint8(), let seconds = reader.uint8()
    else { return nil }
    (self.year, self.month, self.day) = (year, month, day)
    (self.hours, self.minutes, self.seconds) = (hours, minutes, seconds)
  }
}

extension DateTime: CustomStringConvertible {
  /// "2026-11-21 08:30:00".
  public var description: String {
    func pad(_ number: some BinaryInteger, _ width: Int = 2) -> String {
      let digits = "\(number)"
      return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
    }
    return "\(pad(year, 4))-\(pad(month))-\(pad(day)) \(pad(hours)):\(pad(minutes)):\(pad(seconds))"
  }
}
