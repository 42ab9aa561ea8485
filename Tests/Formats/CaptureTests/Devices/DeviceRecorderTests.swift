import Bluetooth
import Testing

@testable import Capture

/// The devices of recordings.
@Suite struct DeviceRecorderTests {
  private static let belt = DeviceAddress(value: 0xC000_0000_0001, kind: .random)

  /// Records with times in seconds.
  private func record(_ lines: [(Double, MonitorPacket.Kind, String)]) -> DeviceRecorder {
    var recorder = DeviceRecorder()
    for (time, kind, text) in lines {
      let octets = Hex.decode(text.replacing(" ", with: "")) ?? []
      recorder.receive(CaptureRecord(adapter: 0, packet: MonitorPacket(kind, octets), time: Int64(time * 1_000_000)))
    }
    return recorder
  }

  /// A packet of ATT on the link 0x0040.
  private func att(_ time: Double, _ kind: MonitorPacket.Kind, _ text: String) -> (Double, MonitorPacket.Kind, String) {
    let count = UInt8(text.filter { $0 != " " }.count / 2)
    let length = Hex.encode([count + 4, 0, count, 0])
    return (time, kind, (kind == .sentACL ? "4000" : "4020") + length + "0400" + text)
  }

  private static let connected = "3e13 01 00 4000 00 01 0100000000c0 1800 0000 2a00 00"

  @Test("a tree is put together from the answers to discovery, with values, descriptors and protection")
  func tree() throws {
    let recorder = record([
      (1, .event, Self.connected),
      att(1.1, .sentACL, "02 0502"), att(1.1, .receivedACL, "03 f700"),
      att(1.2, .sentACL, "10 0100 ffff 0028"), att(1.2, .receivedACL, "11 06 0100 0500 0018 0600 0f00 0d18"),
      att(1.3, .sentACL, "08 0600 0f00 0328"),
      att(1.3, .receivedACL, "09 07 0700 10 0800 372a 0a00 02 0b00 382a"),
      att(1.4, .sentACL, "04 0900 0900"), att(1.4, .receivedACL, "05 01 0900 0229"),
      att(1.5, .sentACL, "04 0c00 0f00"), att(1.5, .receivedACL, "05 01 0c00 0129"),
      // A refusal, and the value after the link was encrypted.
      att(2, .sentACL, "0a 0b00"), att(2, .receivedACL, "01 0a 0b00 0f"),
      (2.1, .event, "0804 00 4000 01"), att(2.5, .sentACL, "0a 0b00"), att(2.5, .receivedACL, "0b 01"),
      att(2.6, .sentACL, "0a 0c00"), att(2.6, .receivedACL, "0b 416263"),
      // A subscription, two values, and a value that is read again.
      att(3, .sentACL, "12 0900 0100"), att(3, .receivedACL, "13"),
      att(3.5, .receivedACL, "1b 0800 0648"), att(4.5, .receivedACL, "1b 0800 0649"),
      att(5, .sentACL, "0a 0b00"), att(5, .receivedACL, "0b 02"),
      (6, .event, "0504 00 4000 13"),
    ])
    let device = try #require(recorder.devices.first)
    #expect(recorder.devices.count == 1)
    #expect(device.address == Self.belt)
    #expect(device.mtu == 247)
    #expect(device.services.map(\.uuid) == [0x1800, 0x180D])
    let rate = try #require(device.services.last).characteristics
    #expect(rate.map(\.uuid) == [0x2A37, 0x2A38])
    #expect(rate[0].properties == 0x10)
    #expect(rate[0].sent == [.init(time: 0.5, octets: [6, 0x48]), .init(time: 1, octets: [6, 0x49])])
    #expect(rate[1].read == [.init(time: 1.5, octets: [1]), .init(time: 4, octets: [2])])
    #expect(rate[1].security.read == .encrypted)
    #expect(rate[1].descriptors == [.init(uuid: 0x2901, value: Array("Abc".utf8))])
    #expect(device.remarks == ["its advertisements were not recorded"])
  }

  @Test("a long value is put together from its pieces")
  func long() throws {
    let recorder = record([
      (1, .event, Self.connected),
      att(1.2, .sentACL, "10 0100 ffff 0028"), att(1.2, .receivedACL, "11 06 0100 0500 0d18"),
      att(1.3, .sentACL, "08 0100 0500 0328"), att(1.3, .receivedACL, "09 07 0200 02 0300 382a"),
      att(2, .sentACL, "0a 0300"), att(2, .receivedACL, "0b 01020304"),
      att(2.1, .sentACL, "0c 0300 0400"), att(2.1, .receivedACL, "0d 0506"),
      // Read again: nothing new.
      att(3, .sentACL, "0a 0300"), att(3, .receivedACL, "0b 01020304"),
      att(3.1, .sentACL, "0c 0300 0400"), att(3.1, .receivedACL, "0d 0506"),
    ])
    let values = recorder.devices.first?.services.first?.characteristics.first?.read
    #expect(values == [.init(time: 1, octets: [1, 2, 3, 4, 5, 6])])
  }

  @Test("advertisements tell data, scan response, signal, interval and whether the device accepts connections")
  func advertisements() throws {
    var lines: [(Double, MonitorPacket.Kind, String)] = []
    for number in 0..<20 {
      let time = Double(number) * 0.105
      lines.append((time, .event, "3e0f 02 01 00 01 0100000000c0 03 020106 \(number % 2 == 0 ? "c4" : "ba")"))
      lines.append((time + 0.001, .event, "3e11 02 01 04 01 0100000000c0 05 04094162 63 c4"))
    }
    let device = try #require(record(lines).devices.first)
    #expect(device.isConnectable)
    #expect(device.name == "Abc")
    #expect(device.advertising == [2, 1, 6])
    #expect(device.scanResponse == [4, 9, 0x41, 0x62, 0x63])
    #expect(device.signal?.mean == -63)
    #expect(device.interval == 0.1)
  }

  @Test("facts that the recording does not tell are said")
  func remarks() throws {
    let recorder = record([
      att(0.5, .receivedACL, "1b 0800 0648"), (1, .event, Self.connected), att(2, .receivedACL, "1b 0800 0648"),
    ])
    #expect(recorder.packetsWithoutDevice == 1)
    let device = try #require(recorder.devices.first)
    #expect(device.remarks.contains("its services were not discovered during the recording"))
    let text = ScenarioText.text(recorder.devices, remarks: ["a name\nof two lines"])
    #expect(text.hasPrefix("// a name\u{FFFD}of two lines\n{\n"))
    #expect(text.contains("// its services were not discovered during the recording\n"))
    #expect(text.contains("\"name\": \"C0:00:00:00:00:01\","))
  }

  @Test("a device has the last of its noted names, also after the most devices were named")
  func notedNames() {
    var recorder = record([(1, .event, Self.connected)])
    for number in 0..<UInt64(DeviceRecorder.maximumDevices + 1) {
      let address = DeviceAddress(value: Self.belt.value + number, kind: .random)
      for name in ["Old", "New"] {
        let packet = Annotation("bled itself asks 7AAE (\(name), \(address))").packet
        recorder.receive(CaptureRecord(adapter: .max, packet: packet, time: 2))
      }
    }
    let packet = Annotation("bled itself asks 7AAE (Belt, \(Self.belt))").packet
    recorder.receive(CaptureRecord(adapter: .max, packet: packet, time: 3))
    #expect(recorder.devices.map(\.name) == ["Belt"])
  }
}
