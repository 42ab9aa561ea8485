import Bluetooth
import JSONFiles
import Testing

@testable import Scenarios

/// A device with these members besides name and address.
private func device(_ members: String) -> String {
  "{ devices: [{ name: 'a', address: 'C0:00:00:00:00:01', \(members) }] }"
}

/// Scenario files, and the errors about mistakes in them.
struct ScenarioTests {
  @Test func theBuiltinScenarioHoldsWhatTheDemoNeeds() throws {
    let scenario = try Scenario(json: Scenario.builtinText)
    #expect(scenario.devices.map(\.name) == ["Heart Belt", "Thermometer", "Battery", "Echo"])
    #expect(scenario.phones.count == 1)
    #expect(Scenario.builtin.devices.count == 4)
    let belt = AdvertisingData(parsing: scenario.devices[0].data)
    #expect(belt.localName == "Heart Belt")
    #expect(belt.serviceUUIDs == [0x180D])
    let echo = AdvertisingData(parsing: scenario.devices[3].scanResponse)
    #expect(echo.localName == "Echo")
    #expect(scenario.devices[3].services[0].characteristics[1].value.template.count == 512)
  }

  @Test func theExampleIsValid() throws {
    let sources = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
    let scenario = try Scenario(contentsOf: "/\(sources)/Examples/scenarios/lock.json")
    let words = scenario.devices.map { $0.pairing?.capability.rawValue }
    #expect(words == ["none", "display", "keyboard", "displayYesNo", "none"])
    #expect(scenario.devices[0].services[0].characteristics.map(\.security.subscribe.level) == [2, 2, 2])
    #expect(scenario.phones.map(\.privateAddress) == [.seconds(900)])
  }

  @Test func aMissingFileIsNamed() {
    let error = #expect(throws: FileError.self) { try Scenario(contentsOf: "/no/such/file.json") }
    #expect(error?.file == "/no/such/file.json")
    #expect(error?.message.contains("check its name") == true)
  }

