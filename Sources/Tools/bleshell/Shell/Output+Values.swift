import AssignedValues
import BledRPC
import Bluetooth
import FoundationEssentials

/// A value as text for people: its meaning if that is known, else its characters in quotation marks if they are
/// printable, else nil.
func meaning(_ value: [UInt8], of uuid: BluetoothUUID) -> String? {
  (AssignedValue.text(for: uuid, value: value) ?? AssignedValue.printableText(value).map { "\"\($0)\"" })
    .map(Output.clean)
}

/// The same for other programs: without quotation marks.
func plainMeaning(_ value: [UInt8], of uuid: BluetoothUUID) -> String? {
  AssignedValue.text(for: uuid, value: value) ?? AssignedValue.printableText(value)
}

extension [String: JSONValue] {
  /// Adds the kind and the meaning of an attribute's value.
  mutating func add(_ value: [UInt8], of uuid: BluetoothUUID) {
    self["uuid"] = .text("\(uuid)")
    self["name"] = uuid.knownName.map { .text($0) }
    self["value"] = .text(Hex.encode(value))
    self["text"] = plainMeaning(value, of: uuid).map { .text($0) }
    guard let quantity = AssignedQuantity(of: uuid, value: value) else { return }
    (self["number"], self["unit"]) = (.number(quantity.number), .text(quantity.unit))
  }
}

extension Output {
  /// Prints a value of an attribute.
  /// - Parameters:
  ///   - kind: The outcome, for other programs.
  ///   - time: When it came; printed for people if given.
  func value(
    _ value: [UInt8], of attribute: Attribute, device: Device, kind: String = "value", time: Date? = nil
  ) throws {
    if json {
      var object: [String: JSONValue] = [
        "peripheral": .text(device.peripheral.identifier), "device": .text(device.name),
        "handle": .integer(Int(attribute.handle)),
      ]
      object.add(value, of: attribute.uuid)
      return try self.object(kind, object, at: (time ?? Date()).timeIntervalSince1970)
    }
    let shown = text(value, of: attribute)
    line((time.map { styled(clockText($0), .dim) + "  " } ?? "") + shown)
  }

  /// "Battery Level (2A19): 95 %  5f"
  func text(_ value: [UInt8], of attribute: Attribute) -> String {
    let hex = value.isEmpty ? "(empty)" : Hex.encode(value)
    let shown =
      meaning(value, of: attribute.uuid).map { "\(styled($0, .bold))  \(styled(hex, .dim))" } ?? styled(hex, .bold)
    return "\(attribute.title): \(shown)"
  }

  /// The names of the values in `csvValue`.
  static let csvValueHeading = "time,date,peripheral,device,handle,uuid,number,unit,value,text"

  /// Prints a value as comma-separated values: the time in seconds since 1970 and in ISO 8601, the device, the handle,
  /// the number and its unit where the format is known, the octets in hex, and their meaning.
  func csvValue(_ value: [UInt8], of attribute: Attribute, device: Device, time: Date) {
    let quantity = AssignedQuantity(of: attribute.uuid, value: value)
    let seconds = time.timeIntervalSince1970
    line(
      CSV.line([
        "\(seconds)", dateText(seconds), device.peripheral.identifier, device.name, attribute.handle.handleText,
        "\(attribute.uuid)", quantity.map { numberText($0.number) } ?? "", quantity?.unit ?? "", Hex.encode(value),
        plainMeaning(value, of: attribute.uuid) ?? "",
      ]))
  }
}
