import FoundationEssentials
import Glibc

/// An object for other programs, with members for its kind and its time: `kind`, `time` in seconds since the epoch, and
/// `date`, the time in ISO 8601.
struct DataObject<Value: Encodable>: Encodable {
  let kind: String
  let value: Value
  /// Nil where the value has no time.
  let time: Double?

  private enum Member: String, CodingKey { case kind, time, date }

  func encode(to encoder: any Encoder) throws {
    try value.encode(to: encoder)
    var container = encoder.container(keyedBy: Member.self)
    try container.encode(kind, forKey: .kind)
    guard let time else { return }
    try container.encode(time, forKey: .time)
    try container.encode(dateText(time), forKey: .date)
  }
}

extension Output {
  /// Prints a value as one line of JSON with its kind and time.
  func object(_ kind: String, _ value: some Encodable, at time: Double? = nil) throws {
    try object(DataObject(kind: kind, value: value, time: time))
  }
}

/// "2026-11-24T23:22:06.123Z" (ISO 8601), from seconds since the epoch.
func dateText(_ time: Double) -> String {
  // From 1970 to 9999: the time may come from the daemon, and be any number.
  let milliseconds = time.isNaN ? 0 : Int(min(max(time, 0), 253_402_300_799) * 1000)
  var (whole, parts) = (time_t(milliseconds / 1000), tm())
  gmtime_r(&whole, &parts)
  func digits(_ number: Int, _ count: Int = 2) -> String {
    String(repeating: "0", count: max(0, count - "\(number)".count)) + "\(number)"
  }
  let day = "\(digits(Int(parts.tm_year) + 1900, 4))-\(digits(Int(parts.tm_mon) + 1))-\(digits(Int(parts.tm_mday)))"
  let clock = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0)) }.joined(separator: ":")
  return "\(day)T\(clock).\(digits(milliseconds % 1000, 3))Z"
}

/// A number as data: without a fraction that is zero.
func numberText(_ number: Double) -> String {
  number.rounded() == number && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
}
