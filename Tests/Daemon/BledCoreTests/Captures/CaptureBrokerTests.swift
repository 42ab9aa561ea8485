import Adapter
import BledRPC
import Bluetooth
import Capture
import EventLoop
import Glibc
import Testing

@testable import BledCore

/// Recordings over a pipe, of an adapter with packets from the test.
@Suite struct CaptureBrokerTests {
  private let world = World()
  private let loop: EventLoop
  private let client: TestClient

  init() throws {
    // As the daemon does.
    signal(SIGPIPE, SIG_IGN)
    loop = try EventLoop()
    world.daemon.passCaptures(on: loop)
    client = world.client()
  }

  private func settle() throws {
    world.settle()
    while try loop.poll() {}
  }

  private static let report = MonitorPacket(.event, [0x3E, 2, 0x02, 0], time: 1_700_000_000_000_001)

  @Test("packets are recorded with their time, and calls with their session; capture.stop ends the pipe")
  func recording() throws {
    let recording = try TestRecording(by: client)
    let tap = try #require(world.adapter.taps.first)
    tap.onEvent(.packet(Self.report, of: 0))
    let other = world.client(user: 1000)
    _ = try other.call(GATTRead.self, .init(peripheral: "nobody", attribute: .handle(7)))
    let records = try recording.read()
    try #require(records.map(\.adapter) == [CaptureRecord.noAdapter, 0, CaptureRecord.noAdapter])
    #expect(!recording.isAtEnd)
    #expect(records[1].packet.octets == Self.report.octets && records[1].time == 1_700_000_000_000_001)
    #expect(
      records.notes == [
        "session 1 (user 0) records all adapters", "session 2 (prog1000, user 1000): gatt.read nobody handle 0x0007",
      ])
    let result = try client.result(CaptureStop.self, .init(capture: recording.number))
    // The call is in it, too.
    #expect(result == .init(packets: 4, lost: 0) && tap.isClosed)
    #expect(try recording.read().notes == ["session 1 (user 0): capture.stop"] && recording.isAtEnd)
    #expect(try client.error(CaptureStop.self, .init(capture: recording.number))?.data?.name == "unknownHandle")
  }

  @Test("a program that does not read loses packets; they are counted, and the gap is marked")
  func slowReader() throws {
    let recording = try TestRecording(by: client)
    let tap = try #require(world.adapter.taps.first)
    let packet = MonitorPacket(.sentACL, [UInt8](repeating: 0x55, count: 1000))
    for _ in 0..<5000 { tap.onEvent(.packet(packet)) }
    try settle()
    let told = try client.notifications(CaptureLost.self)
    #expect(told.count == 1 && told.first?.capture == recording.number)
    let lost = told.first?.packets ?? 0
    let before = try recording.read()
    #expect(lost > 1000 && before.count + lost == 5001, "\(before.count) were recorded, \(lost) lost")
    tap.onEvent(.packet(packet))
    let after = try recording.read()
    #expect(after.notes == ["\(lost) packets are missing here: they were not read in time"])
    #expect(after.count == 2 && after.first.map { Int($0.lost) } == lost)
    tap.onEvent(.lost(3))
    #expect(try client.result(CaptureStop.self, .init(capture: recording.number)).lost == lost + 3)
  }

  @Test("keys are zeros, except for sessions with the permission to see all")
  func keys() throws {
    let key = [UInt8](repeating: 0xAA, count: 16)
    let reply = MonitorPacket(.command, [0x1A, 0x20, 0x12, 0x40, 0x00] + key)
    let recordings = [try TestRecording(by: client), try TestRecording(by: client, keys: true)]
    for tap in world.adapter.taps { tap.onEvent(.packet(reply, of: 0)) }
    let octets: [[UInt8]] = try recordings.compactMap { recording in
      try recording.read().first { $0.adapter == 0 }?.packet.octets
    }
    try #require(octets.count == 2)
    #expect(octets[0].suffix(16).allSatisfy { $0 == 0 } && octets[0].count == reply.octets.count)
    #expect(octets[1] == reply.octets)
  }

  @Test("behind lost packets a piece of a packet is blanked: it may be one of a key whose beginning is missing")
  func keysBehindLoss() throws {
    let recording = try TestRecording(by: client)
    let tap = try #require(world.adapter.taps.first)
    let now = Int64(world.scheduler.secondsSinceEpoch * 1_000_000)
    func tell(_ octets: [UInt8], at time: Int64) {
      tap.onEvent(.packet(MonitorPacket(.receivedACL, octets, time: time), of: 0))
    }
    let piece: [UInt8] = [0x40, 0x10, 3, 0, 0xAA, 0xAA, 0xAA]
    // The beginning of a notification of 39 octets, of which 34 are still to come.
    let start: [UInt8] = [0x40, 0x20, 9, 0, 39, 0, 4, 0, 0x1B, 3, 0, 1, 2]
    tell(start, at: now - 2)
    tap.onEvent(.lost(2))
    tell(piece, at: now - 1)
    // Packets that waited with the lost ones may be from before or behind them.
    tell(start, at: now - 1)
    tell(piece, at: now - 1)
    // The gap may lie between these two.
    tell(start, at: now - 1)
    tell(piece, at: now + 1)
    tell(start, at: now + 1)
    tell(piece, at: now + 1)
    let shown = try recording.read().filter { $0.packet.kind == .receivedACL }.map(\.packet.octets)
    let zeros: [UInt8] = [0x40, 0x10, 3, 0, 0, 0, 0]
    #expect(shown == [start, zeros, start, zeros, start, zeros, start, piece])
  }

  @Test("no two controllers have the same number in a recording, even if their adapters' names clash")
  func numbers() throws {
    let chosen = ScriptedAdapter(id: "F0:F1:F2:F3:F4:F5", scheduler: world.scheduler)
    let kernel = ScriptedAdapter(id: "hci15", scheduler: world.scheduler)
    world.daemon.add(chosen)
    world.daemon.add(kernel)
    let recording = try TestRecording(by: client)
    try #require(chosen.taps.count == 1 && kernel.taps.count == 1)
    _ = try recording.read()
    world.adapter.taps[0].onEvent(.packet(Self.report, of: 0))
    chosen.taps[0].onEvent(.packet(Self.report))
    kernel.taps[0].onEvent(.packet(Self.report, of: 15))
    // The chosen one has been plugged in.
    chosen.taps[0].onEvent(.packet(Self.report, of: 3))
    chosen.taps[0].onEvent(.packet(Self.report))
    let numbers = try recording.read().map(\.adapter)
    try #require(numbers.count == 5)
    #expect(Set(numbers).count == 4 && numbers[1] == numbers[4], "\(numbers)")
    #expect(numbers[0] == 0 && numbers[3] == 3, "\(numbers)")
  }

  @Test("a recording says which adapter it has lost, and goes on while it has another")
  func lostAdapter() throws {
    let second = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    world.daemon.add(second)
    let recording = try TestRecording(by: client)
    _ = try recording.read()
    world.adapter.taps[0].onEvent(.ended(GAPError.adapterFailed.error("its channel is closed")))
    second.taps[0].onEvent(.packet(Self.report, of: 1))
    let records = try recording.read()
    #expect(records.notes == ["adapter hci0 is no longer recorded: its channel is closed"])
    #expect(records.last?.adapter == 1 && !recording.isAtEnd)
    #expect(try client.result(CaptureStop.self, .init(capture: recording.number)).lost == 0)
  }

  @Test("a loss that the taps of two adapters tell counts once: each hears the packets of all controllers")
  func lossOfTwo() throws {
    let second = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    world.daemon.add(second)
    let recording = try TestRecording(by: client)
    _ = try recording.read()
    for (count, adapter) in [(3, world.adapter), (3, second), (2, second), (4, world.adapter)] {
      adapter.taps[0].onEvent(.lost(count))
    }
    #expect(try client.result(CaptureStop.self, .init(capture: recording.number)).lost == 7)
  }

  @Test("without any adapter left it ends, and capture.stop says why")
  func lostLastAdapter() throws {
    let recording = try TestRecording(by: client)
    _ = try recording.read()
    world.adapter.taps[0].onEvent(.ended(GAPError.adapterFailed.error("its channel is closed")))
    let note = "adapter hci0 is no longer recorded: its channel is closed"
    #expect(try recording.read().notes == [note] && recording.isAtEnd)
    // Packets that could not be recorded do not count as lost.
    _ = try world.client().result(AdapterList.self, .init())
    try settle()
    #expect(try client.notifications(CaptureLost.self).isEmpty)
    let error = try client.error(CaptureStop.self, .init(capture: recording.number))
    #expect(error?.data?.name == "adapterFailed" && error?.message == "its channel is closed")
    #expect(try client.error(CaptureStop.self, .init(capture: recording.number))?.data?.name == "unknownHandle")
  }

  @Test("a recording needs the permission, with keys a second one, and there are only so many")
  func permissions() throws {
    var configuration = Configuration.Policy()
    configuration.grants[.capture] = [.user("1000")]
    let world = World(policy: World.policy(configuration))
    world.daemon.passCaptures(on: loop)
    #expect(try world.client(user: 1001).error(CaptureStart.self, .init())?.data?.name == "notPermitted")
    let client = world.client(user: 1000)
    let refused = try client.error(CaptureStart.self, .init(keys: true))
    #expect(refused?.data?.name == "notPermitted" && refused?.message.contains("\"sessions\"") == true)
    #expect(try client.error(CaptureStart.self, .init(adapter: "hci9"))?.data?.name == "adapterAbsent")
    var held: [PassedDescriptor] = []
    for _ in 0..<4 {
      _ = try client.result(CaptureStart.self, .init())
      held.append(try #require(client.takePassed()))
    }
    #expect(try client.error(CaptureStart.self, .init())?.message.contains("limits.perSession.captures") == true)
    // The end of the session, or of the reader, ends them.
    client.die()
    #expect(world.adapter.taps.allSatisfy { $0.isClosed })
  }

  @Test("the recording ends with its reader")
  func readerGone() throws {
    _ = try TestRecording(by: client)
    _ = try client.result(AdapterList.self, .init())
    try settle()
    #expect(world.adapter.taps.first?.isClosed == true)
  }
}
