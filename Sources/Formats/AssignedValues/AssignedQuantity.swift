import Bluetooth

/// The value of an assigned characteristic that is, or begins with, one number with a unit.
public struct AssignedQuantity: Hashable, Sendable {
  /// The number; always finite.
  public let number: Double
  /// The unit as people write it: "bpm", "%", "°C".
  public let unit: String

  /// Reads a value.
  /// - Parameters:
  ///   - uuid: The characteristic's UUID.
  ///   - value: Its value as read or notified.
  /// - Returns: nil for a UUID not known here, or a value that does not fit it or means "unknown".
  public init?(of uuid: BluetoothUUID, value: [UInt8]) {
    guard let short = uuid.short16, let (number, unit) = Self.parts(short, value), number.isFinite else { return nil }
    (self.number, self.unit) = (number, unit)
  }

  /// The unit of a characteristic whose values all have the same one; nil for any other.
  public static func unit(of uuid: BluetoothUUID) -> String? {
    switch uuid.short16 {
    case 0x2A07: "dBm"
    case 0x2A19, 0x2A6F: "%"
    case 0x2A37: "bpm"
    case 0x2A6D: "Pa"
    case 0x2A6E: "°C"
    case 0x2AFB: "lx"
    default: nil
    }
  }

  private static func parts(_ uuid: UInt16, _ value: [UInt8]) -> (Double, String)? {
    var reader = OctetReader(value)
    switch uuid {
    case 0x2A07: return reader.uint8().map { (Double(Int8(bitPattern: $0)), "dBm") }
    case 0x2A19: return reader.uint8().map { (Double($0), "%") }
    case 0x2A1C, 0x2A1E:
      guard let measurement = TemperatureMeasurement(value), let number = measurement.temperature.decimal else {
        return nil
      }
      return (number, measurement.isFahrenheit ? "°F" : "°C")
    case 0x2A35, 0x2A36:
      guard let measurement = BloodPressureMeasurement(value), let number = measurement.systolic.decimal else {
        return nil
      }
      return (number, measurement.isKilopascal ? "kPa" : "mmHg")
    case 0x2A37: return HeartRateMeasurement(value).map { (Double($0.rate), "bpm") }
    case 0x2A6D: return reader.uint32().map { (Double($0) / 10, "Pa") }
    case 0x2A6E: return reader.int16().flatMap { $0 == .min ? nil : (Double($0) / 100, "°C") }
    case 0x2A6F: return reader.uint16().flatMap { $0 == .max ? nil : (Double($0) / 100, "%") }
    case 0x2AFB: return reader.uint24().map { (Double($0) / 100, "lx") }
    default: return nil
    }
  }
}

extension MedicalFloat {
  /// As a number; nil for the special values.
  fileprivate var decimal: Double? {
    guard case .number(let mantissa, let exponent) = self else { return nil }
    // Dividing by a power of ten is exact where multiplying by its inverse is not: 365 × 0.1 is not 36.5.
    let power = (0..<abs(Int(exponent))).reduce(1.0) { power, _ in power * 10 }
    return exponent < 0 ? Double(mantissa) / power : Double(mantissa) * power
  }
}
