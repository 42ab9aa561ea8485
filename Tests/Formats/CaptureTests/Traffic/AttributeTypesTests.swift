import ATT
import Bluetooth
import Testing

@testable import Capture

/// Names of attributes and users in a recording.
@Suite struct AttributeTypesTests {
  private func record(_ kind: MonitorPacket.Kind, _ text: String) -> CaptureRecord {
    let octets = Hex.decode(text.replacing(" ", with: "")) ?? []
    return CaptureRecord(adapter: 0, packet: MonitorPacket(kind, octets), time: 1)
  }

  private static let belt = DeviceAddress(value: 0xC000_0000_0001, kind: .random)

  @Test("types are those of a discovery, of the side that was asked")
  func discovery() {
    var decoder = TrafficDecoder()
    let entries = [
      record(.event, "3e13 01 00 4000 00 01 0100000000c0 1800 0000 2a00 00"),
      // Services, characteristics and descriptors of the device.
      record(.sentACL, "4000 0b00 0700 0400 10 0100 ffff 0028"),
      record(.receivedACL, "4020 0c00 0800 0400 11 06 1000 1400 0d18"),
      record(.sentACL, "4000 0b00 0700 0400 08 1000 1400 0328"),
      record(.receivedACL, "4020 0d00 0900 0400 09 07 1100 10 1200 372a"),
      record(.sentACL, "4000 0900 0500 0400 04 1300 1400"),
      record(.receivedACL, "4020 0a00 0600 0400 05 01 1300 0229"),
      record(.sentACL, "4000 0900 0500 0400 12 1300 0100"), record(.receivedACL, "4020 0500 0100 0400 13"),
      record(.receivedACL, "4020 0900 0500 0400 1b 1200 0650"),
      // The device asks this machine: its handle is another attribute.
      record(.receivedACL, "4020 0700 0300 0400 0a 1200"), record(.sentACL, "4000 0700 0300 0400 0b 0001"),
    ].flatMap { decoder.decode($0) }
    let heart = AttributeType(uuid: 0x2A37, service: 0x180D, isOwn: false)
    let configuration = AttributeType(uuid: 0x2902, service: 0x180D, isOwn: false, characteristic: 0x12)
    #expect(entries.map(\.attribute).suffix(5) == [configuration, configuration, heart, nil, nil])
    #expect(entries.last?.handle == 0x12)
  }

