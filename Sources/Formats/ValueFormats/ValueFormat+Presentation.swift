import AssignedValues

extension ValueFormat {
  /// The format that a device describes in a Characteristic Presentation Format descriptor.
  /// - Returns: nil for formats that are not a number, a text or a Boolean.
  public init?(_ presentation: PresentationFormat) {
    let bits = [8, 12, 16, 24, 32, 48, 64]
    let type: FieldType
    switch presentation.format {
    case 0x01: type = .flag
    case 0x02: type = .integer(Integer(bits: 2), isSigned: false)
    case 0x03: type = .integer(Integer(bits: 4), isSigned: false)
    case 0x04...0x0A: type = .integer(Integer(bits: bits[Int(presentation.format) - 0x04]), isSigned: false)
    case 0x0C...0x12: type = .integer(Integer(bits: bits[Int(presentation.format) - 0x0C]), isSigned: true)
    case 0x14: type = .float(octets: 4, isBigEndian: false)
    case 0x15: type = .float(octets: 8, isBigEndian: false)
    case 0x16: type = .medicalFloat(octets: 2)
    case 0x17: type = .medicalFloat(octets: 4)
    case 0x19: type = .text(octets: nil)
    default: return nil
    }
    var field = Field(type: type)
    if type.isNumber { field.unit = presentation.unitText ?? "(unit \(presentation.unit))" }
    // The exponent is for integers.
    if case .integer = type, presentation.exponent != 0 {
      guard let scale = ExactNumber(1, exponent: Int(presentation.exponent)) else { return nil }
      field.steps = [.times(scale)]
    }
    self.init(fields: [field])
  }
}
