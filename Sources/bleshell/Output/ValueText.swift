import BledRPC
import Bluetooth
import FoundationEssentials
import Glibc

/// A value as text: its meaning if that is known, else its characters if they are printable, else nil.
func meaning(_ value: [UInt8], of uuid: BluetoothUUID) -> String? {
  (AssignedValue.text(for: uuid, value: value) ?? AssignedValue.printableText(value).map { "\"\($0)\"" })
    .map(Output.clean)
}

extension Output {
  /// Prints a value of an attribute.
  /// - Parameter time: When it came; printed if given.
  func value(_ value: [UInt8], of attribute: Attribute, device: Device, time: Date? = nil) throws {
    if json {
      var object: [String: JSONValue] = [
        "peripheral": .text(device.peripheral.identifier), "handle": .integer(Int(attribute.handle)),
        "uuid": .text("\(attribute.uuid)"), "value": .text(Hex.encode(value)),
      ]
      object["name"] = attribute.uuid.assignedName.map { .text($0) }
      object["text"] = meaning(value, of: attribute.uuid).map { .text($0) }
      object["time"] = time.map { .number($0.timeIntervalSince1970) }
      return try self.object(object)
    }
    let hex = value.isEmpty ? "(empty)" : Hex.encode(value)
    let shown =
      meaning(value, of: attribute.uuid).map { "\(styled($0, .bold))  \(styled(hex, .dim))" } ?? styled(hex, .bold)
    line((time.map { styled(clockText($0), .dim) + "  " } ?? "") + "\(attribute.title): \(shown)")
  }
}

/// "14:03:02.123", in the local time zone.
func clockText(_ date: Date) -> String {
  let seconds = date.timeIntervalSince1970
  var (whole, parts) = (time_t(seconds), tm())
  localtime_r(&whole, &parts)
  func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
  let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { digits(Int($0), 2) }.joined(separator: ":")
  return time + "." + digits(Int((seconds - Double(whole)) * 1000), 3)
}
