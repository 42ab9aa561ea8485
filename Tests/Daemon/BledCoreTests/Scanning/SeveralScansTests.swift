import Adapter
import BledRPC
import Bluetooth
import TestSupport
import Testing

@testable import BledCore

/// Scans with numbers: several of one session.
@Suite struct SeveralScansTests {
  private let world = World()
  private let client: TestClient

  init() { client = world.client() }

  /// An advertisement of a device with a name.
  private func hear(_ last: Int, _ name: String, rssi: Int = -50) {
    let address = world.peer("C0:00:00:00:00:0\(last)").address
    world.adapter.hear(address, [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8), rssi: rssi)
  }

  /// The scan and the name of each received report.
  private func reports(_ client: TestClient) throws -> [String] {
    defer { client.forget() }
    return try client.notifications(ScanReport.self).map { "\($0.scan.map(String.init) ?? "-") \($0.name ?? "")" }
  }

  @Test("Each has its filter and its rule on duplicates, and its reports name it; one ends without the others")
  func several() throws {
    _ = try client.result(ScanStart.self, .init(name: "A"))
    _ = try client.result(ScanStart.self, .init(name: "A", duplicates: true, active: false, scan: 1))
    _ = try client.result(ScanStart.self, .init(name: "B", active: false, scan: 65_535))
    hear(1, "A")
    hear(1, "A")
    hear(2, "B")
    #expect(try reports(client) == ["- A", "1 A", "1 A", "65535 B"])
    #expect(world.adapter.scan?.isActive == true)
    _ = try client.result(ScanStop.self, .init())
    #expect(world.adapter.scan?.isActive == false, "passive scans are left")
    _ = try client.result(ScanStart.self, .init(name: "B", active: false, scan: 1))
    hear(1, "A")
    hear(2, "B")
    #expect(try reports(client) == ["1 B"], "another scan took the place of the first of that number")
    _ = try client.result(ScanStop.self, .init(scan: 1))
    _ = try client.result(ScanStop.self, .init(scan: 7))
    #expect(world.adapter.scan != nil)
    _ = try client.result(ScanStop.self, .init(scan: 65_535))
    #expect(world.adapter.scan == nil)
  }

  @Test("A device that one of them has lost is not lost for the others")
  func lost() throws {
    _ = try client.result(ScanStart.self, .init(lost: 5, scan: 1))
    _ = try client.result(ScanStart.self, .init(lost: 50, scan: 2))
    hear(1, "A")
    world.scheduler.advance(by: .seconds(10))
    #expect(try client.notifications(ScanLost.self).map(\.scan) == [1])
    world.scheduler.advance(by: .seconds(50))
    #expect(try client.notifications(ScanLost.self).map(\.scan) == [1, 2])
  }

  @Test("For a client that lags, the newest report on a device stays for each scan")
  func lagging() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(duplicates: true, scan: 1))
    _ = try client.result(ScanStart.self, .init(duplicates: true, scan: 2))
    client.reads = false
    let limit = try #require(client.session).outbox.limits.coalescing
    while try #require(client.session).outbox.waiting < limit { hear(1, "A") }
    for _ in 0..<3 { hear(2, "B") }
    client.reads = true
    let last = try client.notifications(ScanReport.self).filter { $0.name == "B" }
    #expect(last.map(\.scan) == [1, 2])
  }

  @Test("The session has all of them in session.list, a limit for them, and none when it ends")
  func ends() throws {
    var limits = Limits()
    limits.perSession[.scans] = 2
    let world = World(limits: limits)
    let client = world.client(user: 1000)
    for number in [nil, 1] as [Int?] { _ = try client.result(ScanStart.self, .init(scan: number)) }
    let refusal = try client.error(ScanStart.self, .init(scan: 2))
    #expect(refusal?.message.contains("limits.perSession.scans") == true)
    for number in [0, -1, 65_536] {
      #expect(try client.error(ScanStart.self, .init(scan: number))?.data?.name == "invalidParameter")
    }
    _ = try client.result(ScanStart.self, .init(name: "A", scan: 1))
    let own = try #require(try client.result(SessionList.self, .init()).sessions.first)
    #expect(own.scan != nil && own.scans?.map(\.scan) == [1] && own.scans?.map(\.name) == ["A"])
    client.die()
    #expect(world.adapter.scan == nil)
  }

  @Test("They are preserved with their session, over a restart, too")
  func preserved() throws {
    let scheduler = VirtualScheduler()
    let storage = MemoryStorage(scheduler: scheduler)
    let world = World(scheduler: scheduler, storage: storage)
    let client = world.client()
    _ = try client.result(SessionOpen.self, .init(restore: "r"))
    for number in [3, 4] { _ = try client.result(ScanStart.self, .init(services: [0x180D], scan: number)) }
    world.settle()
    let next = World(scheduler: scheduler, storage: storage)
    let back = next.client()
    let restored = try back.result(SessionOpen.self, .init(restore: "r")).restored
    #expect(restored?.scan == nil && restored?.scans?.map(\.scan) == [3, 4])
    #expect(next.adapter.scan != nil)
  }
}
