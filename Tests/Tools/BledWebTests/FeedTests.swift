import BledClient
import Bluetooth
import FoundationEssentials
import Testing
import ValueFormats

@testable import BledWeb

/// The events that pages are sent of the devices, values and the status.
@Suite struct FeedTests {
  private let feed = Feed(words: { $0.name.map { [$0] } ?? [] })

  private func report(
    _ device: String, _ rssi: Int = -60, data: [UInt8] = [], name: String? = nil, at time: Double = 1
  ) throws -> RPCMessage {
    var report = ScanReport.Params(
      peripheral: device, adapter: "hci0", address: "C0:DE:00:00:00:01", addressType: .init(.random), connectable: true,
      data: HexBytes(data), time: time)
    (report.rssi, report.name) = (rssi, name)
    return try RPCMessage(line: RPCEncoding.notification(ScanReport.self, report).dropLast())
  }

  /// The events that are new to a page: names and contents.
  private func events(_ place: inout Feed.Place, air: Bool = true) throws -> [(name: String, content: JSONValue)] {
    let text = String(decoding: feed.events(after: &place, withAir: air, now: 10), as: UTF8.self)
    return try text.components(separatedBy: "\n\n").dropLast().map { event in
      let lines = event.split(separator: "\n")
      let data = try #require(lines.last?.dropFirst("data: ".count))
      let content = try JSONDecoder().decode(JSONValue.self, from: Data(data.utf8))
      return (String(lines[0].dropFirst("event: ".count)), content)
    }
  }

  private func member(_ name: String, of value: JSONValue?) -> JSONValue? {
    if case .object(let members) = value { members[name] } else { nil }
  }

  private func devices(_ content: JSONValue?) -> [JSONValue] {
    if case .array(let devices) = member("devices", of: content) { devices } else { [] }
  }

