import BlueZ
import Fuzzing

/// Messages of programs: mostly of the types that the members have, with contents that may be wrong.
enum Generator {
  struct Call {
    var path: String
    var interface: String?
    var member: String
    var arguments: [BusValue]
  }

  private static let adapter = "/org/bluez/hci0"
  private static let belt = adapter + "/dev_C0_DE_00_00_00_01"
  private static let lock = adapter + "/dev_C0_DE_00_00_00_09"

  /// Where programs call, with the interface and its members, each with the types of its arguments.
  private static let places: [(paths: [String], interface: Interface, members: [(String, String)])] = [
    (
      [adapter], .adapter,
      [
        ("StartDiscovery", ""), ("StopDiscovery", ""), ("SetDiscoveryFilter", "a{sv}"), ("GetDiscoveryFilters", ""),
        ("RemoveDevice", "o"), ("ConnectDevice", "a{sv}"),
      ]
    ),
    (
      [belt, lock], .device,
      [
        ("Connect", ""), ("Disconnect", ""), ("Pair", ""), ("CancelPairing", ""), ("ConnectProfile", "s"),
        ("DisconnectProfile", "s"),
      ]
    ),
    (
      [belt, lock], .characteristic,
      [
        ("ReadValue", "a{sv}"), ("WriteValue", "aya{sv}"), ("StartNotify", ""), ("StopNotify", ""),
        ("AcquireWrite", "a{sv}"), ("AcquireNotify", "a{sv}"), ("Confirm", ""),
      ]
    ),
    ([adapter], .gattManager, [("RegisterApplication", "oa{sv}"), ("UnregisterApplication", "o")]),
    ([adapter], .advertisingManager, [("RegisterAdvertisement", "oa{sv}"), ("UnregisterAdvertisement", "o")]),
    ([adapter], .monitorManager, [("RegisterMonitor", "o"), ("UnregisterMonitor", "o")]),
    (
      ["/org/bluez"], .agentManager,
      [("RegisterAgent", "os"), ("RequestDefaultAgent", "o"), ("UnregisterAgent", "o")]
    ),
    ([adapter, belt], .properties, [("Get", "ss"), ("Set", "ssv"), ("GetAll", "s")]),
    (["/", adapter], .objectManager, [("GetManagedObjects", "")]),
    (["/", "/org", belt], .introspectable, [("Introspect", "")]),
  ]

  /// The characteristics of a device, as the handles of the scenario come out, and one that is not there.
  private static let attributes = [
    "", "/service000a/char000b", "/service000e/char000f", "/service000e/char000f/desc0011",
  ]

  static func call(_ input: inout FuzzInput) -> Call {
    let place = places[input.number(below: places.count)]
    let (member, types) = place.members[input.number(below: place.members.count)]
    var path = place.paths[input.number(below: place.paths.count)]
    if place.interface == .characteristic { path += attributes[input.number(below: attributes.count)] }
    var call = Call(
      path: path, interface: place.interface.rawValue, member: member, arguments: values(types, &input))
    switch input.octet() {
    case 0: call.interface = nil
    case 1: call.path = word(&input)
    case 2: call.member = word(&input)
    case 3: call.arguments = values(word(&input), &input)
    default: break
    }
    return call
  }

  static func signal(_ input: inout FuzzInput, of program: String) -> BusSignal {
    let path = paths[input.number(below: paths.count)]
    let (interface, member, types): (Interface, String, String) =
      switch input.octet() & 3 {
      case 0: (.properties, "PropertiesChanged", "sa{sv}as")
      case 1: (.objectManager, "InterfacesRemoved", "oas")
      default: (.objectManager, "InterfacesAdded", "oa{sa{sv}}")
      }
    return BusSignal(
      sender: program, path: path, interface: interface.rawValue, member: member, arguments: values(types, &input))
  }

  static func answer(_ method: String, _ input: inout FuzzInput) -> Result<[BusValue], BusError> {
    switch (method, input.octet()) {
    case (_, 0...31): .failure(BusError(name: word(&input), message: word(&input)))
    case (_, 32...39): .success(values(word(&input), &input))
    case ("GetManagedObjects", _): .success(values("a{oa{sa{sv}}}", &input))
    case ("GetAll", _): .success(values("a{sv}", &input))
    case ("ReadValue", _): .success(values("ay", &input))
    case ("RequestPasskey", _): .success(values("u", &input))
    default: .success([])
    }
  }

  // MARK: Values

  private static let paths = ["/a", "/a/s", "/a/s/c", "/a/s/c/d", "/a/s/e", "/b", "/", adapter, belt, lock]

