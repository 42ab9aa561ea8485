import BledRPC
import Bluetooth
import Controllers
import Logging
import TestSupport
import Testing
import VirtualController

import Adapter
@testable import BledCore

/// Two daemons with own hosts on one air that advertise and connect to each other at the same time, as programs of
/// nearby sessions do.
@Suite struct CrossingHostTests {
  private final class Side {
    let client: TestClient
    let address: DeviceAddress
    private let daemon: Daemon

    init(_ number: UInt64, on air: Air) {
      var model = ControllerModel(address: 0x0011_2233_4400 + number)
      model.features = .bluetooth40
      address = DeviceAddress(value: model.address, kind: .public)
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      daemon = Daemon(
        identity: .init(name: "side \(number)"), policy: World.policy(), scheduler: air.scheduler, logger: logger)
      daemon.add(
        HostAdapter(
          .virtual("adapter \(number)"), by: VirtualTransports(to: VirtualController(model, on: air)),
          spare: DeviceAddress(value: 0xC000_0000_0001, kind: .random), scheduler: air.scheduler, logger: logger))
      client = TestClient(daemon)
    }

    func connect(to other: Side) throws -> Int {
      _ = try client.call(AdvertisingStart.self, .init())
      return try client.call(
        PeripheralConnect.self, .init(address: "\(other.address)", addressType: .public, reconnect: true))
    }
  }

  @Test("Both calls are answered, and both sides read from each other", arguments: 1...20)
  func crossing(seed: UInt64) throws {
    let scheduler = VirtualScheduler()
    let air = Air(scheduler: scheduler, seed: seed)
    let (one, other) = (Side(1, on: air), Side(2, on: air))
    scheduler.advance(by: .seconds(1))
    let calls = [(one, try one.connect(to: other)), (other, try other.connect(to: one))]
    scheduler.advance(by: .seconds(60))
    for (side, call) in calls {
      let device = try #require(try side.client.answer(to: call, PeripheralConnect.self)).get()
      let discovery = try side.client.call(GATTDiscover.self, .init(peripheral: device.peripheral))
      scheduler.advance(by: .seconds(10))
      _ = try #require(try side.client.answer(to: discovery, GATTDiscover.self)).get()
    }
    #expect(air.links.count == 1)
  }
}
