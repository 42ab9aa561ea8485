import BledClient
import BledRPC
import Bluetooth
import Testing

/// A cancelled call does not affect another user of the same client.
@Suite("BledClient: cancelled calls and other users") struct ClientUseTests {
  private static let link = PeripheralConnect.Result(
    peripheral: "P", address: "C0:00:00:00:00:01", addressType: "random", adapter: "a", mtu: 23, attempts: 1)

  /// Begins a call, cancels it when the daemon has read it, and waits for its end.
  private static func cancel<Value: Sendable>(
    when asked: AsyncStream<Void>, _ call: @escaping @Sendable () async throws -> Value
  ) async {
    let call = Task { try await call() }
    for await _ in asked { break }
    call.cancel()
    let failure = await #expect(throws: BluetoothError.self) { try await call.value }
    #expect(failure?.name == "cancelled")
  }

  /// Reads the next call, which must be a measurement of the signal: the client sent nothing before it.
  private static func measured(_ daemon: FakeDaemon) throws {
    try daemon.answer(daemon.expect(PeripheralRSSI.self).id, PeripheralRSSI.Result(rssi: 0))
  }

  @Test(
    "a cancelled second subscribe leaves the first stream its values, and unsubscribes with it",
    arguments: [AttributePath.handle(3), .characteristic(0x2A37, of: 0x180D)])
  func secondSubscription(_ path: AttributePath) async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      try daemon.answer(daemon.expect(GATTSubscribe.self).id, AttributeFound(handle: 3))
      let second = try daemon.expect(GATTSubscribe.self).id
      ask.yield()
      try Self.measured(daemon)
      try daemon.answer(second, AttributeFound(handle: 3))
      try daemon.notify(GATTValue.self, .init(peripheral: "P", handle: 3, value: HexBytes([7])))
      try Self.measured(daemon)
      _ = try daemon.expect(GATTUnsubscribe.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"))
    var values: AsyncThrowingStream<[UInt8], any Error>? = try await peripheral.subscribe(path)
    await Self.cancel(when: asked) { try await peripheral.subscribe(path) }
    _ = try await peripheral.rssi()
    var iterator = values?.makeAsyncIterator()
    #expect(try await iterator?.next() == [7])
    _ = try await peripheral.rssi()
    (values, iterator) = (nil, nil)
    _ = values
    try await script.value
  }

