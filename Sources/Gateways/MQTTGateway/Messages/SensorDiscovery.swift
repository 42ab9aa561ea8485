import BledRPC
import Bluetooth

/// The descriptions by which Home Assistant finds the sensors of devices (MQTT discovery), retained by the broker.
///
/// They name no gateway: several that receive a device publish the same, and a value may come from any of them.
struct SensorDiscovery {
  /// A field with a state as its value.
  private struct Sensor {
    /// `device_class`; nil if none fits.
    let kind: String?
    let unit: String?
    /// True if its values only increase.
    let isTotal: Bool
    let isBinary: Bool

    init(_ kind: String?, _ unit: String?, isTotal: Bool = false) {
      self.kind = kind
      self.unit = unit
      self.isTotal = isTotal
      isBinary = false
    }

    init(binary kind: String?) {
      self.kind = kind
      unit = nil
      isTotal = false
      isBinary = true
    }
  }

  private struct Device {
    let address: DeviceAddress
    let model: DecodedFields.Model
    let name: String
    var fields: [String]
  }

  private static let sensors: [String: Sensor] = [
    "tempc": Sensor("temperature", "°C"), "hum": Sensor("humidity", "%"), "batt": Sensor("battery", "%"),
    "volt": Sensor("voltage", "V"), "pres": Sensor("atmospheric_pressure", "hPa"), "lux": Sensor("illuminance", "lx"),
    "moi": Sensor("moisture", "%"), "fer": Sensor("conductivity", "µS/cm"), "co2": Sensor("carbon_dioxide", "ppm"),
    "pm25": Sensor("pm25", "µg/m³"), "pm10": Sensor("pm10", "µg/m³"),
    "tvoc": Sensor("volatile_organic_compounds", "µg/m³"), "weight": Sensor("weight", "kg"),
    "power": Sensor("power", "W"), "current": Sensor("current", "A"),
    "energy": Sensor("energy", "kWh", isTotal: true), "water": Sensor("water", "L", isTotal: true),
    "gas": Sensor("gas", "m³", isTotal: true), "dp": Sensor("temperature", "°C"), "speed": Sensor("speed", "m/s"),
    "precipitation": Sensor("precipitation", "mm"), "for": Sensor(nil, "mg/m³"),
    "rssi": Sensor("signal_strength", "dBm"),
    "motion": Sensor(binary: "motion"), "open": Sensor(binary: "opening"), "doorOpen": Sensor(binary: "door"),
    "windowOpen": Sensor(binary: "window"), "garageDoorOpen": Sensor(binary: "garage_door"),
    "smoke": Sensor(binary: "smoke"), "gasDetected": Sensor(binary: "gas"),
    "carbonMonoxide": Sensor(binary: "carbon_monoxide"), "moistureDetected": Sensor(binary: "moisture"),
    "occupied": Sensor(binary: "occupancy"), "present": Sensor(binary: "presence"), "light": Sensor(binary: "light"),
    "vibration": Sensor(binary: "vibration"), "tampered": Sensor(binary: "tamper"),
    "problem": Sensor(binary: "problem"),
    "batteryLow": Sensor(binary: "battery"), "charging": Sensor(binary: "battery_charging"),
    "unlocked": Sensor(binary: "lock"), "running": Sensor(binary: "running"), "on": Sensor(binary: "power"),
  ]

  /// The formats of beacons, which are not sensors.
  private static let beacons: Set<String> = Set(
    [DecodedData.Kind.iBeacon, .altBeacon, .eddystoneUID, .eddystoneURL, .eddystoneEID].map(\.rawValue))

  /// Values older than this are unavailable, in seconds.
  private static let expiry = 3600
  /// Maximum described devices; devices received later are not described.
  private static let maximum = 1024

  private let prefix: String
  private let topics: Topics
  private var devices: [UInt64: Device] = [:]

  /// - Parameter prefix: the topic of Home Assistant's discovery.
  init(prefix: String, topics: Topics) {
    self.prefix = prefix
    self.topics = topics
  }

  /// The number of devices that are described.
  var count: Int { devices.count }

