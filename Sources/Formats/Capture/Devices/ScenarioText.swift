import Bluetooth

/// Devices as a scenario for the simulated adapter (docs/simulator.md), with comments.
public struct ScenarioText {
  /// The length of legacy advertising data, in octets (Core 5.4, Vol 6, Part B, 2.3.1).
  private static let advertisingLength = 31
  private var lines: [String] = []
  private var names: Set<OctetText> = []

  /// Writes a scenario.
  /// - Parameters:
  ///   - devices: The devices, each under its own name.
  ///   - remarks: Sentences about the whole, for the head of the file.
  /// - Returns: the text, with a line end at its end.
  public static func text(_ devices: [RecordedDevice], remarks: [String] = []) -> String {
    var writer = ScenarioText()
    for remark in remarks { writer.comment(0, remark) }
    writer.add(0, "{")
    writer.add(1, "\"devices\": [")
    for device in devices { writer.write(device) }
    writer.add(1, "],")
    writer.add(0, "}")
    return writer.lines.joined(separator: "\n") + "\n"
  }

  private mutating func add(_ depth: Int, _ line: String) {
    lines.append(String(repeating: "  ", count: depth) + line)
  }

  private mutating func comment(_ depth: Int, _ text: String) { add(depth, "// \(Self.oneLine(text))") }

