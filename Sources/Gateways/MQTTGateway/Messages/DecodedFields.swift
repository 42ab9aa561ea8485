import BledRPC
import Bluetooth

/// The names under which OpenMQTTGateway and Theengs publish decoded values.
enum DecodedFields {
  /// The maker and the model of a format.
  struct Model {
    let brand: String
    let model: String
    let identifier: String
  }

  /// The names that differ from bled's; all others are the same.
  private static let names = [
    "temperature": "tempc", "humidity": "hum", "battery": "batt", "voltage": "volt", "pressure": "pres",
    "illuminance": "lux", "moisture": "moi", "conductivity": "fer", "accelerationX": "accx",
    "accelerationY": "accy", "accelerationZ": "accz", "mass": "weight", "dewPoint": "dp",
    "measuredPower": "txpower", "txPower": "txpower", "formaldehyde": "for", "movements": "mov",
  ]

  /// Members with contents found elsewhere in the message.
  private static let omitted: Set<String> = ["address", "product", "format", "company", "reserved"]

  /// The name of a field; a number that bled put behind a repeated name stays there.
  static func name(of member: String) -> String {
    if let name = names[member] { return name }
    let stem = String(member.prefix { !("0"..."9").contains($0) })
    return (names[stem] ?? stem) + member.dropFirst(stem.count)
  }

  static func model(of data: DecodedData) -> Model {
    switch DecodedData.Kind(word: data.kind) {
    case .iBeacon: Model(brand: "GENERIC", model: "iBeacon", identifier: "IBEACON")
    case .eddystoneUID, .eddystoneURL, .eddystoneTLM, .eddystoneEID:
      Model(brand: "GENERIC", model: "Eddystone", identifier: data.kind)
    case .altBeacon: Model(brand: "GENERIC", model: "AltBeacon", identifier: "ALTBEACON")
    case .bthome: Model(brand: "GENERIC", model: "BTHome", identifier: "BTHome")
    case .ruuviTag:
      Model(
        brand: "Ruuvi", model: "RuuviTag",
        identifier: data["format"] == .integer(3) ? "RuuviTag_RAWv1" : "RuuviTag_RAWv2")
    case .govee: Model(brand: "Govee", model: "Thermo-Hygrometer", identifier: "Govee")
    case .miBeacon: Model(brand: "Xiaomi", model: "MiBeacon", identifier: product(data) ?? "MiBeacon")
    case .switchBot: Model(brand: "SwitchBot", model: "Meter", identifier: "SwitchBot")
    case nil: Model(brand: "GENERIC", model: data.kind.excerpt, identifier: data.kind.excerpt)
    }
  }

  private static func product(_ data: DecodedData) -> String? {
    guard case .integer(let number) = data["product"], let product = UInt16(exactly: number) else { return nil }
    return Hex.encode([UInt8(product >> 8), UInt8(truncatingIfNeeded: product)])
  }

  /// Writes the fields of decoded data, without fields already present, as JSON has each name once.
  static func write(_ decoded: [DecodedData], to writer: inout JSONWriter) throws {
    guard let first = decoded.first else { return }
    let model = model(of: first)
    writer.member("brand", model.brand)
    writer.member("model", model.model)
    writer.member("model_id", model.identifier)
    writer.member("type", first.kind)
    if DecodedData.Kind(word: first.kind) == .iBeacon { writer.member("mfid", "4c00") }
    var written: Set<String> = ReportPayload.reserved
    for data in decoded {
      for member in data.members where !omitted.contains(member.name) {
        let name = name(of: member.name)
        guard written.insert(name).inserted else { continue }
        try write(member, as: name, to: &writer)
      }
    }
  }

  private static func write(_ member: DecodedData.Member, as name: String, to writer: inout JSONWriter) throws {
    writer.name(name)
    switch member.value {
    case .flag(let flag): writer.value(flag)
    case .integer(let integer): writer.value(integer)
    case .number(let number): try writer.value(number)
    // OpenMQTTGateway's UUIDs have no dashes.
    case .text(let text) where name.hasSameOctets(as: "uuid"):
      writer.value(text.lowercased().filter { $0 != "-" })
    case .text(let text): writer.value(text)
    }
    guard name.hasSameOctets(as: "tempc"), let celsius = number(member.value) else { return }
    writer.name("tempf")
    try writer.value(((celsius * 9 / 5 + 32) * 100).rounded() / 100)
  }

  private static func number(_ value: DecodedData.Value) -> Double? {
    switch value {
    case .integer(let integer): Double(integer)
    case .number(let number): number
    case .flag, .text: nil
    }
  }
}

extension JSONWriter {
  /// Writes a text member.
  mutating func member(_ name: StaticString, _ text: String) {
    self.name(name)
    value(text)
  }

  /// Writes a member with a whole number.
  mutating func member(_ name: StaticString, _ number: some FixedWidthInteger) {
    self.name(name)
    value(number)
  }

  /// Writes a member that is true or false.
  mutating func member(_ name: StaticString, _ flag: Bool) {
    self.name(name)
    value(flag)
  }

  /// Writes a time in seconds since the epoch, with milliseconds.
  mutating func time(_ seconds: Double) throws {
    name("time")
    try value((seconds * 1000).rounded() / 1000)
  }
}
