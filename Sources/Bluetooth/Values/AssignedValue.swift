/// Values of assigned characteristics and descriptors as people read them.
public enum AssignedValue {
  /// A value as one line for people: 0x2A37 with 00 48 is "72 bpm".
  /// - Parameters:
  ///   - uuid: the UUID of the characteristic or descriptor.
  ///   - value: its value as read or notified.
  /// - Returns: nil for a UUID not known here, or a value that does not fit it. Then `printableText`, or hex.
  public static func text(for uuid: BluetoothUUID, value: [UInt8]) -> String? {
    guard let short = uuid.short16 else { return nil }
    return measurement(short, value) ?? quantity(short, value) ?? description(short, value)
  }

  /// The value as text, if it is UTF-8 without control characters other than one NUL at its end.
  public static func printableText(_ value: [UInt8]) -> String? {
    let octets = value.last == 0 ? value.dropLast() : value[...]
    guard !octets.isEmpty, let text = String(validating: octets, as: UTF8.self) else { return nil }
    return text.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) } ? text : nil
  }

  /// Values of several fields, each with a type of its own.
  private static func measurement(_ uuid: UInt16, _ value: [UInt8]) -> String? {
    switch uuid {
    case 0x2A08: DateTime(value)?.description
    case 0x2A1C, 0x2A1E: TemperatureMeasurement(value)?.description
    case 0x2A2B: DateTime(value)?.description
    case 0x2A35, 0x2A36: BloodPressureMeasurement(value)?.description
    case 0x2A37: HeartRateMeasurement(value)?.description
    case 0x2A53: RunningSpeedAndCadenceMeasurement(value)?.description
    case 0x2A5B: CyclingSpeedAndCadenceMeasurement(value)?.description
    case 0x2904: PresentationFormat(value)?.description
    default: nil
    }
  }

  /// Values that are one number with a unit.
  private static func quantity(_ uuid: UInt16, _ value: [UInt8]) -> String? {
    var reader = OctetReader(value)
    switch uuid {
    case 0x2A07: return reader.uint8().map { "\(Int8(bitPattern: $0)) dBm" }
    case 0x2A19: return reader.uint8().map { "\($0) %" }
    case 0x2A6D: return reader.uint32().map { "\(DecimalText.text($0, exponent: -1)) Pa" }
    case 0x2A6E: return reader.int16().map { $0 == .min ? "not known" : "\(DecimalText.text($0, exponent: -2)) °C" }
    case 0x2A6F: return reader.uint16().map { $0 == .max ? "not known" : "\(DecimalText.text($0, exponent: -2)) %" }
    case 0x2A76: return reader.uint8().map { "UV index \($0)" }
    case 0x2AF9: return reader.uint16().map { "level \($0)" }
    case 0x2AFB: return reader.uint24().map { "\(DecimalText.text($0, exponent: -2)) lx" }
    default: return nil
    }
  }

  /// Values that say what a device is and can do.
  private static func description(_ uuid: UInt16, _ value: [UInt8]) -> String? {
    var reader = OctetReader(value)
    switch uuid {
    case 0x2A00, 0x2901, 0x2A24...0x2A29: return AdvertisingData.text(value)
    case 0x2A01: return reader.uint16().map { "\(Appearance(rawValue: $0))" }
    case 0x2A04: return connectionParameters(&reader)
    case 0x2A05: return handleRange(&reader)
    case 0x2A06: return reader.uint8().flatMap { name($0, of: ["no alert", "mild alert", "high alert"]) }
    case 0x2A1D: return reader.uint8().map(temperatureType)
    case 0x2A23: return systemID(value)
    case 0x2A2A, 0x2B2A: return Hex.encode(value)
    case 0x2A38: return reader.uint8().map(bodySensorLocation)
    case 0x2A50: return PnPID(value)?.description
    case 0x2A5D: return reader.uint8().map(sensorLocation)
    case 0x2900: return reader.uint16().map { flags($0, ["reliable write", "writable auxiliaries"]) }
    case 0x2902: return reader.uint16().map { flags($0, ["notifications", "indications"]) }
    case 0x2903: return reader.uint16().map { flags($0, ["broadcasts"]) }
    default: return nil
    }
  }
}
