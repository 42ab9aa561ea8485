import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Programs that work in the background: G19.
@Suite struct BackgroundTests {
  private let world = World()
  private static let advertisement: [UInt8] = [2, 1, 6, 3, 3, 0x0D, 0x18]

  private var dutyCycle: Double? {
    world.adapter.scan.map { $0.window.inSeconds / $0.interval.inSeconds }
  }

  @Test("G19: a scan needs a service filter, gets no duplicates, and is slow without a session in the foreground")
  func scan() throws {
    let client = world.client()
    _ = try client.result(SessionOpen.self, .init(background: true))
    let error = try client.error(ScanStart.self, .init(name: "Belt"))
    #expect(error?.data?.name == "invalidParameter" && error?.message.contains("services") == true)
    _ = try client.result(ScanStart.self, .init(services: [0x180D], duplicates: true))
    #expect(dutyCycle == 0.1)
    for _ in 0..<3 { world.adapter.hear(DeviceAddress(value: 1, kind: .random), Self.advertisement) }
    #expect(try client.notifications(ScanReport.self).count == 1)

    let other = world.client()
    _ = try other.result(ScanStart.self, .init())
    #expect(dutyCycle == 0.5)
    other.die()
    #expect(dutyCycle == 0.1)
    _ = try client.result(SessionOpen.self, .init(background: false))
    #expect(dutyCycle == 0.5)
    for _ in 0..<3 { world.adapter.hear(DeviceAddress(value: 1, kind: .random), Self.advertisement) }
    #expect(try client.notifications(ScanReport.self).count == 4)
  }

  @Test("G19, G20: a program that is gone is in the background; its scan without filter rests until it is back")
  func gone() throws {
    func program(_ identifier: String) throws -> TestClient {
      let client = world.client()
      _ = try client.result(SessionOpen.self, .init(restore: identifier))
      return client
    }
    let filtered = try program("filtered")
    _ = try filtered.result(ScanStart.self, .init(services: [0x180D], duplicates: true))
    let all = try program("all")
    _ = try all.result(ScanStart.self, .init(duplicates: true))
    #expect(dutyCycle == 0.5)
    filtered.die()
    all.die()
    #expect(dutyCycle == 0.1)
    for _ in 0..<3 { world.adapter.hear(DeviceAddress(value: 1, kind: .random), Self.advertisement) }
    let back = try program("filtered")
    #expect(try back.notifications(ScanReport.self).count == 1)
    #expect(dutyCycle == 0.5)
    back.die()
    let unfiltered = try program("all")
    #expect(try unfiltered.notifications(ScanReport.self).isEmpty)
    #expect(dutyCycle == 0.5)
    for _ in 0..<3 { world.adapter.hear(DeviceAddress(value: 1, kind: .random), Self.advertisement) }
    #expect(try unfiltered.notifications(ScanReport.self).count == 3)
  }

  @Test("G19: an advertisement that is wanted in the background only has no name and is slower")
  func advertising() throws {
    let client = world.client()
    _ = try client.result(SessionOpen.self, .init(restore: "belt"))
    _ = try client.call(AdvertisingStart.self, .init(name: "Belt", services: [0x180D], interval: 0.1))
    let set = try #require(world.adapter.advertisements.keys.first)
    let foreground = try #require(world.adapter.advertisements[set])
    world.adapter.onEvent?(.advertising(set, .on(interval: .milliseconds(100))))
    client.die()
    let background = try #require(world.adapter.advertisements[set])
    #expect(background.interval == .seconds(1))
    let data = AdvertisingData(parsing: background.data + background.scanResponse)
    #expect(data.localName == nil && data.serviceUUIDs == [0x180D])
    let back = world.client()
    _ = try back.result(SessionOpen.self, .init(restore: "belt"))
    #expect(world.adapter.advertisements[set] == foreground)
    // A change of the advertisement without a cause outside is no event.
    #expect(try back.notifications(AdvertisingChanged.self).isEmpty)
  }
}
