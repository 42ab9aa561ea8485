/// The value of Temperature Measurement, 0x2A1C, and Intermediate Temperature, 0x2A1E
/// (GATT Specification Supplement, 3.214).
public struct TemperatureMeasurement: Hashable, Sendable {
  /// The temperature in the unit that `isFahrenheit` says.
  public var temperature: MedicalFloat
  /// True for degrees Fahrenheit, false for Celsius.
  public var isFahrenheit: Bool
  /// When it was measured, where that is sent.
  public var time: DateTime?
  /// Where on the body it was measured, where that is sent: a value of Temperature Type, 0x2A1D.
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
