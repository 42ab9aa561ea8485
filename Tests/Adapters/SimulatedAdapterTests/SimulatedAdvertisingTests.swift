import Adapter
import Bluetooth
import GATT
import Testing

@testable import SimulatedAdapter

/// Advertisements of our own adapter, and the devices that hear them.
@Suite(.onBothAirs) struct SimulatedAdvertisingTests {
  private func advertisement(_ name: String, interval: Duration = .milliseconds(100)) throws -> AdvertisingParameters {
    let packed = try AdvertisingContent(name: name, serviceUUIDs: [0x180D]).packed()
    return AdvertisingParameters(interval: interval, data: packed.data, scanResponse: packed.scanResponse)
  }

  @Test(.onSimulatedAir("the controller chooses another interval")) func theIntervalIsTheOneTheControllerCanDo() throws
  {
    let world = try AdapterStage.on("{}")
    world.forget()
    world.adapter.setAdvertising(AdvertisingSetID(1), try advertisement("a", interval: .milliseconds(33)))
    world.adapter.setAdvertising(AdvertisingSetID(2), try advertisement("b", interval: .milliseconds(1)))
    world.adapter.setAdvertising(AdvertisingSetID(3), try advertisement("c", interval: .seconds(60)))
    #expect(world.trace.isEmpty)
    world.scheduler.advance(by: .seconds(1))
    #expect(
      world.trace == [
        "advertising 1 on 0.0325 seconds", "advertising 2 on 0.02 seconds", "advertising 3 on 10.24 seconds",
      ])
    world.forget()
    world.adapter.setAdvertising(AdvertisingSetID(1), nil)
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace == ["advertising 1 off"])
  }

  @Test(
    "Advertisements take turns on the one set, each is heard, and the real interval is told (P19)",
    .onSimulatedAir("the order is that of a host"))
  func turns() throws {
    let scheduler = VirtualScheduler()
    let air = Airs.make(scheduler: scheduler, seed: 3)
    let sender = try AdapterStage("{ adapter: { advertisingSets: 1 } }", id: "sender", air: air, scheduler: scheduler)
    let listener = try AdapterStage("{}", id: "listener", air: air, scheduler: scheduler)
    for world in [sender, listener] { world.adapter.start() }
    scheduler.advance(by: .seconds(1))
    listener.adapter.setScan(ScanParameters(isActive: false, interval: .milliseconds(10), window: .milliseconds(10)))
    sender.forget()
    sender.adapter.setAdvertising(AdvertisingSetID(1), try advertisement("a"))
    scheduler.advance(by: .seconds(1))
    sender.adapter.setAdvertising(AdvertisingSetID(2), AdvertisingParameters(data: Array(repeating: 0, count: 32)))
    sender.adapter.setAdvertising(AdvertisingSetID(3), try advertisement("b", interval: .seconds(1)))
    scheduler.advance(by: .seconds(1))
    #expect(
      sender.trace == [
        "advertising 1 on 0.1 seconds", "advertising 2 failed advertisingDataTooLong", "advertising 3 on 0.5 seconds",
        "advertising 1 on 0.2 seconds",
      ])
    sender.forget()
    listener.forget()
    scheduler.advance(by: .seconds(20))
    #expect(sender.trace.isEmpty)
    func heard(_ name: String) -> Int { listener.reports.count { AdvertisingData(parsing: $0.data).localName == name } }
    #expect((90...110).contains(heard("a")), "\(heard("a"))")
    #expect((30...60).contains(heard("b")), "\(heard("b"))")
    sender.adapter.setAdvertising(AdvertisingSetID(1), nil)
    scheduler.advance(by: .seconds(1))
    #expect(sender.trace == ["advertising 1 off", "advertising 3 on 1.0 seconds"])
  }

  @Test("Too many advertisements are refused, and follow when there is room (P19)")
  func tooMany() throws {
    let world = try AdapterStage.on("{ adapter: { advertisingSets: 1 } }")
    let last = UInt32(AdvertisingRotation.limit + 1)
    for number in 1...last { world.adapter.setAdvertising(AdvertisingSetID(number), try advertisement("a")) }
    world.scheduler.advance(by: .seconds(1))
    #expect(world.trace.contains("advertising \(last) failed advertisingSetsExhausted"))
    world.forget()
    world.adapter.setAdvertising(AdvertisingSetID(2), nil)
    world.scheduler.advance(by: .seconds(10))
    #expect(world.trace.contains("advertising \(last) on 1.6 seconds"))
  }

  @Test func twoAdaptersOnOneAirHearAndConnectToEachOther() throws {
    let scheduler = VirtualScheduler()
    let air = Airs.make(scheduler: scheduler, seed: 3)
    let one = try AdapterStage("{}", id: "one", air: air, scheduler: scheduler)
    let two = try AdapterStage("{}", id: "two", air: air, scheduler: scheduler)
    let server = Server(two)
    one.adapter.start()
    two.adapter.start()
    two.adapter.setAdvertising(AdvertisingSetID(1), try advertisement("two"))
    one.adapter.setScan(ScanParameters())
    scheduler.advance(by: .seconds(5))
    let report = try #require(one.reports.first)
    let address = try #require(report.address)
    #expect(address == two.adapter.information.address)
    #expect(AdvertisingData(parsing: report.data).localName == "two")
    #expect(two.reports.isEmpty)

    one.adapter.connect(to: address, ConnectionParameters())
    scheduler.advance(by: .seconds(5))
    #expect(one.trace.last == "connected \(address) central 1")
    #expect(two.trace.contains("connected \(one.adapter.information.address) peripheral 1"))
    let client = Client(try #require(one.links.first), one)
    #expect(try client.run(.exchangeMTU) == .mtu(517))
    let value = try #require(try client.find(0x2A00))
    #expect(try client.run(.read(value.valueHandle)) == .value(Array("Server".utf8)))
    // An advertisement outlasts a connection made through it.
    one.forget()
    scheduler.advance(by: .seconds(5))
    #expect(one.reports.contains { $0.address == report.address })
    // Without power the other side hears why.
    two.adapter.setPower(false) { _ in }
    scheduler.advance(by: .seconds(1))
    #expect(client.reason?.code == 0x15)
    #expect(server.hasEnded)
  }

  @Test func devicesOfASharedScenarioAreThereOnce() throws {
    let scheduler = VirtualScheduler()
    let air = Airs.make(scheduler: scheduler, seed: 3)
    let worlds = try ["one", "two"].map { try AdapterStage("", id: $0, air: air, scheduler: scheduler) }
    let all = ScanParameters(isActive: false, interval: .milliseconds(10), window: .milliseconds(10))
    for world in worlds {
      world.adapter.start()
      world.adapter.setScan(all)
    }
    scheduler.advance(by: .seconds(20))
    for world in worlds {
      #expect((180...200).contains(world.reports.count { $0.address == AdapterStage.address(1) }))
    }
    // One of them connects: the other no longer receives the device.
    _ = try #require(worlds[0].connect(1))
    worlds[1].forget()
    scheduler.advance(by: .seconds(5))
    #expect(!worlds[1].reports.contains { $0.address == AdapterStage.address(1) })
  }
}