  @Test("a note has the attributes of a device, and is no entry")
  func note() throws {
    var attributes = [AttributeNote.Attribute(handle: 0x10, uuid: 0x180D, kind: .service)]
    attributes += (0x11...0x40).map { .init(handle: $0, uuid: $0 % 2 == 0 ? 0x2A37 : 0x2902) }
    let own = try #require(BluetoothUUID("6F3C0002-0000-4000-8000-000000000000"))
    attributes += [.init(handle: 0x41, uuid: own), .init(handle: 0x42, uuid: own, kind: .descriptor)]
    let parts = AttributeNote(peer: Self.belt, attributes: attributes).parts
    #expect(parts.count > 1 && parts.allSatisfy { $0.text.utf8.count <= CaptureWriter.longestComment })
    #expect(parts.flatMap(\.attributes) == attributes)
    #expect(parts.map { AttributeNote($0.text) } == parts)
    #expect(
      parts[0].text.hasPrefix(
        "attributes of C0:00:00:00:00:01 random: 0x0010 service 180D Heart Rate, 0x0011 2902 Client Charact"))
    var decoder = TrafficDecoder()
    for part in parts {
      let packet = Annotation(part.text).packet
      #expect(decoder.decode(CaptureRecord(adapter: .max, packet: packet, time: 1)).isEmpty)
    }
    _ = decoder.decode(record(.event, "3e13 01 00 4000 00 01 0100000000c0 1800 0000 2a00 00"))
    let entry = decoder.decode(record(.receivedACL, "4020 0900 0500 0400 1b 1200 0650")).first
    #expect(entry?.attribute == AttributeType(uuid: 0x2A37, service: 0x180D, isOwn: false))
    for text in ["", "attributes of", "attributes of x: 0x0010 2A37", "attributes of C0:00:00:00:00:01: 0x0010 2A37"] {
      #expect(AttributeNote(text) == nil, "\(text)")
    }
    #expect(AttributeNote("attributes of C0:00:00:00:00:01 random: x, 0x, 0x1 service, 0x2 2A").map(\.attributes) == [])
  }

  @Test("a descriptor belongs to the characteristic before it, of any kind, and declarations are none")
  func descriptors() throws {
    let own = try #require(BluetoothUUID("6F3C0002-0000-4000-8000-000000000000"))
    var types = AttributeTypes()
    let listed: [(UInt16, BluetoothUUID)] = [
      (0x12, 0x2A37), (0x13, 0x2902), (0x15, own), (0x16, 0x2904), (0x17, 0x2901), (0x18, 0x2803), (0x19, 0x2901),
    ]
    types.receive(
      AttributeNote(peer: Self.belt, attributes: listed.map { .init(handle: $0.0, uuid: $0.1) }))
    let found = listed.map { types.type(of: $0.0, at: .device(Self.belt))?.characteristic }
    #expect(found == [nil, 0x12, nil, 0x15, 0x15, nil, 0x15])
  }

  @Test("a descriptor of a maker's own type is no value: by a note, or by a discovery")
  func ownDescriptors() throws {
    let own = try #require(BluetoothUUID("6F3C0009-0000-4000-8000-000000000000"))
    var noted = AttributeTypes()
    noted.receive(
      AttributeNote(
        peer: Self.belt,
        attributes: [
          .init(handle: 0x12, uuid: 0x2A37), .init(handle: 0x13, uuid: own, kind: .descriptor),
          .init(handle: 0x14, uuid: 0x2904, kind: .descriptor),
        ]))
    #expect(noted.type(of: 0x14, at: .device(Self.belt))?.characteristic == 0x12)

    let long = "0000000000000080004000000900 3c6f"
    for (answers, characteristic) in [
      // The declarations are read, then the attributes behind the value are found.
      (["09 07 1100 10 1200 372a", "05 02 1300 \(long)", "05 01 1400 0429"], 0x12),
      (["09 15 1100 10 1200 \(long)", "05 02 1200 \(long)", "05 02 1300 \(long)", "05 01 1400 0429"], 0x12),
      // All attributes are found by their handles.
      (["05 01 1100 0328 1200 372a", "05 02 1300 \(long)", "05 01 1400 0429"], 0x12),
      (["05 01 1200 0328", "05 02 1300 \(long)", "05 01 1400 0429"], 0x13),
    ] as [([String], UInt16)] {
      var types = AttributeTypes()
      for answer in answers {
        let octets = try #require(Hex.decode(answer.replacing(" ", with: "")))
        let request: ATTPDU =
          octets[0] == 0x09
          ? .readByTypeRequest(start: 1, end: 0xFFFF, type: 0x2803) : .findInformationRequest(start: 1, end: 0xFFFF)
        types.answered(request, try ATTPDU(decoding: octets), by: .device(Self.belt))
      }
      #expect(types.type(of: 0x14, at: .device(Self.belt))?.characteristic == characteristic, "\(answers)")
    }
  }

  @Test("the name of a user stands in place of the number, where the number is the daemon's word")
  func users() {
    let name: (UInt32) -> String? = { $0 == 7 ? "ann" : nil }
    for (text, named) in [
      ("session 1 (prog, user 7): gatt.read X", "session 1 (prog, ann): gatt.read X"),
      ("session 1 (user 7): gatt.read X", "session 1 (ann): gatt.read X"),
      (#"session 1 ("x, user 7): \" y", user 8): gatt.read"#, #"session 1 ("x, user 7): \" y", user 8): gatt.read"#),
      (#"session 1 ("x, user 8)", user 7): gatt.read"#, #"session 1 ("x, user 8)", ann): gatt.read"#),
      ("session 1: gatt.read (user 7)", "session 1: gatt.read (user 7)"),
      ("session 1 (user 7", "session 1 (user 7"), ("bled itself asks X", "bled itself asks X"),
    ] {
      #expect(CallNote(text)?.text(name) == named)
    }
    #expect(CallNote("5 packets are missing here") == nil)
    #expect(CallNote("session 1 (user 7): gatt.read a" + String(repeating: "\u{300}", count: 1500)) == nil)
  }

  @Test("a note has the name of its device, which cannot imitate the words around it")
  func notedDevices() {
    let place = "C0:00:00:00:00:01"
    for (text, name) in [
      ("session 1 (prog, user 7): gatt.read 7AAE (Custom, \(place)) handle 0x0001", "Custom"),
      (#"session 1 ("x (y", user 7): gatt.read 7AAE ("Heart \"Belt\", 2", \#(place))"#, #"Heart "Belt", 2"#),
      ("bled itself asks 7AAE (Custom, \(place))", "Custom"),
    ] {
      let device = CallNote(text)?.device
      #expect(device?.name == name && device?.address == place, "\(text)")
    }
    for text in [
      "bled itself asks 7AAE (\(place))", "session 1 (prog, user 7): adapter.list", "session 1 (user 7): scan.start",
      #"session 1 (user 7): gatt.read "x (Custom, C0:00:00:00:00:01)" handle 0x0001"#, "bled itself asks x (y, z)",
    ] {
      #expect(CallNote(text)?.device == nil, "\(text)")
    }
  }

  @Test("an adapter has the name of its interface in pcapng, else the beginning that its presence has")
  func adapters() throws {
    var writer = CaptureWriter(.pcapng)
    var octets = writer.start + (writer.interface(of: 15, name: "h4:tcp:127.0.0.1:6402") ?? [])
    writer.wroteInterface(of: 15)
    octets += writer.piece(CaptureRecord(adapter: 15, packet: MonitorPacket(.openIndex, []), time: 1))
    var reader = RecordingParser()
    reader.append(octets[...])
    var decoder = TrafficDecoder()
    let read = try #require(try reader.next())
    #expect(decoder.decode(read).first?.adapterName == "h4:tcp:127.0.0.1:6402")
    let presence = record(.newIndex, "0000 010000000000 686369300000 0000")
    #expect(decoder.decode(presence).first?.adapterName == "hci0")
  }
}