  @Test(arguments: [
    ("{ devices: [\n ] ]", "", "a comma or } is missing"),
    ("{ devises: [] }", "devises", "give one of adapter, devices, phones, events"),
    ("{ devices: {} }", "devices", "a list in brackets"),
    ("{ devices: [{ address: 'C0:00:00:00:00:01' }] }", "devices[0]", "\"name\" is missing"),
    ("{ devices: [{ name: 'a' }] }", "devices[0].address", "give the device an address"),
    ("{ devices: [{ name: 'a', address: 'C0:00' }] }", "devices[0].address", "is not an address"),
    ("{ devices: [{ name: 7, address: 'C0:00' }] }", "devices[0].name", "a string in quotation marks"),
    ("{ events: [{ at: 1, action: 'loseKeys' }] }", "events[0].action", "name a \"device\""),
    ("{ seed: -1 }", "seed", "from 0 to"),
    (device("pairing: { capability: 'touch' }"), "devices[0].pairing.capability", "displayYesNo"),
    (device("pairing: { passkey: 1000000 }"), "devices[0].pairing.passkey", "from 0 to"),
    (device("pairing: true"), "devices[0].pairing", "an object in braces"),
    (device("privateAddress: 0"), "devices[0].privateAddress", "out of range"),
    (
      device("services: [{ uuid: 'FFF0', characteristics: [{ uuid: 'FFF1', security: 'high' }] }]"),
      "devices[0].services[0].characteristics[0].security", "secureConnections"
    ),
    (
      device("services: [{ uuid: 'FFF0', characteristics: [{ uuid: 'FFF1', security: { notify: 'none' } }] }]"),
      "devices[0].services[0].characteristics[0].security.notify", "subscribe"
    ),
    ("{ events: [{ at: 1, action: 'explode' }] }", "events[0].action", "vanish, comeBack, powerOff, powerOn"),
    ("{ events: [{ at: 1, action: 'vanish', device: 'x' }] }", "events", "there is no device \"x\""),
    (
      "{ devices: [{ name: 'x', address: 'C0:00:00:00:00:01' }, { name: 'x', address: 'C0:00:00:00:00:02' }], "
        + "events: [{ at: 1, action: 'vanish', device: 'x' }] }",
      "events", "several devices have the name \"x\""
    ),
    (
      "{ phones: [{ name: 'p', address: 'C0:00:00:00:00:01', script: [{ do: 'write' }] }] }",
      "phones[0].script[0].value", "nothing to write"
    ),
    ("{ adapter: { mtu: 600 } }", "adapter.mtu", "from 23 to 517"),
    ("{ adapter: { mtu: 23.5 } }", "adapter.mtu", "whole number"),
  ])
  func aMistakeIsNamedWithItsPlaceAndRemedy(_ text: String, _ path: String, _ message: String) {
    let error = #expect(throws: FileError.self) { try Scenario(json: text, name: "my.json") }
    #expect(error?.file == "my.json" && error?.place != nil)
    #expect(error?.path == path)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func aMistakeHasItsLineAndColumn() {
    let text = "{\n  adapter: { mtu: 600 }, // too much\n}"
    let error = #expect(throws: FileError.self) { try Scenario(json: text, name: "my.json") }
    #expect(
      error?.description
        == "my.json:2:19: adapter.mtu: 600.0 is not valid: give a whole number from 23 to 517")
  }

  @Test(arguments: [
    ("interval: 0.001", "devices[0].interval", "from 0.02"),
    ("losses: { connect: 2 }", "devices[0].losses.connect", "from 0.0 to 1.0"),
    ("connectDelay: [3, 1]", "devices[0].connectDelay", "such as 2, or a range, such as [1, 3]"),
    ("advertising: { name: 'a', raw: '123' }", "devices[0].advertising.raw", "is not hex"),
    ("advertising: { manufacturerData: '00' }", "devices[0].advertising.manufacturerData", "company is missing"),
    (
      "advertising: { manufacturerData: '00000102030405060708090a0b0c0d0e0f101112131415161718191a1b' }, scanResponse: {}",
      "devices[0].advertising", "only 28 are left"
    ),
    ("firmware: { buffers: 0 }", "devices[0].firmware.buffers", "from 1 to 64"),
    ("firmware: { faults: { lost: 1 } }", "devices[0].firmware.faults.lost", "disconnectAt"),
    ("rssi: NaN", "devices[0].rssi", "-127 to 20"), ("rssi: 1e300", "devices[0].rssi", "-127 to 20"),
    ("services: [{ uuid: 'xyz' }]", "devices[0].services[0].uuid", "is not a UUID"),
    (
      "services: [{ uuid: '180D', characteristics: [{ uuid: '2A37', properties: ['shout'] }] }]",
      "devices[0].services[0].characteristics[0].properties[0]", "is not valid: give one of"
    ),
    (
      "services: [{ uuid: '180D', characteristics: [{ uuid: '2A37', value: 'zz' }] }]",
      "devices[0].services[0].characteristics[0].value", "two hex digits"
    ),
    (
      "services: [{ uuid: '180D', characteristics: [{ uuid: '2A37', notifyEvery: 1 }] }]",
      "devices[0].services[0].characteristics[0].notifyEvery", "cannot be subscribed to"
    ),
    (
      "services: [{ uuid: '180D', characteristics: [{ uuid: '2A37', length: 513 }] }]",
      "devices[0].services[0].characteristics[0].length", "0 to 512"
    ),
    (
      "services: [{ uuid: '180D', characteristics: [{ uuid: '2A37', properties: ['write'], rule: { kind: 'counter' } }] }]",
      "devices[0].services[0].characteristics[0].rule", "cannot be written"
    ),
    (
      "services: [{ uuid: '180D', characteristics: [{ uuid: '2A37', rule: { kind: 'echo', of: '2A19' } }] }]",
      "devices[0].services", "echoes 2A19"
    ),
    (
      "services: [{ uuid: '180D', characteristics: [{ uuid: '2A37', "
        + "rule: { kind: 'sine', mean: 200, amplitude: 60, period: 1 } }] }]",
      "devices[0].services[0].characteristics[0].rule.kind", "reaches 260.0"
    ),
    (
      "services: [{ uuid: '180D', characteristics: [{ uuid: '2A37', rule: { kind: 'sine' } }] }]",
      "devices[0].services[0].characteristics[0].rule", "\"mean\" is missing"
    ),
    (
      "services: [{ uuid: '180D', characteristics: [{ uuid: '2A37', rule: { kind: 'counter', at: 512 } }] }]",
      "devices[0].services[0].characteristics[0].rule", "after octet 512"
    ),
  ])
  func aMistakeInADeviceIsNamedWithItsPlaceAndRemedy(_ members: String, _ path: String, _ message: String) {
    let error = #expect(throws: FileError.self) { try Scenario(json: device(members)) }
    #expect(error?.path == path)
    #expect(error?.message.contains(message) == true, "\(error?.message ?? "")")
  }

  @Test func twoOfTheSameAddressAreRefused() {
    let one = "{ name: 'a', address: 'C0:00:00:00:00:01' }"
    let error = #expect(throws: FileError.self) { try Scenario(json: "{ devices: [\(one), \(one)] }") }
    #expect(error?.message.contains("C0:00:00:00:00:01") == true)
  }

  @Test("an event names one device by its octets, or one device or phone that loses its keys")
  func names() throws {
    func faults(_ action: String, _ name: String) -> String? {
      let parties = """
        devices: [{ name: "a", address: "C0:00:00:00:00:01" }, { name: "\u{E9}", address: "C0:00:00:00:00:02" }],
        phones: [{ name: "a", address: "C0:00:00:00:00:03" }, { name: "p", address: "C0:00:00:00:00:04" }],
        """
      do throws(FileError) {
        _ = try Scenario(json: "{ \(parties) events: [{ at: 1, action: '\(action)', device: \"\(name)\" }] }")
        return nil
      } catch {
        return error.message
      }
    }
    #expect(faults("vanish", "a") == nil && faults("vanish", "\u{E9}") == nil && faults("loseKeys", "p") == nil)
    #expect(faults("loseKeys", "a")?.contains("several devices have the name \"a\"") == true)
    #expect(faults("vanish", "p")?.contains("there is no device \"p\"") == true)
    #expect(faults("vanish", "e\u{301}")?.contains("there is no device") == true, "other octets")
  }

  @Test func rawDataIsTakenAsItIs() throws {
    let scenario = try Scenario(json: device("advertising: { raw: '020106ff' }, scanResponse: { raw: '0309' }"))
    #expect(scenario.devices[0].data == [2, 1, 6, 0xFF])
    #expect(scenario.devices[0].scanResponse == [3, 9])
  }

  @Test func allFieldsOfAnAdvertisementAreEncoded() throws {
    let scenario = try Scenario(
      json: device(
        """
        advertising: { services: ["180F"], serviceData: { "180F": "64" }, manufacturerData: "ffff01", txPower: -4 },
        scanResponse: { name: "Tag", appearance: 512 }
        """))
    let data = AdvertisingData(parsing: scenario.devices[0].data)
    #expect(data.serviceData.map(\.data) == [[0x64]])
    #expect(data.manufacturerData.map(\.company) == [0xFFFF])
    #expect(data.txPowerLevel == -4)
    let response = AdvertisingData(parsing: scenario.devices[0].scanResponse)
    #expect(response.localName == "Tag")
    #expect(response.appearance == 512)
    #expect(response.flags == nil)
  }

  @Test("devices of one name, and names that are cut or not advertised, are warnings")
  func warnings() throws {
    func warnings(_ devices: String) throws -> [String] { try Scenario(json: "{ devices: [\(devices)] }").warnings }
    func device(_ name: String, _ number: Int, _ advertising: String) -> String {
      "{ name: \"\(name)\", address: \"02:00:00:00:00:0\(number)\", advertising: \(advertising) },"
    }
    let plain = device("A", 1, "{ name: \"A\" }")
    #expect(try warnings(plain).isEmpty && Scenario.builtin.warnings.isEmpty)
    let two = try warnings(plain + device("A", 2, "{ name: \"A\" }"))
    #expect(two == ["several devices are called \"A\": commands with this name are ambiguous"])
    #expect(
      try warnings(device("B", 1, "{ services: [\"180F\"] }")).first?.hasPrefix("\"B\" advertises no name") == true)
    let long = "A name of more octets than an advertisement has"
    #expect(try warnings(device(long, 1, "{ name: \"\(long)\" }")).first?.contains("which was cut to fit") == true)
    #expect(try warnings(device("C", 1, "{ name: \"D\" }")) == ["\"C\" advertises another name, \"D\""])
  }
}
