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