  /// The names of interfaces, of properties and of options that programs write, and values of these.
  private static let words = [
    "org.bluez.GattService1", "org.bluez.GattCharacteristic1", "org.bluez.GattDescriptor1",
    "org.bluez.LEAdvertisement1", "org.bluez.AdvertisementMonitor1", "org.bluez.Adapter1", "org.bluez.Device1", "UUID",
    "UUIDs", "Primary", "Includes", "Service", "Characteristic", "Flags", "Value", "NotifyAcquired", "WriteAcquired",
    "Type", "peripheral", "broadcast", "or_patterns", "Patterns", "RSSIHighThreshold", "RSSILowTimeout", "LocalName",
    "ServiceUUIDs", "ManufacturerData", "ServiceData", "Data", "TxPower", "Discoverable", "MinInterval", "RSSI",
    "Pathloss", "Transport", "le", "DuplicateData", "Pattern", "offset", "type", "request", "command", "reliable",
    "Address", "AddressType", "random", "C0:DE:00:00:00:01", "Powered", "Alias", "Trusted", "Blocked", "180F", "FFF0",
    "read", "write", "notify", "indicate", "encrypt-read", "KeyboardDisplay", "NoInputNoOutput", "", "\u{1F4A3}",
  ]

  private static let variants = ["s", "b", "as", "q", "n", "y", "ay", "o", "ao", "u", "a(yyay)", "a{qv}", "a{sv}", "v"]

  private static func word(_ input: inout FuzzInput) -> String {
    let number = Int(input.octet())
    return number < words.count ? words[number] : String(decoding: input.octets(number & 15), as: UTF8.self)
  }

  /// Values of these types; what is no type is left out.
  private static func values(_ types: String, _ input: inout FuzzInput) -> [BusValue] {
    var codes = types.utf8[...]
    var values: [BusValue] = []
    while !codes.isEmpty { if let value = value(&codes, &input, 0) { values.append(value) } }
    return values
  }

  private static func value(_ codes: inout Substring.UTF8View, _ input: inout FuzzInput, _ depth: Int) -> BusValue? {
    switch codes.popFirst() {
    case UInt8(ascii: "y"): return .byte(input.octet())
    case UInt8(ascii: "b"): return .boolean(input.octet() & 1 == 1)
    case UInt8(ascii: "n"): return .int16(Int16(bitPattern: input.word()))
    case UInt8(ascii: "q"): return .uint16(input.word())
    case UInt8(ascii: "i"): return .int32(Int32(Int16(bitPattern: input.word())) &* 0x10001)
    case UInt8(ascii: "u"): return .uint32(UInt32(input.word()) &* 0x101)
    case UInt8(ascii: "t"): return .uint64(UInt64(input.word()) &* 0x1_0001_0001_0001)
    case UInt8(ascii: "s"): return .string(word(&input))
    case UInt8(ascii: "o"): return .path(paths[input.number(below: paths.count)])
    case UInt8(ascii: "v"):
      guard depth < 4 else { return .variant(.byte(0)) }
      var inner = variants[input.number(below: variants.count)].utf8[...]
      return value(&inner, &input, depth + 1).map(BusValue.variant)
    case UInt8(ascii: "a"): return array(&codes, &input, depth + 1)
    case UInt8(ascii: "("):
      var members: [BusValue] = []
      while let code = codes.first, code != UInt8(ascii: ")") {
        if let value = value(&codes, &input, depth) { members.append(value) }
      }
      _ = codes.popFirst()
      return .structure(members)
    default: return nil
    }
  }

  private static func array(_ codes: inout Substring.UTF8View, _ input: inout FuzzInput, _ depth: Int) -> BusValue? {
    let count = Int(input.octet() & 7)
    let start = codes
    guard codes.first == UInt8(ascii: "{") else {
      if codes.first == UInt8(ascii: "y") {
        _ = codes.popFirst()
        return .bytes(input.octets(count * count * 11))
      }
      var values: [BusValue] = []
      // Without an element the type is read all the same.
      for _ in 0..<max(count, 1) {
        codes = start
        if let value = value(&codes, &input, depth) { values.append(value) }
      }
      let element = String(decoding: start[..<codes.startIndex], as: UTF8.self)
      return .array(of: element, count == 0 ? [] : values)
    }
    var entries: [BusValue.Entry] = []
    for _ in 0..<max(count, 1) {
      codes = start.dropFirst()
      guard let key = value(&codes, &input, depth), let value = value(&codes, &input, depth) else { return nil }
      entries.append(BusValue.Entry(key, value))
    }
    let types = String(decoding: start.dropFirst()[..<codes.startIndex], as: UTF8.self)
    _ = codes.popFirst()
    return .dictionary(key: String(types.prefix(1)), value: String(types.dropFirst()), count == 0 ? [] : entries)
  }
}
