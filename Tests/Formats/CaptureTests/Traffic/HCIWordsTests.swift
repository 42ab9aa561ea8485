import Bluetooth
import HCI
import Testing

@testable import Capture

/// Commands and events of HCI in words.
@Suite struct HCIWordsTests {
  private static func entries(commands: Bool, _ packets: (MonitorPacket.Kind, String)...) -> [TrafficEntry] {
    var decoder = TrafficDecoder(commands: commands)
    return packets.flatMap { kind, text in
      let octets = Hex.decode(text.replacing(" ", with: "")) ?? []
      return decoder.decode(CaptureRecord(adapter: 0, packet: MonitorPacket(kind, octets), time: 1))
    }
  }

  @Test("A command, the event that answers it, and the failure of one")
  func commands() {
    let entries = Self.entries(
      commands: true, (.command, "4220 06 01 00 0000 0000"), (.event, "0e04 01 4220 00"), (.command, "0320 00"),
      (.event, "0e0c 01 0320 00 0000000000000000"), (.event, "0f04 0c 01 4320"), (.command, "01fc 01 aa"),
      (.command, "ff20 00"), (.event, "0e03 01 0000"))
    #expect(
      entries.map(\.text) == [
        "LE Set Extended Scan Enable", "Command Complete, LE Set Extended Scan Enable",
        "LE Read Local Supported Features", "Command Complete, LE Read Local Supported Features",
        "Command Status, LE Extended Create Connection: 0x0c commandDisallowed", "Vendor Command 0xfc01",
        "Command 0x20ff", "Command Complete",
      ])
    #expect(entries.map(\.command) == [0x2042, 0x2042, 0x2003, 0x2003, 0x2043, 0xFC01, 0x20FF, nil])
    #expect(entries.map(\.event) == [nil, 0x0E, nil, 0x0E, 0x0F, nil, nil, 0x0E])
    #expect(
      entries.map(\.value) == [[1, 0, 0, 0, 0, 0], nil, nil, [0, 0, 0, 0, 0, 0, 0, 0], nil, [0xAA], nil, nil])
    #expect(entries.allSatisfy { $0.direction == ($0.event == nil ? .sent : .received) && $0.opcode == nil })
  }

  @Test("Events with words of their own keep them; others have the name, and the device of their link")
  func events() {
    let entries = Self.entries(
      commands: true, (.event, "3e13 01 00 4000 00 01 0100000000c0 1800 0000 2a00 00"), (.event, "1305 01 4000 0200"),
      (.command, "1620 02 4000"), (.event, "3e04 12 00 4000"), (.event, "3e02 77 01"), (.event, "ff01 02"),
      (.event, "3e01 03"))
    #expect(
      entries.map(\.text) == [
        "connected as central, interval 30 ms", "Number Of Completed Packets", "LE Read Remote Features",
        "LE Advertising Set Terminated, malformed", "LE Event 0x77", "Vendor Event",
        "LE Connection Update Complete, malformed",
      ])
    let peer = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
    #expect(entries.map(\.peer) == [peer, peer, peer, nil, nil, nil, nil])
  }

  @Test(
    "Events of Channel Sounding have their content",
    arguments: [
      (
        "2c 00 4000 04 0000 02 04 03 02",
        "Read Remote Supported Capabilities Complete, 4 configurations, 2 antennas"
          + ", initiator, reflector"
      ),
      ("2c 1a 4000 00", "Read Remote Supported Capabilities Complete: 0x1a unsupportedRemoteFeature"),
      ("2e 00 4000", "Security Enable Complete"),
      ("2f 00 4000 01 01 02 ff 03 05 00 03 00 00 01", "Config Complete, configuration 1, mode 2, initiator"),
      ("2f 00 4000 01 01 02 01 03 05 00 03 01 00 01", "Config Complete, configuration 1, mode 2 with 1, reflector"),
      ("2f 00 4000 01 00 00 00 00 00 00 00 00 00 00", "Config Complete, configuration 1 removed"),
      ("30 00 4000 01 01 00", "Procedure Enable Complete, configuration 1 enabled"),
      (
        "31 4000 01 0500 0700 0000 d8 01 00 00 01 03  00 02 01 aa  02 03 02 bbcc  02 05 00",
        "Subevent Result, configuration 1, procedure 7, reference power -40 dBm, 3 steps (1 of mode 0, 2 of mode 2)"
          + ", subevent complete"
      ),
      (
        "32 4000 01 0f 0f 11 01 01  02",
        "Subevent Result Continue, configuration 1, 1 step, procedure aborted"
          + ", subevent aborted"
      ),
      ("31 4000 01", "Subevent Result"), ("33 00", "Test End Complete"),
    ])
  func channelSounding(octets: String, text: String) {
    let octets = Hex.decode(octets.replacing(" ", with: "")) ?? []
    let length = Hex.encode([UInt8(octets.count)])
    let entries = Self.entries(
      commands: true, (.event, "3e13 01 00 4000 00 01 0100000000c0 1800 0000 2a00 00"),
      (.event, "3e\(length)" + Hex.encode(octets)))
    #expect(entries.last?.text == "LE CS \(text)")
    let hasLink = octets.count > 4 || octets[0] == 0x2E
    #expect((entries.last?.peer != nil) == hasLink)
  }

  @Test(
    "Features of a controller have their names, or their numbers if these are newer",
    arguments: [
      (
        "3e0c 04 00 4000 0109000000c00000",
        "LE Read Remote Features Complete, LE Encryption, LE 2M PHY, LE Coded PHY, Channel Sounding"
          + ", Channel Sounding (Host Support)"
      ),
      ("3e04 04 1a 4000", "LE Read Remote Features Complete, malformed"),
      ("3e0c 04 1a 4000 0109000000000000", "LE Read Remote Features Complete"),
      (
        "0e0c 01 0320 00 0000000000000084",
        "Command Complete, LE Read Local Supported Features, unknown feature bit 58, LL Extended Feature Set"
      ),
      (
        "3efe 2b 00 4000 0a 01 0000000000000080 0307" + String(repeating: "00", count: 238),
        "LE Read All Remote Features Complete, LL Extended Feature Set, Monitoring Advertisers, Frame Space Update"
          + ", Shorter Connection Intervals, Shorter Connection Intervals (Host Support), LE Flushable ACL Data"
      ),
      (
        "0e11 01 8720 00 0a 0000000000000000 00000080",
        "Command Complete, LE Read All Local Supported Features, unknown feature bit 95"
      ),
      ("0e05 01 8720 00 00", "Command Complete, LE Read All Local Supported Features"),
      ("3e02 36 00", "LE UTP Receive"),
    ])
  func features(octets: String, text: String) {
    let entries = Self.entries(
      commands: true, (.event, "3e13 01 00 4000 00 01 0100000000c0 1800 0000 2a00 00"), (.event, octets))
    #expect(entries.last?.text == text)
    // The handle is that of the link.
    let isOfLink = octets.contains("00 4000") || octets.contains("1a 4000 01")
    #expect((entries.last?.peer != nil) == isOfLink)
  }

  @Test("Keys in a recording of another program are not shown")
  func keys() {
    let key = String(repeating: "5a", count: 16)
    let entries = Self.entries(
      commands: true, (.command, "1a20 12 4000 \(key)"), (.event, "0e14 01 1720 00 \(key)"),
      (.event, "1817 010203040506 \(key) 04"))
    #expect(
      entries.map(\.text) == [
        "LE Long Term Key Request Reply", "Command Complete, LE Encrypt", "Link Key Notification",
      ])
    #expect(entries.allSatisfy { $0.value?.contains(0x5A) == false })
  }

  @Test("Without the wish there are none")
  func none() {
    let entries = Self.entries(
      commands: false, (.command, "4220 06 01 00 0000 0000"), (.event, "0e04 01 4220 00"), (.event, "ff01 02"))
    #expect(entries.isEmpty)
  }

  @Test("Each command that bled sends has the name of its type")
  func titles() {
    for type in KnownCommands.all {
      let title = type.opcode.title.filter { $0.isLetter || $0.isNumber }.lowercased()
      #expect(title == "\(type)".lowercased())
    }
  }

  @Test("Packets of any length are read")
  func short() {
    for octets in ["", "01", "0e", "0e00", "3e00", "0120"] {
      _ = Self.entries(commands: true, (.command, octets), (.event, octets))
    }
    #expect(Self.entries(commands: true, (.command, "01")).isEmpty)
    #expect(Self.entries(commands: true, (.event, "0e00")).map(\.text) == ["Command Complete, malformed"])
  }
}
