import Adapter
import BledRPC
import Bluetooth
import Capture
import EventLoop
import Glibc
import Testing

@testable import BledCore

/// The place of call notes in a recording: before the packets that they cause.
@Suite struct CaptureNoteTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let loop: EventLoop
  private let peer: ScriptedPeer
  private let id: String
  private let recording: TestRecording

  init() throws {
    signal(SIGPIPE, SIG_IGN)
    loop = try EventLoop()
    world.daemon.passCaptures(on: loop)
    client = world.client(user: 1000)
    peer = world.peer()
    try peer.furnish()
    id = try world.connect(client, peer).peripheral
    recording = try TestRecording(by: world.client())
    let tap = try #require(world.adapter.taps.first)
    world.adapter.links.first?.onTraffic = { packet, isSent in
      let header: [UInt8] = [0x40, 0, UInt8(packet.count + 4), 0, UInt8(packet.count), 0, 4, 0]
      tap.onEvent(.packet(MonitorPacket(isSent ? .sentACL : .receivedACL, header + packet), of: 0))
    }
  }

  /// The recording, a word for each packet or note: the call that begins or continues, "→ OPCODE" and "← OPCODE".
  private func story() throws -> [String] {
    let device = "\(id) (\(peer.address))"
    return try recording.read().map { record in
      if let note = Annotation(record.packet) { return note.text.replacing(device, with: "DEVICE") }
      let opcode = record.packet.octets.dropFirst(8).first ?? 0
      return "\(record.packet.kind == .sentACL ? "→" : "←") \(Hex.encode([opcode]))"
    }
  }

  @Test("a call that waits for another's is noted when its turn comes, directly before its request")
  func queue() throws {
    let other = world.client(user: 1001)
    try world.connect(other, peer)
    _ = try story()
    peer.delay = .seconds(5)
    let handle = peer.handle(of: 0x2A38)
    let first = try client.call(GATTRead.self, .init(peripheral: id, handle: handle))
    let second = try other.call(GATTRead.self, .init(peripheral: id, handle: handle))
    world.scheduler.advance(by: .seconds(20))
    #expect(try client.answer(to: first, GATTRead.self)?.get() != nil)
    #expect(try other.answer(to: second, GATTRead.self)?.get() != nil)
    #expect(
      try story() == [
        "session 1 (prog1000, user 1000): gatt.read DEVICE handle \(handle.handleText)", "→ 0a", "← 0b",
        "session 3 (prog1001, user 1001): gatt.read DEVICE handle \(handle.handleText)", "→ 0a", "← 0b",
      ])
  }

  @Test("A name or an argument of a program cannot imitate the words of a note")
  func imitation() throws {
    _ = try client.result(SessionOpen.self, .init(name: "x, user 0): gatt.write \"7\" \\"))
    _ = try story()
    _ = try client.call(GATTRead.self, .init(peripheral: "x handle 0x0001\nbled itself", handle: 7))
    world.settle()
    #expect(
      try story() == [
        #"session 1 ("x, user 0): gatt.write \"7\" \\", user 1000): gatt.read "x handle 0x0001�bled itself" handle 0x0007"#
      ])
  }

  @Test("of calls that take turns each is noted again when it goes on, and what the daemon asks is its own")
  func turns() throws {
    let other = world.client(user: 1001)
    try world.connect(other, peer)
    _ = try story()
    _ = try client.call(GATTDiscoverServices.self, .init(peripheral: id))
    let handle = peer.handle(of: 0x2A38)
    _ = try other.call(GATTRead.self, .init(peripheral: id, handle: handle))
    world.settle()
    let story = try story()
    let discovery = "session 1 (prog1000, user 1000): gatt.discoverServices DEVICE"
    #expect(
      Array(story.prefix(8)) == [
        discovery, "→ 08", "← 01", "session 3 (prog1001, user 1001): gatt.read DEVICE handle \(handle.handleText)",
        "→ 0a", "← 0b", "\(discovery) goes on", "→ 10",
      ], "\(story)")
    let own = try #require(story.firstIndex(of: "bled itself asks DEVICE"), "\(story)")
    #expect(story.dropFirst(own + 1).first?.hasPrefix("→") == true, "\(story)")
  }

  @Test("a write without response is noted before it, and a call that leads to nothing, too")
  func others() throws {
    _ = try story()
    let handle = peer.handle(of: 0x2A56)
    _ = try done(GATTWrite.self, .init(peripheral: id, handle: handle, value: HexBytes([1]), response: false))
    #expect(
      try story() == [
        "session 1 (prog1000, user 1000): gatt.write DEVICE handle \(handle.handleText)", "→ 52",
      ])
    _ = try client.error(GATTRead.self, .init(peripheral: "nobody", attribute: .handle(7)))
    #expect(try story() == ["session 1 (prog1000, user 1000): gatt.read nobody handle 0x0007"])
  }

  @Test("what has passed before a note, and was not told yet, is recorded before it")
  func late() throws {
    _ = try story()
    let tap = try #require(world.adapter.taps.first)
    tap.waiting = [MonitorPacket(.receivedACL, [0x40, 0x20, 5, 0, 1, 0, 4, 0, 0x13])]
    _ = try client.result(AdapterList.self, .init())
    #expect(try story() == ["← 13", "session 1 (prog1000, user 1000): adapter.list"])
  }

  @Test("a program cannot hide its calls, or tell others, behind what it calls itself")
  func names() throws {
    _ = try story()
    let rogue = TestClient(
      world.daemon,
      credentials: PeerCredentials(
        process: 7, user: 1000, group: 1000, groups: [100], program: "a\u{0}\n\u{1B}[2K\u{7F}"))
    _ = try rogue.result(AdapterList.self, .init())
    #expect(try story().last?.hasSuffix(", user 1000): adapter.list") == true)
  }

  @Test("a recording begins with the known attributes of connected devices")
  func attributes() throws {
    let discovery = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.settle()
    _ = try client.answer(to: discovery, GATTDiscover.self)?.get()
    let notes = try TestRecording(by: world.client()).read().notes.compactMap { AttributeNote($0) }
    #expect(notes.allSatisfy { $0.peer == peer.address } && notes.count > 1)
    let attributes = notes.flatMap(\.attributes)
    for uuid: BluetoothUUID in [0x2A37, 0x2A38] {
      #expect(attributes.contains(.init(handle: peer.handle(of: uuid), uuid: uuid)), "\(attributes)")
    }
    #expect(attributes.contains { $0.uuid == 0x180D && $0.kind == .service })
  }
}
