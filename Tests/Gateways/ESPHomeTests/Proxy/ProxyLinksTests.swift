import BledRPC
import Bluetooth
import Testing

@testable import ESPHome

/// Connections of clients to devices, and their attributes.
@Suite struct ProxyLinksTests {
  private static let device = ProxyStage.device

  @Test func slotsAreToldAndGivenBack() throws {
    let stage = ProxyStage()
    let watcher = try stage.greeted()
    stage.send(watcher, 80)
    #expect(watcher.stream.take() == [.connectionsFree(limit: 2, allocated: [])])
    let client = try stage.linked()
    #expect(watcher.stream.take() == [.connectionsFree(limit: 2, allocated: [Self.device])])
    let connect = try #require(try stage.params(PeripheralConnect.self).first)
    #expect(connect.address == "C0:DE:00:00:00:04" && connect.addressType == "random")
    stage.request(client, 68) { $0.number(2, 1 as UInt32) }
    #expect(client.stream.take() == [.notConnected(Self.device, error: 0x16)])
    #expect(watcher.stream.take() == [.connectionsFree(limit: 2, allocated: [])])
    #expect(try stage.params(PeripheralDisconnect.self).map(\.peripheral) == [ProxyStage.peripheral])
  }

  @Test func aDeviceHasOneClientAndSlotsEnd() throws {
    let stage = ProxyStage(connections: 1)
    let client = try stage.linked()
    let other = try stage.greeted()
    stage.request(other, 68) { $0.number(2, 5 as UInt32) }
    #expect(other.stream.take() == [.notConnected(Self.device, error: 0x85)])
    stage.send(other, 68, [8, 5, 16, 5])
    #expect(other.stream.take() == [.notConnected(5, error: 0x85)])
    // The client itself is connected already.
    stage.request(client, 68) { $0.number(2, 5 as UInt32) }
    #expect(client.stream.take() == [.connected(Self.device, mtu: 247)])
    #expect(try stage.params(PeripheralConnect.self).count == 1)
  }