  /// The descriptions of a device's sensors that have not been described before.
  mutating func messages(for report: ScanReport.Params) -> [OutgoingMessage] {
    guard let decoded = report.decoded?.filter({ !Self.beacons.contains($0.kind) }), let first = decoded.first,
      let kind = report.addressType.known,
      // A changing address does not belong to a sensor.
      let address = DeviceAddress(report.address, kind: kind), address.isIdentity
    else { return [] }
    var device: Device
    if let known = devices[address.value] {
      device = known
    } else {
      guard devices.count < Self.maximum else { return [] }
      let model = DecodedFields.model(of: first)
      let name = report.name ?? "\(model.model) \(Topics.level(of: address).suffix(6))"
      device = Device(address: address, model: model, name: name, fields: [])
    }
    let fields = ["rssi"] + decoded.flatMap { $0.members.map { DecodedFields.name(of: $0.name) } }
    let new = fields.filter { Self.sensors[$0] != nil && !device.fields.contains($0) }
    guard !new.isEmpty else { return [] }
    device.fields += new
    devices[address.value] = device
    return new.compactMap { message(device, $0) }
  }

  /// The descriptions of all that is known: the broker may have lost them.
  func all() -> [OutgoingMessage] {
    [gateway()].compactMap { $0 }
      + devices.values.sorted { $0.address.value < $1.address.value }.flatMap { device in
        device.fields.compactMap { message(device, $0) }
      }
  }

  private func message(_ device: Device, _ field: String) -> OutgoingMessage? {
    guard let sensor = Self.sensors[field] else { return nil }
    let level = Topics.level(of: device.address)
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("name", field)
      writer.member("unique_id", "\(level)-\(field)")
      writer.member("state_topic", topics.anyGateway(device.address))
      writer.member("value_template", "{{ value_json.\(field) | is_defined }}")
      if let kind = sensor.kind { writer.member("device_class", kind) }
      if let unit = sensor.unit { writer.member("unit_of_measurement", unit) }
      if sensor.isBinary {
        writer.member("payload_on", "True")
        writer.member("payload_off", "False")
      } else {
        writer.member("state_class", sensor.isTotal ? "total_increasing" : "measurement")
      }
      writer.member("expire_after", Self.expiry)
      writer.name("device")
      writer.object { writer in
        writer.name("identifiers")
        writer.array { $0.element(level) }
        writer.name("connections")
        writer.array { writer in
          writer.separate()
          writer.array {
            $0.element("mac")
            $0.element("\(device.address)")
          }
        }
        writer.member("manufacturer", device.model.brand)
        writer.member("model", device.model.model)
        writer.member("name", device.name)
      }
    }
    let component = sensor.isBinary ? "binary_sensor" : "sensor"
    return OutgoingMessage(
      topic: "\(prefix)/\(component)/\(level)-\(field)/config", payload: writer.codes, quality: .atLeastOnce,
      isRetained: true)
  }

  /// The description of the gateway: its availability.
  private func gateway() -> OutgoingMessage? {
    // Home Assistant accepts letters, digits, dashes and underscores.
    let name = String(
      decoding: topics.gateway.utf8.map { octet in
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(octet | 0x20)
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet)
        return isLetter || isDigit || octet == UInt8(ascii: "-") ? octet : UInt8(ascii: "_")
      }, as: UTF8.self)
    var writer = JSONWriter()
    writer.object { writer in
      writer.member("name", "connectivity")
      writer.member("unique_id", "bled-\(name)-connectivity")
      writer.member("state_topic", topics.availability)
      writer.member("payload_on", "online")
      writer.member("payload_off", "offline")
      writer.member("device_class", "connectivity")
      writer.name("device")
      writer.object { writer in
        writer.name("identifiers")
        writer.array { $0.element("bled-\(name)") }
        writer.member("manufacturer", "bled")
        writer.member("model", "bled-mqtt")
        writer.member("sw_version", Release.version)
        writer.member("name", topics.gateway)
      }
    }
    return OutgoingMessage(
      topic: "\(prefix)/binary_sensor/bled-\(name)-connectivity/config", payload: writer.codes, quality: .atLeastOnce,
      isRetained: true)
  }
}

extension JSONWriter {
  /// Writes an element that is a text.
  mutating func element(_ text: String) {
    separate()
    value(text)
  }
}
