import Adapter
import Bluetooth
import Scenarios

@testable import SimulatedAdapter

/// Devices on the air of a simulation: some to connect to, well behaved or not, very many that only advertise, and
/// phones that visit the services that clients advertise.
struct Population {
  /// The number of advertising devices.
  static let advertisers = 2000
  /// The number of well behaved ones.
  static let polite = 60
  /// The number of misbehaving ones.
  static let bad = 40
  /// The number of phones.
  static let phones = 12
  /// The number of links of each of the two adapters.
  static let linksPerAdapter = 25
  /// The time between two values of a well behaved device.
  static let period = Duration.seconds(120)
  /// The service that phones look for.
  static let visited: BluetoothUUID = 0xFFE0

  /// The address of a device.
  static func address(_ number: Int) -> DeviceAddress {
    DeviceAddress(value: 0xC0DE_0000_0000 | UInt64(number), kind: .random)
  }

  /// The number of a device that can be connected to, from its address.
  static func number(of address: String) -> Int? {
    DeviceAddress(address, kind: .random).map { Int($0.value & 0xFFFF) }
  }

  private static let adapter = "{ links: \(linksPerAdapter), advertisingSets: 8 }"

  /// The fault of a device that sends values as fast as it can.
  private static let flood = "disconnectAfter: [5, 60]"

  /// True if a device sends values as fast as it can.
  static func floods(_ number: Int) -> Bool {
    (polite..<polite + bad).contains(number) && faults[number % faults.count] == flood
  }

  /// The faults of the bad devices, each in turn.
  private static let faults = [
    "disconnectAfter: [1, 120]",
    "losses: { connect: 0.3, link: [5, 300] }",
    "faults: { mute: [0, 60] }",
    "faults: { nonsense: 0.2 }",
    "faults: { changeServices: [20, 200] }",
    flood,
    "responseDelay: [0, 40]",
    "losses: { connect: 1 }",
  ]

  /// The scenario of the first adapter, which everybody on the air is part of.
  static func scenario(_ generator: inout SeededGenerator) throws -> Scenario {
    var devices: [String] = []
    for number in 0..<advertisers {
      let isConnectable = number < polite + bad
      let interval = isConnectable ? generator.number(in: 30...120) : generator.number(in: 600...3600)
      var members =
        "name: \"d\(number)\", address: \"\(address(number))\", addressType: \"random\", interval: \(interval)"
      members += ", rssi: { base: \(generator.number(in: -95 ... -40)), noise: 3, walk: 1 }"
      if isConnectable {
        let fault = number < polite ? "losses: { connect: 0.1 }" : faults[number % faults.count]
        members += ", advertising: { name: \"d\(number)\", services: [\"180D\"] }, \(fault)"
        members += ", services: [\(services(floods: floods(number)))]"
      } else {
        members +=
          ", connectable: false, advertising: { name: \"d\(number)\", manufacturerData: \"FFFF0\(number % 10)\" }"
      }
      devices.append("{ \(members) }")
    }
    let phones = (0..<phones).map { number in
      """
      { name: "p\(number)", address: "\(address(0x8000 + number))", addressType: "random", services: ["\(visited)"],
        stay: [5, 120], returnAfter: [300, 1800], script: [{ do: "read" }, { do: "subscribe" },
        { do: "write", value: "0102" }, { do: "wait", seconds: [1, 60] }, { do: "write", text: "\(long)" }] }
      """
    }
    return try Scenario(
      json: "{ adapter: \(adapter), devices: [\(devices.joined(separator: ",\n"))],"
        + " phones: [\(phones.joined(separator: ",\n"))] }")
  }

  /// The scenario of the second adapter: only the adapter itself.
  static func bystander() throws -> Scenario { try Scenario(json: "{ adapter: \(adapter) }") }

  private static let long = String(repeating: "long ", count: 60)

  private static func services(floods: Bool) -> String {
    let every = floods ? 0.02 : period.inSeconds
    return """
      { uuid: "1815", characteristics: [{ uuid: "2A56", text: "value", length: 300,
        properties: ["read", "write", "writeWithoutResponse", "indicate"], rule: { kind: "echo" } }] },
      { uuid: "180D", characteristics: [{ uuid: "2A37", properties: ["read", "notify"], notifyEvery: \(every),
        rule: { kind: "counter", as: "uint32", to: 4000000000, every: \(every) } }] }
      """
  }
}
