import Bluetooth

/// The objects of BTHome (bthome.io, Format): an identifier, and a value whose length it determines.
extension BTHome {
  /// The format of an object's value.
  fileprivate enum Form {
    /// A number with this many octets, × factor / divisor.
    case unsigned(Int, times: Int = 1, over: Int = 1)
    /// The number in two's complement.
    case signed(Int, times: Int = 1, over: Int = 1)
    /// An octet: no or yes.
    case flag
    /// Its length in an octet, then text.
    case text
    /// Its length in an octet, then octets.
    case raw
    /// A button's event.
    case button
    /// A dimmer's event: a direction (none, left, right), and a number of steps.
    case dimmer
    /// A version's parts, the last one first.
    case version(Int)
  }

  private static let measurements: [UInt8: (name: String, form: Form)] = [
    0x00: ("packet", .unsigned(1)), 0x01: ("battery", .unsigned(1)), 0x02: ("temperature", .signed(2, over: 100)),
    0x03: ("humidity", .unsigned(2, over: 100)), 0x04: ("pressure", .unsigned(3, over: 100)),
    0x05: ("illuminance", .unsigned(3, over: 100)), 0x06: ("mass", .unsigned(2, over: 100)),
    0x07: ("massPounds", .unsigned(2, over: 100)), 0x08: ("dewPoint", .signed(2, over: 100)),
    0x09: ("count", .unsigned(1)), 0x0A: ("energy", .unsigned(3, over: 1000)),
    0x0B: ("power", .unsigned(3, over: 100)), 0x0C: ("voltage", .unsigned(2, over: 1000)),
    0x0D: ("pm25", .unsigned(2)), 0x0E: ("pm10", .unsigned(2)), 0x12: ("co2", .unsigned(2)),
    0x13: ("tvoc", .unsigned(2)), 0x14: ("moisture", .unsigned(2, over: 100)), 0x2E: ("humidity", .unsigned(1)),
    0x2F: ("moisture", .unsigned(1)), 0x3A: ("button", .button), 0x3C: ("dimmer", .dimmer),
    0x3D: ("count", .unsigned(2)), 0x3E: ("count", .unsigned(4)), 0x3F: ("rotation", .signed(2, over: 10)),
    0x40: ("distance", .unsigned(2, over: 1000)), 0x41: ("distance", .unsigned(2, over: 10)),
    0x42: ("duration", .unsigned(3, over: 1000)), 0x43: ("current", .unsigned(2, over: 1000)),
    0x44: ("speed", .unsigned(2, over: 100)), 0x45: ("temperature", .signed(2, over: 10)),
    0x46: ("uvIndex", .unsigned(1, over: 10)), 0x47: ("volume", .unsigned(2, over: 10)),
    0x48: ("volume", .unsigned(2, over: 1000)), 0x49: ("flow", .unsigned(2, over: 1000)),
    0x4A: ("voltage", .unsigned(2, over: 10)), 0x4B: ("gas", .unsigned(3, over: 1000)),
    0x4C: ("gas", .unsigned(4, over: 1000)), 0x4D: ("energy", .unsigned(4, over: 1000)),
    0x4E: ("volume", .unsigned(4, over: 1000)), 0x4F: ("water", .unsigned(4, over: 1000)),
    0x50: ("timestamp", .unsigned(4)), 0x51: ("acceleration", .unsigned(2, over: 1000)),
    0x52: ("gyroscope", .unsigned(2, over: 1000)), 0x53: ("text", .text), 0x54: ("raw", .raw),
    0x55: ("volumeStorage", .unsigned(4, over: 1000)), 0x56: ("conductivity", .unsigned(2)),
    0x57: ("temperature", .signed(1)), 0x58: ("temperature", .signed(1, times: 35, over: 100)),
    0x59: ("count", .signed(1)), 0x5A: ("count", .signed(2)), 0x5B: ("count", .signed(4)),
    0x5C: ("power", .signed(4, over: 100)), 0x5D: ("current", .signed(2, over: 1000)),
    0x5E: ("direction", .unsigned(2, over: 100)), 0x5F: ("precipitation", .unsigned(2, over: 10)),
    0x60: ("channel", .unsigned(1)), 0x61: ("rotationalSpeed", .unsigned(2)),
    0x62: ("speed", .signed(4, over: 1_000_000)), 0x63: ("acceleration", .signed(4, over: 1_000_000)),
    0x64: ("lightLevel", .unsigned(1)), 0xF0: ("deviceType", .unsigned(2)), 0xF1: ("firmware", .version(4)),
    0xF2: ("firmware", .version(3)),
  ]

