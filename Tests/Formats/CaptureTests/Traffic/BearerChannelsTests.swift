import Bluetooth
import Testing

@testable import Capture

/// ATT over channels of L2CAP, as a recording shows it.
@Suite struct BearerChannelsTests {
  private func decode(_ lines: [(MonitorPacket.Kind, String)]) -> [TrafficEntry] {
    var decoder = TrafficDecoder()
    return lines.flatMap { kind, text in
      let octets = Hex.decode(text.replacing(" ", with: "")) ?? []
      return decoder.decode(CaptureRecord(adapter: 0, packet: MonitorPacket(kind, octets), time: 1))
    }
  }

  @Test("packets of an enhanced bearer are found by the signals that opened it, put together, and end with it")
  func enhanced() {
    let entries = decode([
      // A request for two channels of EATT, 0x40 and 0x41, and the answer: 0x50, and a refusal.
      (.sentACL, "4000 1400 1000 0500 17 01 0c00 2700 4000 4000 0500 4000 4100"),
      (.receivedACL, "4020 1400 1000 0500 18 01 0c00 4000 4000 0500 0400 5000 0000"),
      // A Read Request of 3 octets in two pieces of L2CAP, to 0x50; its answer to 0x40.
      (.sentACL, "4000 0800 0400 5000 0300 0a 12"), (.sentACL, "4000 0500 0100 5000 00"),
      (.receivedACL, "4020 0800 0400 4000 0200 0b 06"),
      // Channel 0x41 was not granted, and 0x60 is of something else.
      (.receivedACL, "4020 0800 0400 4100 0200 0b 06"), (.sentACL, "4000 0800 0400 6000 0200 0b 06"),
      // Disconnection Response of the device.
      (.receivedACL, "4020 0c00 0800 0500 07 02 0400 5000 4000"), (.receivedACL, "4020 0800 0400 4000 0200 0b 06"),
    ])
    #expect(
      entries.map(\.text) == [
        "Enhanced Credit Based Connection Request", "Enhanced Credit Based Connection Response", "Read Request",
        "Read Response", "Disconnection Response",
      ])
    #expect(entries[2].handle == 0x12)
    #expect(entries[3].handle == 0x12)
    #expect(entries[3].value == [6])
  }

  @Test("the Security Manager is named without its contents, and classic links are passed over")
  func others() {
    let entries = decode([
      (.event, "030b 00 4100 010203040506 01 00"), (.receivedACL, "4120 0700 0300 0400 0a 1200"),
      (.receivedACL, "4020 0600 0200 0600 05 05"), (.sentACL, "4000 0a00 0600 0600 01 03 00 0d 10 07"),
    ])
    #expect(entries.map(\.text) == ["Pairing Failed: reason 5", "Pairing Request"])
    #expect(entries.allSatisfy { $0.value == nil })
  }

  @Test("advertisements are shown on request")
  func advertisements() {
    let octets = Hex.decode("3e0f 02 01 00 01 0100000000c0 03 020106 c4".replacing(" ", with: "")) ?? []
    let record = CaptureRecord(adapter: 0, packet: MonitorPacket(.event, octets), time: 1)
    var quiet = TrafficDecoder()
    #expect(quiet.decode(record).isEmpty)
    var decoder = TrafficDecoder(advertisements: true)
    let entries = decoder.decode(record)
    #expect(entries.map(\.text) == ["Advertisement, connectable, -60 dBm"])
    #expect(entries.first?.value == [2, 1, 6])
    #expect(entries.first?.peer == DeviceAddress(value: 0xC000_0000_0001, kind: .random))
  }
}
