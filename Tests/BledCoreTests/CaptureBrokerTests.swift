import BledRPC
import Bluetooth
import Capture
import EventLoop
import Glibc
import Testing

@testable import BledCore

/// Recordings over a pipe, of an adapter that tells what a test says.
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

  /// Starts a recording of btsnoop.
  /// - Returns: its number, and a duplicate of the descriptor.
  private func start(
    _ client: TestClient, keys: Bool? = nil, adapter: String? = nil
  ) throws -> (capture: Int, descriptor: Int32) {
    let result = try client.result(CaptureStart.self, .init(format: "btsnoop", adapter: adapter, keys: keys))
    let passed = try #require(client.takePassed())
    return (result.capture, dup(passed.number))
  }

  /// The packets that can be read, and whether the pipe is at its end.
  private func read(_ descriptor: Int32, with reader: inout BTSnoopReader) throws -> (
    records: [CaptureRecord], isAtEnd: Bool
  ) {
    _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    var octets = [UInt8](repeating: 0, count: 1 << 16)
    var records: [CaptureRecord] = []
    while true {
      let count = Glibc.read(descriptor, &octets, octets.count)
      guard count > 0 else { return (records, count == 0) }
      reader.append(octets[..<count])
      while let record = try reader.next() { records.append(record) }
    }
  }

  private func notes(_ records: [CaptureRecord]) -> [String] {
    records.compactMap { Annotation($0.packet)?.text }
  }

  private static let report = MonitorPacket(.event, [0x3E, 2, 0x02, 0], time: 1_700_000_000_000_001)

  @Test("what the adapter tells is recorded with its time, and who called what; capture.stop ends the pipe")
  func recording() throws {
    let (capture, descriptor) = try start(client)
    defer { close(descriptor) }
    let tap = try #require(world.adapter.taps.first)
    tap.onEvent(.packet(Self.report))
    let other = world.client(user: 1000)
    _ = try other.call(GATTRead.self, .init(peripheral: "nobody", attribute: .handle(7)))
    var reader = BTSnoopReader()
    let (records, isAtEnd) = try read(descriptor, with: &reader)
    #expect(records.map(\.adapter) == [CaptureRecord.noAdapter, 0, CaptureRecord.noAdapter] && !isAtEnd)
    #expect(records[1].packet.octets == Self.report.octets && records[1].time == 1_700_000_000_000_001)
    #expect(
      notes(records) == [
        "session 1 (user 0) records all adapters", "session 2 (prog1000, user 1000): gatt.read nobody handle 0x0007",
      ])
    let result = try client.result(CaptureStop.self, .init(capture: capture))
    // The call is in it, too.
    #expect(result == .init(packets: 4, lost: 0) && tap.isClosed)
    let rest = try read(descriptor, with: &reader)
    #expect(notes(rest.records) == ["session 1 (user 0): capture.stop"] && rest.isAtEnd)
    #expect(try client.error(CaptureStop.self, .init(capture: capture))?.data?.name == "unknownHandle")
  }

  @Test("who does not read loses packets, which are counted, told, and said where they are missing")
  func slowReader() throws {
    let (capture, descriptor) = try start(client)
    defer { close(descriptor) }
    let tap = try #require(world.adapter.taps.first)
    let packet = MonitorPacket(.sentACL, [UInt8](repeating: 0x55, count: 1000))
    for _ in 0..<5000 { tap.onEvent(.packet(packet)) }
    try settle()
    let told = try client.notifications(CaptureLost.self)
    #expect(told.count == 1 && told.first?.capture == capture)
    let lost = told.first?.packets ?? 0
    var reader = BTSnoopReader()
    let before = try read(descriptor, with: &reader).records
    #expect(lost > 1000 && before.count + lost == 5001, "\(before.count) were recorded, \(lost) lost")
    tap.onEvent(.packet(packet))
    let after = try read(descriptor, with: &reader).records
    #expect(notes(after) == ["\(lost) packets are missing here: they were not read in time"])
    #expect(after.count == 2 && after[0].lost == lost)
    tap.onEvent(.lost(3))
    #expect(try client.result(CaptureStop.self, .init(capture: capture)).lost == lost + 3)
  }

  @Test("keys are zeros; whoever may see all sessions may have them")
  func keys() throws {
    let key = [UInt8](repeating: 0xAA, count: 16)
    let reply = MonitorPacket(.command, [0x1A, 0x20, 0x12, 0x40, 0x00] + key)
    let (_, plain) = try start(client)
    let (_, full) = try start(client, keys: true)
    defer {
      close(plain)
      close(full)
    }
    for tap in world.adapter.taps { tap.onEvent(.packet(reply)) }
    var readers = [BTSnoopReader(), BTSnoopReader()]
    var octets: [[UInt8]] = []
    for (index, descriptor) in [plain, full].enumerated() {
      let records = try read(descriptor, with: &readers[index]).records
      octets.append(records.first { $0.adapter == 0 }?.packet.octets ?? [])
    }
    #expect(octets[0].suffix(16).allSatisfy { $0 == 0 } && octets[0].count == reply.octets.count)
    #expect(octets[1] == reply.octets)
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
    #expect(try client.error(CaptureStart.self, .init(format: "pcap"))?.data?.name == "invalidParameter")
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

  @Test("when nobody reads any more the recording ends")
  func readerGone() throws {
    let (_, descriptor) = try start(client)
    close(descriptor)
    try settle()
    #expect(world.adapter.taps.first?.isClosed == true)
  }
}
