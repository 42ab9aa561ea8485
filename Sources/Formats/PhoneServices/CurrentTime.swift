import Bluetooth

/// A value of Current Time (Current Time Service 1.1, 3.1; GATT Specification Supplement, Current Time): the phone's
/// local time.
public struct CurrentTime: Hashable, Sendable {
  /// The service.
  public static let service = BluetoothUUID(0x1805)
  /// The characteristic.
  public static let characteristic = BluetoothUUID(0x2A2B)

  /// 1582 to 9999.
  public var year: Int
  /// 1 to 12.
  public var month: Int
  /// 1 to 31.
  public var day: Int
  /// 0 to 23.
  public var hours: Int
  /// 0 to 59.
  public var minutes: Int
  /// 0 to 59.
  public var seconds: Int
  /// 1 (Monday) to 7; nil: not known.
  public var dayOfWeek: Int?
  /// The fraction of the second, 0 to 255.
  public var fraction256: Int
  /// The reason why the clock was set (Adjust Reason): the bits.
  public var reasons: UInt8

  /// Reads a value.
  /// - Returns: nil for fewer than 9 octets, and for a nonexistent date or time. A missing reason is 0.
  public init?(_ octets: [UInt8]) {
    var reader = OctetReader(octets)
    guard let year = reader.uint16(), let month = reader.uint8(), let day = reader.uint8(),
      let hours = reader.uint8(), let minutes = reader.uint8(), let seconds = reader.uint8(),
      let dayOfWeek = reader.uint8(), let fraction = reader.uint8(),
      (1582...9999).contains(year), (1...12).contains(month), day >= 1,
      day <= Self.days(in: Int(month), of: Int(year)), hours <= 23, minutes <= 59, seconds <= 59, dayOfWeek <= 7
    else { return nil }
    (self.year, self.month, self.day) = (Int(year), Int(month), Int(day))
    (self.hours, self.minutes, self.seconds) = (Int(hours), Int(minutes), Int(seconds))
    self.dayOfWeek = dayOfWeek == 0 ? nil : Int(dayOfWeek)
    fraction256 = Int(fraction)
    reasons = reader.uint8() ?? 0
  }

  /// As in ISO 8601, without a zone, which the value does not have: 2026-11-25T14:08:06.
  public var text: String {
    let date = [pad(year, 4), pad(month, 2), pad(day, 2)].joined(separator: "-")
    return date + "T" + [hours, minutes, seconds].map { pad($0, 2) }.joined(separator: ":")
  }

  private func pad(_ number: Int, _ digits: Int) -> String {
    let text = "\(number)"
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  private static func days(in month: Int, of year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }
}