  /// A text from outside, without characters that end a line or control a terminal.
  private static func oneLine(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars.prefix(300) {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: line.append("\u{FFFD}")
      default: line.append(scalar)
      }
    }
    return String(line)
  }

  // MARK: Devices

  private mutating func write(_ device: RecordedDevice) {
    add(2, "{")
    for remark in device.remarks { comment(3, remark) }
    add(3, "\"name\": \(Self.quoted(unusedName(device))),")
    add(3, "\"address\": \"\(device.address)\", \"addressType\": \"\(device.address.kind)\",")
    if !device.isConnectable { add(3, "\"connectable\": false,") }
    if let interval = device.interval { add(3, "\"interval\": \(Self.seconds(interval)),") }
    advertisement("advertising", device.advertising)
    advertisement("scanResponse", device.scanResponse)
    if let signal = device.signal {
      add(3, "\"rssi\": { \"base\": \(signal.mean), \"noise\": \(min(100, signal.deviation)) },")
    }
    if let mtu = device.mtu { add(3, "\"mtu\": \(min(max(23, mtu), 517)),") }
    pairing(device)
    // The generic services are added by the simulator.
    let services = device.services.filter { $0.uuid != 0x1800 && $0.uuid != 0x1801 }
    if !services.isEmpty {
      add(3, "\"services\": [")
      for service in services { write(service, among: services) }
      add(3, "],")
    }
    add(2, "},")
  }

  /// Its name, or its address, with a number if another device has it.
  private mutating func unusedName(_ device: RecordedDevice) -> String {
    let name = Self.oneLine(device.name.flatMap { $0.isEmpty ? nil : $0 } ?? "\(device.address)")
    var unused = name
    var number = 2
    while names.contains(OctetText(unused)) {
      unused = "\(name) \(number)"
      number += 1
    }
    names.insert(OctetText(unused))
    return unused
  }

  private mutating func advertisement(_ member: String, _ data: [UInt8]?) {
    guard let data else { return }
    var kept: [UInt8] = []
    if data.count <= Self.advertisingLength {
      kept = data
    } else {
      for structure in AdvertisingData(parsing: data).structures {
        guard kept.count + structure.encodedLength <= Self.advertisingLength,
          let octets = try? AdvertisingData([structure]).encode()
        else { continue }
        kept += octets
      }
      comment(3, "extended advertising of \(data.count) octets: the simulator sends \(kept.count) of them")
    }
    add(3, "\"\(member)\": { \"raw\": \"\(Hex.encode(kept))\" },")
  }

  private mutating func pairing(_ device: RecordedDevice) {
    let isNeeded = device.services.contains { $0.characteristics.contains { $0.security.isNeeded } }
    guard let pairing = device.pairing else {
      if isNeeded {
        comment(3, "values are protected, and no pairing was recorded: this one is assumed")
        add(3, "\"pairing\": {},")
      }
      return
    }
    let words = ["display", "displayYesNo", "keyboard", "none", "keyboardDisplay"]
    let capability = words.indices.contains(Int(pairing.capability)) ? words[Int(pairing.capability)] : "none"
    var members = ["\"capability\": \"\(capability)\""]
    if !pairing.hasSecureConnections { members.append("\"secureConnections\": false") }
    if !pairing.bonds { members.append("\"bonding\": false") }
    if (1..<16).contains(pairing.keySize) { members.append("\"keySize\": \(pairing.keySize)") }
    add(3, "\"pairing\": { \(members.joined(separator: ", ")) },")
  }

  // MARK: Services

  private mutating func write(_ service: RecordedDevice.Service, among services: [RecordedDevice.Service]) {
    add(4, "{")
    add(5, "\"uuid\": \"\(service.uuid)\",\(Self.title(service.uuid))")
    if !service.isPrimary { add(5, "\"primary\": false,") }
    let before = services.prefix { $0 != service }.map(\.uuid)
    let includes = service.includes.filter { before.contains($0) }
    if !includes.isEmpty {
      add(5, "\"includes\": [\(includes.map { "\"\($0)\"" }.joined(separator: ", "))],")
    }
    if !service.characteristics.isEmpty {
      add(5, "\"characteristics\": [")
      for characteristic in service.characteristics { write(characteristic) }
      add(5, "],")
    }
    add(4, "},")
  }

  private mutating func write(_ characteristic: RecordedDevice.Characteristic) {
    let words = Self.properties(characteristic.properties)
    add(6, "{")
    add(7, "\"uuid\": \"\(characteristic.uuid)\",\(Self.title(characteristic.uuid))")
    add(7, "\"properties\": [\(words.map { "\"\($0)\"" }.joined(separator: ", "))],")
    if let value = characteristic.read.first {
      add(7, "\"value\": \"\(Hex.encode(value.octets.prefix(512)))\",")
    } else if words.contains("read") {
      comment(7, "its value was not read")
    }
    security(characteristic.security)
    rule(characteristic, isWritten: words.contains("write") || words.contains("writeWithoutResponse"))
    let descriptors = characteristic.descriptors.filter { $0.uuid != 0x2900 }
    if !descriptors.isEmpty {
      let list = descriptors.map { "{ \"uuid\": \"\($0.uuid)\", \"value\": \"\(Hex.encode($0.value.prefix(512)))\" }" }
      add(7, "\"descriptors\": [\(list.joined(separator: ", "))],")
    }
    add(6, "},")
  }

  private mutating func security(_ security: RecordedDevice.Security) {
    guard security.isNeeded else { return }
    let levels = [("read", security.read), ("write", security.write), ("subscribe", security.subscribe)]
    let members = levels.filter { $0.1 > .none }.map { "\"\($0.0)\": \"\($0.1.rawValue)\"" }
    add(7, "\"security\": { \(members.joined(separator: ", ")) },")
  }

  private mutating func rule(_ characteristic: RecordedDevice.Characteristic, isWritten: Bool) {
    let read = isWritten ? [] : characteristic.read.dropFirst()
    guard !read.isEmpty || !characteristic.sent.isEmpty else { return }
    add(7, "\"rule\": {")
    add(8, "\"kind\": \"recording\",")
    for (member, time, values) in [("read", "at", Array(read)), ("sent", "after", characteristic.sent)]
    where !values.isEmpty {
      add(8, "\"\(member)\": [")
      for value in values {
        let octets = Hex.encode(value.octets.prefix(512))
        add(9, "{ \"\(time)\": \(Self.seconds(value.time)), \"value\": \"\(octets)\" },")
      }
      add(8, "],")
    }
    add(7, "},")
  }

  // MARK: Words

  private static func properties(_ octet: UInt8) -> [String] {
    let words: [(UInt8, String)] = [
      (0x02, "read"), (0x04, "writeWithoutResponse"), (0x08, "write"), (0x10, "notify"), (0x20, "indicate"),
    ]
    return words.filter { octet & $0.0 != 0 }.map(\.1)
  }

  private static func title(_ uuid: BluetoothUUID) -> String { uuid.assignedName.map { "  // \($0)" } ?? "" }

  /// Seconds with up to three decimals.
  private static func seconds(_ seconds: Double) -> String {
    let milliseconds = Int((min(max(0, seconds), 86_400) * 1000).rounded())
    let (whole, rest) = milliseconds.quotientAndRemainder(dividingBy: 1000)
    guard rest > 0 else { return "\(whole)" }
    var decimals = "\(1000 + rest)".dropFirst()
    while decimals.last == "0" { decimals.removeLast() }
    return "\(whole).\(decimals)"
  }

  private static func quoted(_ text: String) -> String {
    "\"" + text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
  }
}