  /// 0x0F and the following ones: the condition that applies if the octet is 1.
  private static let flags: [UInt8: String] = [
    0x0F: "on", 0x10: "powered", 0x11: "open", 0x15: "batteryLow", 0x16: "charging", 0x17: "carbonMonoxide",
    0x18: "cold", 0x19: "connected", 0x1A: "doorOpen", 0x1B: "garageDoorOpen", 0x1C: "gasDetected", 0x1D: "hot",
    0x1E: "light", 0x1F: "unlocked", 0x20: "moistureDetected", 0x21: "motion", 0x22: "moving", 0x23: "occupied",
    0x24: "pluggedIn", 0x25: "present", 0x26: "problem", 0x27: "running", 0x28: "safe", 0x29: "smoke", 0x2A: "sound",
    0x2B: "tampered", 0x2C: "vibration", 0x2D: "windowOpen",
  ]

  fileprivate static func object(_ identifier: UInt8) -> (name: String, form: Form)? {
    measurements[identifier] ?? flags[identifier].map { ($0, .flag) }
  }
}

extension DecodedData {
  /// Adds objects of BTHome, up to the first of unknown length, incomplete, or beyond the limit:
  /// `unread` is then the number of octets from there to the end.
  mutating func add(objects reader: inout OctetReader) {
    while !reader.isAtEnd {
      let beginning = reader
      guard members.count < Self.limit, let identifier = reader.uint8(), let object = BTHome.object(identifier),
        add(object.name, object.form, from: &reader)
      else { return add("unread", beginning.count) }
    }
  }

  /// - Returns: false if there are too few octets.
  private mutating func add(_ name: String, _ form: BTHome.Form, from reader: inout OctetReader) -> Bool {
    switch form {
    case .unsigned(let count, let factor, let divisor):
      guard let number = reader.unsigned(count) else { return false }
      add(name, scaled: Int(number), factor, divisor)
    case .signed(let count, let factor, let divisor):
      guard let number = reader.signed(count) else { return false }
      add(name, scaled: number, factor, divisor)
    case .flag:
      guard let octet = reader.uint8() else { return false }
      add(name, octet != 0)
    case .text:
      guard let length = reader.uint8(), let octets = reader.octets(Int(length)) else { return false }
      add(name, String(validating: octets, as: UTF8.self).map(Value.text))
    case .raw:
      guard let length = reader.uint8(), let octets = reader.octets(Int(length)) else { return false }
      add(name, hex: octets)
    case .button:
      guard let event = reader.uint8() else { return false }
      add(name, Self.buttonEvents[event].map(Value.text))
    case .dimmer:
      guard let direction = reader.uint8(), let steps = reader.uint8() else { return false }
      switch direction {
      case 0: add(name, 0)
      case 1: add(name, -Int(steps))
      case 2: add(name, Int(steps))
      default: break
      }
    case .version(let count):
      guard let octets = reader.octets(count) else { return false }
      add(name, .text(octets.reversed().map(String.init).joined(separator: ".")))
    }
    return true
  }

  private mutating func add(_ name: String, scaled number: Int, _ factor: Int, _ divisor: Int) {
    if divisor == 1 { add(name, number * factor) } else { add(name, number, times: factor, over: divisor) }
  }

  private static let buttonEvents: [UInt8: String] = [
    0x00: "none", 0x01: "press", 0x02: "doublePress", 0x03: "triplePress", 0x04: "longPress",
    0x05: "longDoublePress", 0x06: "longTriplePress", 0x80: "hold",
  ]
}
