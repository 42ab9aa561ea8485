import Adapter
import Bluetooth
import GATT
import Testing

@testable import Scenarios
@testable import VirtualDevices

/// The radio of scenarios on virtual controllers: delays, sizes, strengths and losses.
@Suite struct VirtualRadioTests {
  private static func device(_ members: String, adapter: String = "") -> String {
    """
    { adapter: { \(adapter) }, devices: [{ name: "a", address: "C0:DE:00:00:00:01", addressType: "random", \(members)
        services: [{ uuid: "180F", characteristics: [
          { uuid: "2A19", properties: ["read", "notify"], value: "32", notifyEvery: 0.1 }] }] }] }
    """
  }

  @Test("A link has the strength, the MTU and the interval of the scenario, after the device's delay")
  func link() throws {
    let stage = try VirtualStage(Self.device("rssi: -42, connectDelay: 2,", adapter: "mtu: 185"))
    let start = stage.scheduler.now
    let client = try #require(stage.connect(1))
    #expect((.seconds(2)...(.seconds(3))).contains(start.duration(to: stage.scheduler.now)))
    #expect(client.link.maximumMTU == 185)
    #expect(client.link.parameters?.interval == ConnectionParameters().interval.lowerBound)
    var rssi: Int?
    client.link.readRSSI { rssi = try? $0.get() }
    stage.scheduler.advance(by: .seconds(1))
    #expect(rssi == -42)
  }

  @Test("A connection that is cancelled during the device's delay is not made")
  func cancellation() throws {
    let stage = try VirtualStage(Self.device("connectDelay: 2,"))
    stage.adapter.host.connect(to: VirtualStage.address(1), ConnectionParameters())
    stage.scheduler.advance(by: .seconds(1))
    stage.adapter.host.cancelConnect(to: VirtualStage.address(1))
    stage.scheduler.advance(by: .seconds(5))
    #expect(stage.links.isEmpty && stage.air.commandedDevices.allSatisfy { !$0.isConnected })
  }

  @Test("Lost values are reported, and other packets arrive")
  func lostValues() throws {
    let stage = try VirtualStage(Self.device("losses: { value: 0.5 },"))
    let client = try #require(stage.connect(1))
    var lost = 0
    let serve = client.link.onEvent
    client.link.onEvent = { event in
      if case .lost(let count) = event { lost += count }
      serve?(event)
    }
    let level = try #require(try client.find(0x2A19))
    _ = try client.run(.subscribe(descriptor: level.valueHandle + 1, .notification))
    stage.scheduler.advance(by: .milliseconds(10_050))
    #expect(lost > 20 && client.values.count > 20 && lost + client.values.count == 100)
    #expect(stage.log.all.isEmpty, "\(stage.log.all)")
  }

  @Test("Maximum packets of a connection event")
  func packets() throws {
    func time(_ count: Int) throws -> Duration {
      let stage = try VirtualStage(Self.device("", adapter: "packetsPerEvent: \(count)"))
      let client = try #require(stage.connect(1))
      let level = try #require(try client.find(0x2A19))
      let start = stage.scheduler.now
      // Requests and answers of 23 octets need one packet each.
      for _ in 0..<10 { _ = try client.run(.read(level.valueHandle)) }
      for _ in 0..<60 { client.link.send([0x52, level.valueHandle.low, 0, 1]) }
      _ = try client.run(.read(level.valueHandle))
      return start.duration(to: stage.scheduler.now)
    }
    #expect(try time(1) > time(6))
  }

  @Test("An adapter starts after its delay, and one without a delay with a stopped clock at once")
  func start() throws {
    let slow = try VirtualStage("{ adapter: { startDelay: 30 } }")
    #expect(slow.scheduler.now == Instant.zero.advanced(by: .seconds(30)))
    let manual = try VirtualStage("{ clock: 'manual' }")
    #expect(manual.scheduler.now == .zero)
  }

  @Test("A device that only advertises has private addresses")
  func privateAddress() throws {
    let stage = try VirtualStage(Self.device("connectable: false, privateAddress: 10,"))
    stage.scan(35)
    let addresses = Set(stage.reports.compactMap(\.address))
    #expect((3...5).contains(addresses.count) && addresses.allSatisfy(\.isResolvablePrivate))
  }

  @Test("A device advertises as rarely as it should")
  func longInterval() throws {
    let stage = try VirtualStage(Self.device("interval: 100,"))
    stage.scan(3600)
    // The scanner listens for a part of the time.
    #expect((5...37).contains(stage.reports.count { !$0.isScanResponse }))
  }

  @Test("A device on the coded PHY is found there by an adapter without long advertisements")
  func longRange() throws {
    let stage = try VirtualStage(Self.device("longRange: true,"))
    stage.scan()
    #expect(stage.reports.isEmpty)
    stage.adapter.host.setScan(ScanParameters(phys: [.leCoded]))
    stage.scheduler.advance(by: .seconds(5))
    #expect(stage.reports.first?.primaryPHY == .leCoded)
    stage.adapter.host.setScan(nil)
    stage.adapter.host.connect(to: VirtualStage.address(1), ConnectionParameters(phys: [.le1M, .leCoded]))
    stage.scheduler.run(for: .seconds(10)) { !stage.links.isEmpty }
    #expect(stage.links.count == 1)
  }
}

extension UInt16 {
  fileprivate var low: UInt8 { UInt8(truncatingIfNeeded: self) }
}
