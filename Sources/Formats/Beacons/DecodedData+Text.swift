import Bluetooth

/// Decoded data for people.
extension DecodedData {
  /// The unit of values with a name; nil for values without one.
  public static func unit(of name: String) -> String? {
    // The number of a repeated name does not count; pm10 and the like are names of their own.
    units[name] ?? units[String(name.prefix { !("0"..."9").contains($0) })]
  }

  /// The format and its values on a line, the most important first: "bthome: temperature 25.06 °C, humidity 50.55 %".
  public var text: String {
    let shown = members.filter { !Self.details.contains($0.name) }
    let first = Self.leading.flatMap { name in shown.filter { $0.name == name } }
    let values = (first + shown.filter { !Self.leading.contains($0.name) }).map { member -> String in
      switch member.value {
      case .flag(true): member.name
      case .flag(false): "not \(member.name)"
      case .integer(let integer): member.name + " \(integer)" + (Self.unit(of: member.name).map { " \($0)" } ?? "")
      case .number(let number): member.name + " \(number)" + (Self.unit(of: member.name).map { " \($0)" } ?? "")
      case .text(let text): "\(member.name) \(text)"
      }
    }
    return values.isEmpty ? kind : "\(kind): \(values.joined(separator: ", "))"
  }

  /// The names at the beginning of a line.
  private static let leading = [
    "uuid", "major", "minor", "namespace", "instance", "url", "model", "encrypted", "key", "temperature", "humidity",
  ]

  /// The names omitted from a line: counters of packets, and the address, which is shown anyway.
  private static let details: Set<String> = [
    "packet", "counter", "sequence", "address", "company", "reserved", "format",
  ]

  private static let units = [
    "acceleration": "m/s²", "accelerationX": "g", "accelerationY": "g", "accelerationZ": "g", "battery": "%",
    "co2": "ppm", "conductivity": "µS/cm", "consumable": "%", "current": "A", "dewPoint": "°C", "dimmer": "steps",
    "direction": "°", "distance": "m", "duration": "s", "energy": "kWh", "flow": "m³/h", "formaldehyde": "mg/m³",
    "gas": "m³", "gyroscope": "°/s", "humidity": "%", "idle": "s", "illuminance": "lx", "mass": "kg",
    "massPounds": "lb", "measuredPower": "dBm", "moisture": "%", "pm10": "µg/m³", "pm25": "µg/m³", "power": "W",
    "precipitation": "mm", "pressure": "hPa", "rotation": "°", "rotationalSpeed": "rpm", "speed": "m/s",
    "temperature": "°C", "tvoc": "µg/m³", "txPower": "dBm", "uptime": "s", "voltage": "V", "volume": "L",
    "volumeStorage": "L", "water": "L",
  ]
}
