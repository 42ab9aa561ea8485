import Bluetooth

/// The latest measurements that a device advertised, as a table of sensors shows them. A packet may have some of them
/// only, as with MiBeacon: earlier ones stay.
public struct SensorReading: Hashable, Sendable {
  /// A measurement.
  public struct Value: Hashable, Sendable {
    /// The name in `DecodedData`.
    public let name: String
    /// The measured value.
    public let value: DecodedData.Value

    /// The unit; nil for values without one.
    public var unit: String? { DecodedData.unit(of: name) }

    /// The value with its unit for people, such as "25.06 °C", "yes", "press".
    public var text: String {
      switch value {
      case .flag(let flag): flag ? "yes" : "no"
      case .integer(let integer): "\(integer)" + (unit.map { " \($0)" } ?? "")
      case .number(let number): "\(number)" + (unit.map { " \($0)" } ?? "")
      case .text(let text): text
      }
    }

    /// The name as words, such as "temperature 2", "door open".
    public var title: String { SensorReading.titles[name] ?? SensorReading.words(of: name) }
  }

  /// The maximum number of values that are kept of a device.
  static let limit = 32

  /// The format of the last packet, as people know it, such as "RuuviTag".
  public private(set) var format: String
  /// The reason why the last packet had values that could not be read, such as "encrypted, the key is missing".
  public private(set) var problem: String?
  /// All values, the most important first.
  public private(set) var values: [Value] = []
  /// True if "voltage" is that of the battery.
  private var hasBatteryVoltage = false

  /// The first packet of a device.
  /// - Returns: nil if it has no measurement and no encrypted data; beacons have none.
  public init?(_ decoded: [DecodedData]) {
    format = ""
    guard update(decoded) else { return nil }
  }

  /// Takes the values of a later packet.
  /// - Returns: whether it was a sensor's.
  @discardableResult public mutating func update(_ decoded: [DecodedData]) -> Bool {
    var isSensor = false
    for data in decoded where !Self.beacons.contains(data.kind) {
      let new = data.members.filter { !Self.details.contains($0.name) }
      let problem = Self.problem(of: data)
      guard !new.isEmpty || problem != nil else { continue }
      (isSensor, self.problem) = (true, problem)
      format = Self.formats[data.kind] ?? data.kind
      hasBatteryVoltage = Self.batteryVoltages.contains(data.kind)
      for member in new { set(member) }
    }
    return isSensor
  }

  private static func problem(of data: DecodedData) -> String? {
    guard case .text(let state)? = data["key"] else { return nil }
    return "encrypted, the key is \(state)"
  }

  private mutating func set(_ member: DecodedData.Member) {
    let value = Value(name: member.name, value: member.value)
    if let place = values.firstIndex(where: { $0.name.hasSameOctets(as: member.name) }) {
      values[place] = value
    } else if values.count < Self.limit {
      func place(_ name: String) -> Int { Self.rank(name) ?? .max }
      values.insert(value, at: values.firstIndex { place($0.name) > place(member.name) } ?? values.count)
    }
  }

  /// The state of the battery, if it is known: its charge, else whether it is low, else its voltage.
  public var battery: Value? {
    let names = ["battery", "batteryLow"] + (hasBatteryVoltage ? ["voltage"] : [])
    return names.lazy.compactMap { name in values.first { $0.name == name } }.first
  }

  /// All values but `battery`.
  public var measurements: [Value] { values.filter { $0.name != battery?.name } }

  /// The place of a name among the columns of a table; nil: it is too rare for a column of its own.
  public static func rank(_ name: String) -> Int? { order.firstIndex(of: name) }

  private static func words(of name: String) -> String {
    var words = ""
    for scalar in name.unicodeScalars {
      let isCapital = ("A"..."Z").contains(scalar), isDigit = ("0"..."9").contains(scalar)
      if isCapital || isDigit && words.unicodeScalars.last.map({ !("0"..."9").contains($0) }) == true { words += " " }
      // An axis stays a capital.
      words += isCapital && scalar < "X" ? "\(scalar)".lowercased() : "\(scalar)"
    }
    return words
  }

  private static let titles = [
    "co2": "CO₂", "pm10": "PM10", "pm25": "PM2.5", "tvoc": "TVOC", "uvIndex": "UV index",
    "massPounds": "mass", "batteryLow": "battery low",
  ]

  private static let order = [
    "temperature", "humidity", "temperature2", "humidity2", "pressure", "co2", "tvoc", "pm25", "pm10", "formaldehyde",
    "illuminance", "moisture", "conductivity", "dewPoint", "mass", "massPounds", "power", "energy", "voltage",
    "current", "water", "gas", "volume", "flow", "open", "doorOpen", "windowOpen", "motion", "occupied", "button",
  ]

  private static let formats: [String: String] = [
    "bthome": "BTHome", "ruuviTag": "RuuviTag", "govee": "Govee", "miBeacon": "Xiaomi", "switchBot": "SwitchBot",
    "eddystoneTLM": "Eddystone",
  ]

  private static let beacons = Set(
    [DecodedData.Kind.iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .eddystoneEID].map(\.rawValue))

  private static let batteryVoltages = Set([DecodedData.Kind.ruuviTag, .eddystoneTLM].map(\.rawValue))

  /// Names that describe the packet or the device.
  private static let details: Set<String> = [
    "packet", "packets", "counter", "sequence", "address", "company", "reserved", "format", "product", "model",
    "encrypted", "key", "txPower", "measuredPower", "firmware", "raw", "unread", "deviceType", "payload", "salt",
    "check",
  ]
}
