import BledRPC
import Bluetooth
import FoundationEssentials
import ValueFormats

/// A value as text for people: its meaning if that is known, else its characters in quotation marks if they are
/// printable, else nil.
func meaning(_ value: [UInt8], of uuid: BluetoothUUID) -> String? { ValueMeaning(of: uuid, value: value)?.shown }

extension ValueMeaning {
  /// As text for people: a guess in quotation marks.
  var shown: String { Output.clean(isGuess ? "\"\(text)\"" : text) }
}

extension [String: JSONValue] {
  /// Adds the kind and the meaning of an attribute's value.
  mutating func add(_ value: [UInt8], of attribute: Attribute) {
    self["uuid"] = .text("\(attribute.uuid)")
    self["name"] = (attribute.name ?? attribute.uuid.knownName).map { .text($0) }
    self["value"] = .text(Hex.encode(value))
    guard let meaning = attribute.meaning(of: value) else { return }
    self["text"] = .text(meaning.text)
    self["number"] = meaning.number.map { .number($0) }
    self["unit"] = meaning.unit.map { .text($0) }
    guard !meaning.fields.isEmpty else { return }
    let fields = meaning.fields.map { ($0.name ?? "", $0.content.json) }
    self["fields"] = .object(Dictionary(fields) { first, _ in first })
  }
}

extension FormattedValue.Content {
  /// As data for other programs.
  var json: JSONValue {
    switch self {
    case .number(let number): .number(number)
    case .flag(let flag): .bool(flag)
    case .words(let words): .array(words.map { .text($0) })
    case .text(let text): .text(text)
    }
  }
}

extension Output {
  /// Prints a value of an attribute.
  /// - Parameters:
  ///   - kind: The outcome, for other programs.
  ///   - time: The time of the value; printed for people if given.
  ///   - namesDevice: Whether people need the name of the device.
  func value(
    _ value: [UInt8], of attribute: Attribute, device: Device, kind: String = "value", time: Date? = nil,
    namesDevice: Bool = false
  ) throws {
    if json {
      var object: [String: JSONValue] = [
        "peripheral": .text(device.peripheral.identifier), "device": .text(device.name),
        "handle": .integer(Int(attribute.handle)),
      ]
      object.add(value, of: attribute)
      return try self.object(kind, object, at: (time ?? Date()).timeIntervalSince1970)
    }
    let name = namesDevice ? styled(Output.clean(device.name), .name) + "  " : ""
    let shown = name + text(value, of: attribute)
    line((time.map { styled(clockText($0), .dim) + "  " } ?? "") + shown)
  }

  /// "Battery Level (2A19): 95 %  5f"
  func text(_ value: [UInt8], of attribute: Attribute) -> String {
    let hex = value.isEmpty ? "(empty)" : Hex.encode(value)
    let shown =
      attribute.meaning(of: value).map { "\(styled($0.shown, .bold))  \(styled(hex, .dim))" } ?? styled(hex, .bold)
    return "\(attribute.title): \(shown)"
  }

  /// The names of the values in `csvValue`.
  static let csvValueHeading = "time,date,peripheral,device,handle,uuid,number,unit,value,text"

  /// Prints a value as comma-separated values: the time in seconds since 1970 and in ISO 8601, the device, the handle,
  /// the number and its unit if the format is known, the octets in hex, and their meaning.
  func csvValue(_ value: [UInt8], of attribute: Attribute, device: Device, time: Date) {
    let meaning = attribute.meaning(of: value)
    let seconds = time.timeIntervalSince1970
    line(
      CSV.line([
        "\(seconds)", dateText(seconds), device.peripheral.identifier, device.name, attribute.handle.handleText,
        "\(attribute.uuid)", meaning?.number.map(numberText) ?? "", meaning?.unit ?? "", Hex.encode(value),
        meaning?.text ?? "",
      ]))
  }
}