  @Test("A new page receives all devices, later only the changes, without the parts that are the same")
  func changes() throws {
    var place = feed.start
    feed.received(try report("a"))
    feed.received(try report("b"))
    let first = try events(&place)
    #expect(first.map(\.name) == ["air"] && member("whole", of: first[0].content) == true)
    #expect(devices(first[0].content).count == 2)
    #expect(devices(first[0].content).allSatisfy { member("address", of: $0) == "C0:DE:00:00:00:01" })
    #expect(try events(&place).isEmpty)
    feed.received(try report("a", -50, at: 1.5))
    let second = try events(&place)
    #expect(
      devices(second.first?.content) == [
        ["id": "a", "rssi": -50, "heard": 1500, "count": 2, "interval": 500]
      ])
    feed.received(try report("a", data: [2, 1, 6]))
    #expect(member("text", of: devices(try events(&place).first?.content).first) == "")
  }

  @Test("A name that is heard without other data is told")
  func name() throws {
    feed.received(try report("a"))
    var place = feed.start
    _ = try events(&place)
    feed.received(try report("a", name: "Gürtel"))
    #expect(member("name", of: devices(try events(&place).first?.content).first) == "Gürtel")
    #expect(feed.device("a")?.text == ["Gürtel"])
  }

  @Test("A page that was opened before the first report receives all of the first device")
  func first() throws {
    var place = feed.start
    #expect(devices(try events(&place).first?.content).isEmpty)
    feed.received(try report("a"))
    feed.received(try report("a"))
    #expect(member("address", of: devices(try events(&place).first?.content).first) == "C0:DE:00:00:00:01")
  }

  @Test("A page that was not served for long receives the latest state once, and removals")
  func slow() throws {
    var place = feed.start
    _ = try events(&place)
    for number in 0..<10_000 { feed.received(try report("a", -40 - number % 50)) }
    feed.received(try report("b"))
    feed.lost("b")
    let late = try events(&place)
    #expect(late.count == 1 && devices(late[0].content).count == 1)
    #expect(member("gone", of: late[0].content) == ["b"])
    feed.clear()
    #expect(member("whole", of: try events(&place).first?.content) == true)
  }

  @Test("A page that missed more removals than are kept receives all devices anew")
  func forgotten() throws {
    var place = feed.start
    _ = try events(&place)
    feed.received(try report("stays"))
    for number in 0..<3000 {
      feed.received(try report("\(number)"))
      feed.lost("\(number)")
    }
    let late = try events(&place)
    #expect(member("whole", of: late.first?.content) == true && devices(late.first?.content).count == 1)
  }

  @Test("Devices beyond the limit are counted")
  func limit() throws {
    for number in 0..<AirTable.maximumDevices + 3 { feed.received(try report("\(number)")) }
    feed.received(try report("0"))
    var place = feed.start
    let air = try events(&place).first?.content
    #expect(devices(air).count == AirTable.maximumDevices && member("unlisted", of: air) == 3)
  }

  /// BTHome: a battery of 87 %, and a temperature of 25.06 °C.
  private func sensor(_ device: String, at time: Double = 1) throws -> RPCMessage {
    var report = ScanReport.Params(
      peripheral: device, adapter: "hci0", address: "C0:DE:00:00:00:01", addressType: .init(.random),
      connectable: false, data: HexBytes([9, 0x16, 0xD2, 0xFC, 0x40, 1, 87, 2, 0xCA, 9]), time: time)
    report.decoded = [
      DecodedData(
        kind: "bthome",
        members: [.init(name: "battery", value: .integer(87)), .init(name: "temperature", value: .number(25.06))])
    ]
    return try RPCMessage(line: RPCEncoding.notification(ScanReport.self, report).dropLast())
  }

  @Test("A sensor has its measurements, and stays for an hour after its last report")
  func sensors() throws {
    var place = feed.start
    feed.received(try sensor("a"))
    feed.received(try report("b"))
    let first = devices(try events(&place).first?.content)
    let temperature: JSONValue = ["name": "temperature", "rank": 0, "text": "25.06 °C", "title": "temperature"]
    let sensor = first.compactMap { member("sensor", of: $0) }.first { $0 != .null }
    #expect(sensor == ["format": "BTHome", "problem": .null, "battery": "87 %", "values": [temperature]])
    feed.lost("a")
    feed.lost("b")
    let later = try events(&place).first?.content
    #expect(member("gone", of: later) == ["b"] && devices(later).map { member("silent", of: $0) } == [true])
    feed.received(try self.sensor("a", at: 60))
    #expect(devices(try events(&place).first?.content).map { member("silent", of: $0) } == [false])
    feed.clear()
    #expect(devices(try events(&place).first?.content).map { member("silent", of: $0) } == [true])
    feed.expire(at: 3600)
    #expect(feed.device("a") != nil)
    feed.expire(at: 3661)
    #expect(feed.device("a") == nil)
  }

  @Test("Of the sensors that are silent a limited number stays")
  func silentSensors() throws {
    for number in 0...AirTable.maximumSilent {
      feed.received(try sensor("\(number)", at: Double(number)))
      feed.lost("\(number)")
    }
    #expect(feed.device("0") == nil && feed.device("1") != nil)
  }

  @Test("Names that the user gives are told when they change")
  func names() throws {
    feed.received(try report("a", name: "advertised"))
    var place = feed.start
    _ = try events(&place)
    feed.setNames(try NameList("C0:DE:00:00:00:01 = Balcony"))
    let device = devices(try events(&place).first?.content).first
    #expect(member("name", of: device) == "Balcony" && member("advertised", of: device) == "advertised")
    feed.setNames(try NameList("C0:DE:00:00:00:01 = Balcony"))
    #expect(try events(&place).isEmpty)
  }

  @Test("The history has the last changes of the data")
  func history() throws {
    for octet in UInt8(0)..<20 {
      feed.received(try report("a", data: [2, 1, octet]))
      feed.received(try report("a", data: [2, 1, octet]))
    }
    let device = try #require(feed.device("a"))
    #expect(device.history.map(\.data.octets) == (12..<20).map { [2, 1, $0] } && device.count == 40)
    #expect(feed.device("b") == nil)
  }

  @Test("A page receives the values that are kept, as it may have been hidden; those that it missed later are counted")
  func values() throws {
    let value = { (octet: UInt8) in
      ValueLog.Entry(device: "a", handle: 3, value: ValueDescription([octet], of: 0x2A19, nil, at: 1))
    }
    feed.value(value(2))
    var place = feed.start
    let content = try events(&place, air: false).first?.content
    #expect(
      member("values", of: content) == [
        [
          "device": "a", "handle": 3,
          "value": ["time": 1, "hex": "02", "text": "2 %", "number": 2, "unit": "%"],
        ]
      ])
    for octet in 0..<5000 { feed.value(value(UInt8(octet % 100))) }
    let late = try events(&place, air: false).first?.content
    guard case .array(let kept) = member("values", of: late), case .integer(let lost) = member("lost", of: late) else {
      Issue.record("no values")
      return
    }
    #expect(kept.count <= ValueLog.maximum && kept.count + lost == 5000)
    var new = feed.start
    let first = try events(&new, air: false).first?.content
    #expect(member("lost", of: first) == 0)
  }

  @Test("A status is sent once, and again when it differs")
  func status() throws {
    var place = feed.start
    feed.setStatus(Data("{\"a\":1}".utf8))
    #expect(try events(&place, air: false).map(\.name) == ["status"])
    feed.setStatus(Data("{\"a\":1}".utf8))
    #expect(try events(&place, air: false).isEmpty)
    feed.setStatus(Data("{\"a\":2}".utf8))
    #expect(try events(&place, air: false).map(\.content) == [["a": 2]])
  }
}
