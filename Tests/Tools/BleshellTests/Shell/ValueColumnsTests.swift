import Bluetooth
import Testing
import ValueFormats

@testable import bleshell

/// Several devices in one command.
@Suite struct ValueColumnsTests {
  @Test("words name devices and their characteristics, with a + between them")
  func words() throws {
    #expect(try DeviceWords.groups([], of: .read).isEmpty && DeviceWords.groups(["2A19"], of: .read).isEmpty)
    #expect(
      try DeviceWords.groups(["Belt", "2A37", "2A19"], of: .read)
        == [.init(device: "Belt", characteristics: ["2A37", "2A19"])])
    #expect(
      try DeviceWords.groups(["Belt", "2A37", "+", "Echo", "2A19"], of: .read)
        == [.init(device: "Belt", characteristics: ["2A37"]), .init(device: "Echo", characteristics: ["2A19"])])
    for words in [
      ["+"], ["Belt", "+"], ["Belt", "2A37", "+"], ["+", "Belt", "2A37"], ["A", "B", "+", "+", "C", "D"],
    ] {
      #expect(throws: Failure.self, "\(words)") { try DeviceWords.groups(words, of: .read) }
    }
  }

  @Test("columns have names of their own, and cells without a value are empty")
  func columns() throws {
    var state = Attribute(handle: 3, uuid: 0xFFF1, properties: [])
    state.format = try ValueFormat("u8 state, bool door, flags8(low|full) battery")
    let battery = Attribute(handle: 5, uuid: 0x2A19, properties: [])
    let columns = ValueColumns([
      .init(name: "Hall", address: "C0:DE:00:00:00:01", attributes: [state]),
      .init(name: "Hall", address: "C0:DE:00:00:00:02", attributes: [battery, battery]),
    ])
    #expect(
      columns.heading == """
        time,date,Hall C0:DE:00:00:00:01: FFF1 state,Hall C0:DE:00:00:00:01: FFF1 door,\
        Hall C0:DE:00:00:00:01: FFF1 battery,Hall C0:DE:00:00:00:02: Battery Level 0x0005 (%),\
        Hall C0:DE:00:00:00:02: Battery Level 0x0005 (%)
        """)
    let values: [ValueColumns.Place: [UInt8]] = [
      .init(device: 0, attribute: 0): [3, 1, 3], .init(device: 1, attribute: 1): [0x40],
    ]
    #expect(columns.row(values, at: 1.5) == "1.5,1970-01-01T00:00:01.500Z,3,true,low full,,64")
    #expect(columns.row([.init(device: 0, attribute: 0): [3]], at: 1.5) == "1.5,1970-01-01T00:00:01.500Z,,,,,")
    #expect(columns.row([.init(device: 1, attribute: 0): []], at: 1.5).hasSuffix(",,,,,"))
  }

  @Test("results of TAP have no directives of the lines themselves")
  func results() {
    var report = TAPReport()
    #expect(report.lines(3, "name 2A19 # x", .passed) == ["ok 1 - 3: name 2A19 \\# x"])
    #expect(report.lines(4, "rssi", .failed("one\ntwo")) == ["not ok 2 - 4: rssi", "# one", "# two"])
  }
}
