import BledClient
import BledRPC
import Bluetooth
import Synchronization
import Testing

@Suite("BledClient: restoration") struct ClientRestorationTests {
  private static let state = RestoredState(
    since: 1, scan: nil,
    peripherals: [
      .init(
        peripheral: "P", address: "C0:00:00:00:00:01", addressType: "random", adapter: "a", name: nil,
        state: "connected", mtu: 100, services: [], subscriptions: [3]),
      .init(
        peripheral: "Q", address: "C0:00:00:00:00:02", addressType: "random", adapter: "a", name: nil,
        state: "connecting", mtu: nil, services: [], subscriptions: []),
    ], services: [], advertisements: [])

  @Test("G20: observers registered in prepare miss no preserved event, even if they arrive with the answer")
  func keptEvents() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play(restored: Self.state) { daemon in
      // These are sent in one write with the answer to session.open.
      daemon.send(
        try RPCEncoding.notification(
          GATTValue.self, .init(peripheral: "P", handle: 3, value: HexBytes([1])))
          + RPCEncoding.notification(
            PeripheralDisconnected.self,
            .init(peripheral: "P", reason: RPCError(GAPError.disconnected.error("gone")))))
      _ = try daemon.expect(GATTUnsubscribe.self)
      try daemon.answer(daemon.expect(SessionEnd.self).id, Empty())
      try daemon.expectEnd()
    }
    let found = Mutex<(Peripheral, AsyncThrowingStream<[UInt8], any Error>)?>(nil)
    let client = try await BledClient.connect(
      to: daemon.path, restoration: .init("app", keep: .seconds(60)),
      prepare: { client in
        let peripherals = client.restored?.peripherals.compactMap { client.peripheral($0) } ?? []
        if let first = peripherals.first, peripherals.count == 1 {
          found.withLock { $0 = (first, first.restoredValues(3)) }
        }
      })
    let (peripheral, values) = try #require(found.withLock { $0 })
    #expect(peripheral.link.mtu == 100)
    var received: [[UInt8]] = []
    await #expect(throws: BluetoothError.self) {
      for try await value in values { received.append(value) }
    }
    #expect(received == [[1]])
    var ends: [String?] = []
    for await end in peripheral.ends { ends.append(end?.name) }
    #expect(ends == ["disconnected"])
    try await client.end()
    #expect(!client.isConnected)
    try await script.value
  }
}