  @Test func failedConnections() throws {
    let cases: [(BluetoothError, Int32)] = [
      (GAPError.timeout.error(""), 0x3E), (GAPError.adapterOff.error(""), 0x85),
      (BluetoothError(domain: .hci, code: 0x08, name: "", message: ""), 0x08),
    ]
    for (error, code) in cases {
      let stage = ProxyStage()
      stage.answer = { method, _ in method == PeripheralConnect.name ? .failure(error) : nil }
      let client = try stage.greeted()
      stage.send(client, 80)
      _ = client.stream.take()
      stage.request(client, 68) { $0.number(2, 5 as UInt32) }
      #expect(
        client.stream.take() == [
          .connectionsFree(limit: 2, allocated: [Self.device]), .notConnected(Self.device, error: code),
          .connectionsFree(limit: 2, allocated: []),
        ])
    }
  }

  @Test func aDeviceThatDisconnects() throws {
    let stage = ProxyStage()
    let client = try stage.linked()
    try stage.session().notify(
      PeripheralDisconnected.self,
      PeripheralDisconnected.Params(
        peripheral: ProxyStage.peripheral,
        reason: RPCError(BluetoothError(domain: .hci, code: 0x13, name: "", message: ""))))
    stage.settle()
    #expect(client.stream.take() == [.notConnected(Self.device, error: 0x13)])
    stage.request(client, 73) { $0.number(2, 3 as UInt32) }
    #expect(client.stream.take() == [.failed(Self.device, 3, error: -1)])
    #expect(stage.calls.allSatisfy { $0.method != GATTRead.name })
  }

  @Test func servicesAreDiscoveredOnce() throws {
    let stage = ProxyStage()
    let client = try stage.linked()
    for _ in 0..<2 {
      stage.request(client, 70)
      #expect(
        client.stream.take() == [
          .service(Self.device, ProxyStage.services[0], minor: 15), .servicesDone(Self.device),
        ])
    }
    #expect(try stage.params(GATTDiscover.self).count == 1)
    try stage.session().notify(
      GATTServicesChanged.self, GATTServicesChanged.Params(peripheral: ProxyStage.peripheral, start: 1, end: 9))
    stage.settle()
    stage.request(client, 70)
    #expect(try stage.params(GATTDiscover.self).count == 2)
  }

  @Test func valuesAreReadAndWrittenAfterADiscovery() throws {
    let stage = ProxyStage()
    let client = try stage.linked()
    stage.request(client, 73) { $0.number(2, 3 as UInt32) }
    stage.request(client, 75) {
      $0.number(2, 3 as UInt32)
      $0.bytes(4, [9])
    }
    stage.request(client, 76) { $0.number(2, 4 as UInt32) }
    #expect(
      client.stream.take() == [
        .value(Self.device, 3, [1, 2]), .written(Self.device, 3), .value(Self.device, 4, [1, 2]),
      ])
    let write = try #require(try stage.params(GATTWrite.self).first)
    #expect(write.response == false && write.value.octets == [9] && write.attribute == .handle(3))
    #expect(try stage.params(GATTDiscover.self).count == 1)
    stage.answer = { method, _ in
      method == GATTRead.name ? .failure(BluetoothError(domain: .att, code: 0x05, name: "", message: "")) : nil
    }
    stage.request(client, 73) { $0.number(2, 3 as UInt32) }
    #expect(client.stream.take() == [.failed(Self.device, 3, error: 5)])
  }

  @Test func notificationsFollowTheAnswer() throws {
    let stage = ProxyStage()
    let client = try stage.linked()
    func value(_ octet: UInt8) throws {
      try stage.session().notify(
        GATTValue.self, GATTValue.Params(peripheral: ProxyStage.peripheral, handle: 3, value: HexBytes([octet])))
    }
    stage.request(client, 78) {
      $0.number(2, 3 as UInt32)
      $0.flag(3, true)
    }
    try value(1)
    stage.settle()
    #expect(client.stream.take() == [.notifying(Self.device, 3), .notified(Self.device, 3, [1])])
    // The client configures the characteristic, which bled has done.
    stage.request(client, 77) {
      $0.number(2, 4 as UInt32)
      $0.bytes(3, [1, 0])
    }
    #expect(client.stream.take() == [.written(Self.device, 4)])
    #expect(try stage.params(GATTWrite.self).isEmpty)
    try value(2)
    stage.settle()
    #expect(client.stream.take() == [.notified(Self.device, 3, [2])])
    stage.request(client, 78) { $0.number(2, 3 as UInt32) }
    try value(3)
    stage.settle()
    #expect(client.stream.take() == [.notifying(Self.device, 3)])
  }

  @Test func aLostSubscriptionEndsTheConnection() throws {
    let stage = ProxyStage()
    let client = try stage.linked()
    try stage.session().notify(
      GATTSubscriptionLost.self,
      GATTSubscriptionLost.Params(
        peripheral: ProxyStage.peripheral, handle: 3, reason: RPCError(BledError.tooSlow.error(""))))
    stage.settle()
    #expect(client.stream.take() == [.notConnected(Self.device, error: 0x16)])
  }

  @Test func aClientThatGoesLeavesNothing() throws {
    let stage = ProxyStage()
    let watcher = try stage.greeted()
    stage.send(watcher, 80)
    let client = try stage.linked()
    _ = watcher.stream.take()
    client.client.ended()
    stage.settle()
    #expect(try stage.session().isClosed)
    #expect(watcher.stream.take() == [.connectionsFree(limit: 2, allocated: [])])
    _ = try stage.linked()
  }

  @Test func bledGoesAndComesBack() throws {
    let stage = ProxyStage()
    let client = try stage.linked()
    try stage.session().end()
    stage.settle()
    #expect(client.stream.take() == [.notConnected(Self.device, error: 0x85)])
    stage.request(client, 68) { $0.number(2, 4 as UInt32) }
    #expect(client.stream.take() == [.connected(Self.device, mtu: 247)])
  }

  @Test func pairingAndItsEnd() throws {
    let stage = ProxyStage()
    let client = try stage.linked()
    stage.answer = { method, _ in
      method == PeripheralPair.name
        ? .success(PeripheralPair.Result(level: "encrypted", keySize: 16, bonded: true)) : nil
    }
    stage.request(client, 68) { $0.number(2, 2 as UInt32) }
    stage.request(client, 68) { $0.number(2, 3 as UInt32) }
    #expect(client.stream.take() == [.paired(Self.device, error: 0), .unpaired(Self.device, error: 0)])
    stage.answer = { method, _ in
      method == PeripheralPair.name ? .failure(GAPError.pairingFailed.error("")) : nil
    }
    stage.request(client, 68) { $0.number(2, 2 as UInt32) }
    #expect(client.stream.take() == [.paired(Self.device, error: 0x85)])
  }

  @Test func aDeviceIsForgottenNowOrAtTheEndOfItsConnection() throws {
    let stage = ProxyStage()
    stage.daemon.devices = [
      PeripheralList.Entry(
        peripheral: ProxyStage.peripheral, address: "C0:DE:00:00:00:04", addressType: "random", adapter: "hci0",
        name: nil, rssi: nil, state: "disconnected", mine: false, mtu: nil)
    ]
    let client = try stage.linked()
    stage.request(client, 68) { $0.number(2, 6 as UInt32) }
    #expect(client.stream.take() == [.cacheCleared(Self.device, error: 0)])
    #expect(try stage.params(PeripheralForget.self).isEmpty)
    stage.request(client, 68) { $0.number(2, 1 as UInt32) }
    #expect(try stage.params(PeripheralForget.self).count == 1)
    _ = client.stream.take()
    stage.request(client, 68) { $0.number(2, 6 as UInt32) }
    #expect(client.stream.take() == [.cacheCleared(Self.device, error: 0)])
    #expect(
      try stage.params(PeripheralForget.self).map(\.peripheral) == [ProxyStage.peripheral, ProxyStage.peripheral])
  }

  @Test func parametersAreInSeconds() throws {
    let stage = ProxyStage()
    stage.answer = { method, _ in
      method == PeripheralSetParameters.name
        ? .success(LinkDescription(peripheral: ProxyStage.peripheral, role: "central", mtu: 247)) : nil
    }
    let client = try stage.linked()
    stage.request(client, 145) {
      $0.number(2, 6 as UInt32)
      $0.number(3, 12 as UInt32)
      $0.number(5, 400 as UInt32)
    }
    #expect(client.stream.take() == [.parametersSet(Self.device, error: 0)])
    let wish = try #require(try stage.params(PeripheralSetParameters.self).first?.parameters)
    #expect(wish.minimumInterval == 0.0075 && wish.maximumInterval == 0.015 && wish.timeout == 4 && wish.latency == 0)
  }

  @Test func requestsBeyondTheLimitAreRefused() throws {
    let stage = ProxyStage()
    let client = try stage.linked()
    stage.request(client, 70)
    _ = client.stream.take()
    for _ in 0..<300 {
      client.client.receive(
        PlainFrames.octets(APIFrame(type: 73, payload: [8, 132, 128, 128, 128, 224, 155, 48, 16, 3])))
    }
    #expect(stage.proxy.counters.requestsRefused == 44)
    #expect(client.stream.take() == [APIFrame](repeating: .failed(Self.device, 3, error: 0x85), count: 44))
    stage.settle()
    #expect(client.stream.take().count == 256)
  }
}
