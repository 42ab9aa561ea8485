/// The value of Blood Pressure Measurement, 0x2A35, and Intermediate Cuff Pressure, 0x2A36
/// (GATT Specification Supplement, 3.32).
public struct BloodPressureMeasurement: Hashable, Sendable {
  /// The upper pressure in the unit that `isKilopascal` says; the cuff's pressure in 0x2A36.
  public var systolic: MedicalFloat
  /// The lower pressure.
  public var diastolic: MedicalFloat
  /// The mean arterial pressure.
  public var mean: MedicalFloat
  /// True for kilopascals, false for millimetres of mercury.
  public var isKilopascal: Bool
  /// When it was measured, where that is sent.
  public var time: DateTime?
  /// Beats a minute, where that is sent.
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
