import BledRPC
import Bluetooth
import FoundationEssentials

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
      if let quantity = AssignedQuantity(of: attribute.uuid, value: value) {
        (object["number"], object["unit"]) = (.number(quantity.number), .text(quantity.unit))
      }
      object["time"] = time.map { .number($0.timeIntervalSince1970) }
      return try self.object(object)
    }
    let hex = value.isEmpty ? "(empty)" : Hex.encode(value)
    let shown =
      meaning(value, of: attribute.uuid).map { "\(styled($0, .bold))  \(styled(hex, .dim))" } ?? styled(hex, .bold)
    line((time.map { styled(clockText($0), .dim) + "  " } ?? "") + "\(attribute.title): \(shown)")
  }

  /// The names of the values in `csvValue`.
  static let csvValueHeading = "time,handle,uuid,number,unit,value,text"

  /// Prints a value as comma-separated values: the time in seconds since 1970, the handle, the number and its unit
  /// where the format is known, the octets in hex, and what they mean.
  func csvValue(_ value: [UInt8], of attribute: Attribute, time: Date) {
    let quantity = AssignedQuantity(of: attribute.uuid, value: value)
    line(
      CSV.line([
        "\(time.timeIntervalSince1970)", attribute.handle.handleText, "\(attribute.uuid)",
        quantity.map { "\($0.number)" } ?? "", quantity?.unit ?? "", Hex.encode(value),
        meaning(value, of: attribute.uuid) ?? "",
      ]))
  }
}
