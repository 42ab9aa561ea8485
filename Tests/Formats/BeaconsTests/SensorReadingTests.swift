import Bluetooth
import Testing

@testable import Beacons

/// The measurements of a device over several packets.
@Suite struct SensorReadingTests {
  private func data(_ kind: String, _ members: KeyValuePairs<String, DecodedData.Value>) -> DecodedData {
    DecodedData(kind: kind, members: members.map { .init(name: $0.key, value: $0.value) })
  }

  @Test("Measurements come in the order of a table, with units, and without counters and the battery")
  func values() throws {
    let reading = try #require(
      SensorReading([
        data(
          "ruuviTag",
          [
            "accelerationX": .number(0.004), "humidity": .number(53.49), "pressure": .number(1000.44),
            "sequence": .integer(7), "temperature": .number(24.3), "txPower": .integer(4), "voltage": .number(2.977),
          ])
      ]))
    #expect(reading.format == "RuuviTag" && reading.problem == nil)
    #expect(reading.measurements.map(\.text) == ["24.3 °C", "53.49 %", "1000.44 hPa", "0.004 g"])
    #expect(reading.measurements.map(\.title) == ["temperature", "humidity", "pressure", "acceleration X"])
    #expect(reading.battery?.text == "2.977 V")
  }

  @Test("A packet with some of the values leaves the others")
  func parts() throws {
    var reading = try #require(SensorReading([data("miBeacon", ["temperature": .number(21.5)])]))
    reading.update([data("miBeacon", ["battery": .integer(80), "packet": .integer(3)])])
    reading.update([data("miBeacon", ["temperature": .number(22), "windowOpen": .flag(true)])])
    #expect(reading.measurements.map { "\($0.title) \($0.text)" } == ["temperature 22.0 °C", "window open yes"])
    #expect(reading.battery?.text == "80 %")
  }

  @Test("Encrypted data is a problem until it can be read; beacons are no sensors")
  func problems() throws {
    var reading = try #require(
      SensorReading([data("bthome", ["encrypted": .flag(true), "key": .text("missing"), "counter": .integer(1)])]))
    #expect(reading.problem == "encrypted, the key is missing" && reading.values.isEmpty)
    reading.update([data("bthome", ["encrypted": .flag(true), "temperature2": .number(1)])])
    #expect(reading.problem == nil && reading.values.map(\.title) == ["temperature 2"])
    #expect(SensorReading([data("iBeacon", ["major": .integer(1)])]) == nil)
    #expect(SensorReading([data("bthome", ["packet": .integer(1)])]) == nil)
    #expect(SensorReading([]) == nil)
  }

  @Test("A device has a limited number of values")
  func limit() throws {
    var reading = try #require(SensorReading([data("later", ["temperature": .integer(1)])]))
    for number in 2..<200 { reading.update([data("later", ["temperature\(number)": .integer(number)])]) }
    #expect(reading.format == "later" && reading.values.count == SensorReading.limit)
  }
}
