import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Devices that go out of range: `rssiOut` and `scan.lost`.
@Suite struct ScanLostTests {
  private let world = World()
  private let belt = DeviceAddress(value: 0xC000_0000_0001, kind: .random)
  private let beltData = Octets.flags + Octets.services(0x180D) + Octets.name("Belt")

  @Test("A device that is silent is lost once, and news when it is back")
  func lost() throws {
    let client = world.client()
    let other = world.client()
    _ = try client.result(ScanStart.self, .init(lost: 10))
    _ = try other.result(ScanStart.self, .init())
    let began = world.scheduler.secondsSinceEpoch
    for _ in 0..<5 {
      world.adapter.hear(belt, beltData)
      world.scheduler.advance(by: .seconds(3))
    }
    #expect(try client.notifications(ScanReport.self).count == 1)
    world.scheduler.advance(by: .milliseconds(6_900))
    #expect(try client.notifications(ScanLost.self).isEmpty)
    world.scheduler.advance(by: .milliseconds(100))
    let lost = try client.notifications(ScanLost.self)
    #expect(lost.map(\.peripheral) == (try client.notifications(ScanReport.self).map(\.peripheral)))
    #expect(lost.map { ($0.lastHeard - began).rounded() } == [12])
    world.scheduler.advance(by: .seconds(100))
    #expect(try client.notifications(ScanLost.self).count == 1)
    world.adapter.hear(belt, beltData)
    #expect(try client.notifications(ScanReport.self).count == 2)
    #expect(try other.notifications(ScanReport.self).count == 1)
    #expect(try other.notifications(ScanLost.self).isEmpty)
  }

  @Test("Only what passes the filters keeps a device; one that never passed is not lost")
  func filtered() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(rssi: -70, duplicates: true, filters: [.init(name: "Belt")], lost: 2))
    let lamp = DeviceAddress(value: 0xC000_0000_0002, kind: .random)
    world.adapter.hear(belt, beltData, rssi: -60)
    for _ in 0..<4 {
      world.adapter.hear(belt, beltData, rssi: -71)
      world.adapter.hear(lamp, Octets.name("Lamp"), rssi: -40)
      world.settle()
    }
    #expect(try client.notifications(ScanReport.self).map(\.name) == ["Belt"])
    #expect(try client.notifications(ScanLost.self).count == 1)
  }

  @Test("rssiOut: in above one strength, out below the other, and news when it is back in")
  func hysteresis() throws {
    let all = world.client()
    let once = world.client()
    _ = try all.result(ScanStart.self, .init(rssi: -60, duplicates: true, rssiOut: -80))
    _ = try once.result(ScanStart.self, .init(rssi: -60, rssiOut: -80))
    for rssi in [-70, -60, -70, -80, -81, -79, -61, -59, -80] { world.adapter.hear(belt, beltData, rssi: rssi) }
    #expect(try all.notifications(ScanReport.self).map(\.rssi) == [-60, -70, -80, -59, -80])
    #expect(try once.notifications(ScanReport.self).map(\.rssi) == [-60, -59])
  }

  @Test func whatCannotBeMeantIsRefused() throws {
    let client = world.client()
    for lost in [0, 0.49, 3600.5, -1, Double.greatestFiniteMagnitude] {
      let error = try client.error(ScanStart.self, .init(lost: lost))
      #expect(error?.data?.name == "invalidParameter" && error?.message.contains("0.5 to 3600 seconds") == true)
    }
    for params in [ScanStart.Params(rssiOut: -80), .init(rssi: -80, rssiOut: -70)] {
      let error = try client.error(ScanStart.self, params)
      #expect(error?.data?.name == "invalidParameter" && error?.message.contains("give \"rssi\", too") == true)
    }
    #expect(world.adapter.scans.isEmpty)
  }

  @Test("A scan that is replaced or stopped loses nothing any more")
  func replaced() throws {
    let client = world.client()
    for next in [ScanStart.Params(lost: 5), .init(), nil] {
      _ = try client.result(ScanStart.self, .init(lost: 1))
      world.adapter.hear(belt, beltData)
      if let next {
        _ = try client.result(ScanStart.self, next)
      } else {
        _ = try client.result(ScanStop.self, .init())
      }
      world.scheduler.advance(by: .seconds(60))
    }
    #expect(try client.notifications(ScanLost.self).isEmpty)
  }

  @Test("A program that is gone finds kept what was lost meanwhile; a suspended scan loses nothing")
  func background() throws {
    func program(_ identifier: String) throws -> TestClient {
      let client = world.client()
      _ = try client.result(SessionOpen.self, .init(restore: identifier))
      return client
    }
    let named = try program("named")
    _ = try named.result(ScanStart.self, .init(services: [0x180D], lost: 5))
    let all = try program("all")
    _ = try all.result(ScanStart.self, .init(lost: 5))
    world.adapter.hear(belt, beltData)
    named.die()
    all.die()
    world.scheduler.advance(by: .seconds(60))
    #expect(try program("named").notifications(ScanLost.self).count == 1)
    #expect(try program("all").notifications(ScanLost.self).isEmpty)
  }

  @Test("Rule 6: a client that does not read is told of a loss when it has room")
  func noRoom() throws {
    let client = world.client()
    _ = try client.result(ScanStart.self, .init(duplicates: true, lost: 5))
    client.reads = false
    // Reports until no more have room.
    let session = try #require(client.session)
    var number: UInt64 = 0
    while session.outbox.droppedReports == 0 {
      number += 1
      world.adapter.hear(DeviceAddress(value: number, kind: .random), Octets.name("N"))
    }
    world.scheduler.advance(by: .seconds(6))
    client.reads = true
    for _ in 0..<3 {
      client.drain()
      world.scheduler.advance(by: .seconds(6))
    }
    let reported = Set(try client.notifications(ScanReport.self).map(\.peripheral))
    let lost = try client.notifications(ScanLost.self).map(\.peripheral)
    #expect(Set(lost).isSuperset(of: reported) && lost.count == Set(lost).count && lost.count == Int(number))
  }

  @Test("A passive scan is passive unless another session's asks, also in the background")
  func passive() throws {
    let passive = world.client()
    let active = world.client()
    _ = try passive.result(ScanStart.self, .init(services: [0x180D], active: false))
    _ = try active.result(ScanStart.self, .init())
    _ = try active.result(ScanStop.self, .init())
    _ = try passive.result(SessionOpen.self, .init(background: true))
    _ = try passive.result(SessionOpen.self, .init(background: false))
    #expect(world.adapter.scans.map { $0?.isActive } == [false, true, false, false, false])
  }
}