  @Test("a subscription that is made after its call was cancelled is ended, but not before a waiting call has its own")
  func lateSubscription() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      let first = try daemon.expect(GATTSubscribe.self).id
      ask.yield()
      let second = try daemon.expect(GATTSubscribe.self).id
      try daemon.answer(first, AttributeFound(handle: 3))
      try Self.measured(daemon)
      // Another characteristic: the first one is not needed.
      try daemon.answer(second, AttributeFound(handle: 5))
      guard try daemon.expect(GATTUnsubscribe.self).params.attribute == .handle(3) else {
        throw FakeDaemon.Trouble("the wrong one")
      }
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"))
    await Self.cancel(when: asked) { try await peripheral.subscribe(3) }
    async let second = peripheral.subscribe(.characteristic(0x2A37, of: 0x180D))
    async let measured = peripheral.rssi()
    let values = try await second
    _ = try await measured
    try await script.value
    withExtendedLifetime(values) {}
  }

  @Test(
    "a cancelled second connect leaves the first its reconnection, and is cancelled when the first has ended",
    arguments: [DeviceReference.identifier("P"), .address("c0:00:00:00:00:01", type: nil)])
  func secondConnection(_ device: DeviceReference) async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      let lost = RPCError(GAPError.disconnected.error("gone"))
      try daemon.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: lost, reconnecting: true))
      _ = try daemon.expect(PeripheralConnect.self)
      ask.yield()
      try Self.measured(daemon)
      try daemon.notify(PeripheralConnected.self, Self.link)
      try daemon.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: lost))
      _ = try daemon.expect(PeripheralDisconnect.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"), reconnects: true)
    await Self.cancel(when: asked) { try await client.connect(device) }
    _ = try await peripheral.rssi()
    var changes: [String] = []
    for await change in peripheral.changes {
      switch change {
      case .lost: changes.append("lost")
      case .back: changes.append("back")
      }
    }
    #expect(changes == ["lost", "back"])
    try await script.value
  }

  @Test("of two pending connections to a device the last one that is cancelled cancels them")
  func pendingConnections() async throws {
    let daemon = try FakeDaemon()
    let (first, askFirst) = AsyncStream.makeStream(of: Void.self)
    let (second, askSecond) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      _ = try daemon.expect(PeripheralConnect.self)
      askFirst.yield()
      _ = try daemon.expect(PeripheralConnect.self)
      askSecond.yield()
      try Self.measured(daemon)
      _ = try daemon.expect(PeripheralDisconnect.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    let waiting = Task { try await client.connect(.identifier("P")) }
    for await _ in first { break }
    await Self.cancel(when: second) { try await client.connect(.identifier("P")) }
    _ = try await client.call(PeripheralRSSI.self, .init(peripheral: "P"))
    waiting.cancel()
    await #expect(throws: BluetoothError.self) { try await waiting.value }
    try await script.value
  }

  @Test("a reader of the end that is cancelled leaves the reader of the changes its own; a lost link that fails ends")
  func streams() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      try Self.measured(daemon)
      let lost = RPCError(GAPError.disconnected.error("gone"))
      for _ in 0..<2 {
        try daemon.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: lost, reconnecting: true))
        try daemon.notify(PeripheralConnected.self, Self.link)
      }
      try daemon.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: lost, reconnecting: true))
      try daemon.notify(
        PeripheralConnectFailed.self, .init(peripheral: "P", reason: RPCError(GAPError.cancelled.error("blocked"))))
      _ = try daemon.expect(AdapterList.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"), reconnects: true)
    let reader = Task { for await _ in peripheral.ends {} }
    reader.cancel()
    await reader.value
    _ = try await peripheral.rssi()
    var changes: [String] = []
    for await change in peripheral.changes {
      switch change {
      case .lost: changes.append("lost")
      case .back: changes.append("back")
      }
    }
    #expect(changes == ["lost", "back", "lost", "back", "lost"])
    client.call(AdapterList.self, Empty()) { _ in }
    try await script.value
  }

  @Test("a link that was lost and does not come back ends with the reason")
  func failedReconnection() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      try daemon.notify(PeripheralDisconnected.self, .init(peripheral: "P", reason: nil, reconnecting: true))
      try daemon.notify(
        PeripheralConnectFailed.self, .init(peripheral: "P", reason: RPCError(GAPError.cancelled.error("blocked"))))
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"), reconnects: true)
    var ends: [String?] = []
    for await end in peripheral.ends { ends.append(end?.message) }
    #expect(ends == ["blocked"])
    try await script.value
  }

  @Test("a cancelled call for a train stops it at once, and again when its answer comes; not one that is followed")
  func trains() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let train = PeriodicSync.Result(peripheral: "P", adapter: "a", sid: 1, interval: 0.1, phy: nil)
    let script = daemon.play { daemon in
      let first = try daemon.expect(PeriodicSync.self).id
      ask.yield()
      guard try daemon.expect(PeriodicStop.self).params == .init(peripheral: "P", sid: 1) else {
        throw FakeDaemon.Trouble("another train")
      }
      let next = try daemon.expect(PeripheralRSSI.self).id
      try daemon.answer(first, train)
      try daemon.answer(next, PeripheralRSSI.Result(rssi: 0))
      _ = try daemon.expect(PeriodicStop.self)
      try daemon.answer(daemon.expect(PeriodicSync.self).id, train)
      try daemon.notify(
        PeriodicReport.self,
        .init(peripheral: "P", adapter: "a", sid: 1, data: HexBytes([7]), time: 0))
      let third = try daemon.expect(PeriodicSync.self).id
      ask.yield()
      try Self.measured(daemon)
      try daemon.answer(third, train)
      try Self.measured(daemon)
      _ = try daemon.expect(PeriodicStop.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    let params = PeriodicSync.Params(peripheral: "P", sid: 1)
    await Self.cancel(when: asked) { try await client.synchronise(params) }
    _ = try await client.call(PeripheralRSSI.self, .init(peripheral: "P"))
    func follow() async throws {
      let followed = try await client.synchronise(params)
      for try await report in followed.reports {
        #expect(report.data.octets == [7])
        break
      }
      await Self.cancel(when: asked) { try await client.synchronise(params) }
      for _ in 0..<2 { _ = try await client.call(PeripheralRSSI.self, .init(peripheral: "P")) }
      withExtendedLifetime(followed) {}
    }
    try await follow()
    try await script.value
  }

  @Test("a cancelled second agent leaves the first its questions")
  func agents() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PairingRegister.self).id, Empty())
      let second = try daemon.expect(PairingRegister.self).id
      ask.yield()
      try Self.measured(daemon)
      try daemon.answer(second, Empty())
      guard try daemon.expect(PairingRegister.self).params.capability == .displayYesNo else {
        throw FakeDaemon.Trouble("another capability")
      }
    }
    let client = try await BledClient.connect(to: daemon.path)
    try await client.answerPairings(with: .init(capability: .displayYesNo) { _ in true })
    await Self.cancel(when: asked) {
      try await client.answerPairings(with: .init(capability: .none) { _ in false })
    }
    _ = try await client.call(PeripheralRSSI.self, .init(peripheral: "P"))
    try await script.value
  }
}
