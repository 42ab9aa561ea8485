import BledClient
import BledRPC
import Bluetooth
import Dispatch
import Foundation
import Testing

@Suite("BledClient: calls") struct ClientCallTests {
  private let link = PeripheralConnect.Result(
    peripheral: "P", address: "C0:00:00:00:00:01", addressType: "random", adapter: "a", mtu: 23, attempts: 1)

  @Test("an answer in one piece, in single octets, and behind other messages")
  func answers() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      for octetwise in [false, true] {
        let id = try daemon.expect(PeripheralRSSI.self).id
        let line =
          try RPCEncoding.notification(ServerReady.self, Empty())
          + RPCEncoding.success(id: id, PeripheralRSSI.Result(rssi: -50))
        for piece in octetwise ? line.map({ Data([$0]) }) : [line] { daemon.send(piece) }
      }
    }
    let client = try await BledClient.connect(to: daemon.path)
    for _ in 0..<2 {
      #expect(try await client.call(PeripheralRSSI.self, .init(peripheral: "P")).rssi == -50)
    }
    try await script.value
  }

  @Test("answers out of order reach their own calls")
  func order() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      let calls = try (0..<20).map { _ in try daemon.expect(GATTRead.self) }
      for call in calls.reversed() {
        try daemon.answer(call.id, GATTRead.Result(value: HexBytes([UInt8(call.params.attribute.handle ?? 0)])))
      }
    }
    let client = try await BledClient.connect(to: daemon.path)
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for handle in UInt16(0)..<20 {
        group.addTask {
          let value = try await client.call(GATTRead.self, .init(peripheral: "P", handle: handle)).value
          return value.octets == [UInt8(handle)]
        }
      }
      for try await right in group { #expect(right) }
    }
    try await script.value
  }

  @Test("errors are delivered as they were sent")
  func errors() async throws {
    let daemon = try FakeDaemon()
    let error = BluetoothError(domain: .att, code: 2, name: "readNotPermitted", message: "No.")
    let script = daemon.play { daemon in
      let id = try daemon.expect(GATTRead.self).id
      daemon.send(try RPCEncoding.failure(id: id, RPCError(error)))
    }
    let client = try await BledClient.connect(to: daemon.path)
    await #expect(throws: error) { try await client.call(GATTRead.self, .init(peripheral: "P", handle: 1)) }
    try await script.value
  }

  @Test("a cancelled connect ends at once, and cancels the pending connection with the parameters of the call")
  func cancelledConnect() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      let connect = try daemon.expect(PeripheralConnect.self)
      ask.yield()
      let back = try daemon.expect(PeripheralDisconnect.self)
      guard back.params == .init(address: connect.params.address, addressType: "random") else {
        throw FakeDaemon.Trouble("took back \(back.params)")
      }
    }
    let client = try await BledClient.connect(to: daemon.path)
    let connect = Task { try await client.connect(.address("C0:00:00:00:00:01", type: "random")) }
    for await _ in asked { break }
    connect.cancel()
    let failure = await #expect(throws: BluetoothError.self) { try await connect.value }
    #expect(failure?.name == "cancelled")
    try await script.value
  }

  @Test("a call that was cancelled before it began is never sent")
  func cancelledBefore() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { try $0.expectEnd() }
    let client = try await BledClient.connect(to: daemon.path)
    let call = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await client.connect(.identifier("P"))
    }
    let failure = await #expect(throws: BluetoothError.self) { try await call.value }
    #expect(failure?.name == "cancelled")
    client.close()
    try await script.value
  }

  @Test("a timeout ends the call; its late answer is ignored")
  func timeout() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      let late = try daemon.expect(PeripheralRSSI.self).id
      let next = try daemon.expect(PeripheralRSSI.self).id
      try daemon.answer(late, PeripheralRSSI.Result(rssi: -1))
      try daemon.answer(next, PeripheralRSSI.Result(rssi: -2))
    }
    let client = try await BledClient.connect(to: daemon.path)
    let failure = await #expect(throws: BluetoothError.self) {
      try await client.call(PeripheralRSSI.self, .init(peripheral: "P"), timeout: .milliseconds(20))
    }
    #expect(failure?.name == "timeout")
    #expect(try await client.call(PeripheralRSSI.self, .init(peripheral: "P")).rssi == -2)
    try await script.value
  }

  @Test("an advertisement that starts after its call was cancelled is stopped")
  func lateAdvertisement() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let (gone, go) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      let id = try daemon.expect(AdvertisingStart.self).id
      ask.yield()
      let waited = DispatchSemaphore(value: 0)
      Task {
        for await _ in gone { break }
        waited.signal()
      }
      waited.wait()
      try daemon.answer(id, AdvertisingStart.Result(advertising: 7, adapter: "a", interval: 0.1, shortenedName: nil))
      guard try daemon.expect(AdvertisingStop.self).params.advertising == 7 else { throw FakeDaemon.Trouble("not 7") }
    }
    let client = try await BledClient.connect(to: daemon.path)
    let advertise = Task { try await client.advertise(.init(name: "x")) }
    for await _ in asked { break }
    advertise.cancel()
    await #expect(throws: BluetoothError.self) { try await advertise.value }
    go.yield()
    try await script.value
  }

  @Test("when the daemon ends, every pending call fails, streams end, and later calls fail at once")
  func end() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      _ = try daemon.expect(PeripheralRSSI.self)
      daemon.close()
    }
    let client = try await BledClient.connect(to: daemon.path)
    let changes = client.notifications(AdapterChanged.self)
    for _ in 0..<2 {
      let failure = await #expect(throws: BluetoothError.self) {
        try await client.call(PeripheralRSSI.self, .init(peripheral: "P"))
      }
      #expect(failure?.name == "daemonUnreachable")
    }
    await #expect(throws: BluetoothError.self) { for try await _ in changes {} }
    try await script.value
  }

  @Test("if the daemon gives a reason before it closes the connection, calls fail with it")
  func refused() async throws {
    let reason = BledError.limitReached.error("bled has 4 sessions, which is the most")
    for isLast in [true, false] {
      let daemon = try FakeDaemon()
      let script = daemon.play { daemon in
        _ = try daemon.expect(PeripheralRSSI.self)
        daemon.send(try RPCEncoding.failure(id: nil, RPCError(reason)))
        if !isLast { try daemon.notify(ServerReady.self, Empty()) }
        daemon.close()
      }
      let client = try await BledClient.connect(to: daemon.path)
      for _ in 0..<2 {
        let failure = await #expect(throws: BluetoothError.self) {
          try await client.call(PeripheralRSSI.self, .init(peripheral: "P"))
        }
        #expect((failure == reason) == isLast)
      }
      try await script.value
    }
  }

  @Test("indicate waits for room, and then for its own confirmations, of which one precedes the answer")
  func confirmations() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      let full = try daemon.expect(ServerNotify.self)
      try daemon.answer(full.id, ServerNotify.Result(sent: false, receivers: 0))
      try daemon.notify(ServerReady.self, Empty())
      let call = try daemon.expect(ServerNotify.self)
      guard let number = call.params.confirmation, call.params == full.params else {
        throw FakeDaemon.Trouble("asked for \(call.params)")
      }
      let error = RPCError(GAPError.notConnected.error("gone"))
      for (central, number, error) in [("A", number + 1, nil), ("A", number, nil)] as [(String, Int, RPCError?)] {
        try daemon.notify(
          ServerConfirmed.self, .init(central: central, handle: 3, confirmation: number, error: error))
      }
      try daemon.answer(call.id, ServerNotify.Result(sent: true, receivers: 3, indicated: ["A", "B"]))
      try daemon.notify(ServerConfirmed.self, .init(central: "B", handle: 3, confirmation: number, error: error))
    }
    let client = try await BledClient.connect(to: daemon.path)
    let (result, confirmations) = try await client.indicate(3, [1])
    #expect(result.receivers == 3 && confirmations.map(\.central) == ["A", "B"])
    #expect(confirmations.map(\.error?.data?.name) == [nil, "notConnected"])
    try await script.value
  }

  @Test("a call above the limit for lines fails at once: there would be no answer")
  func tooLong() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { try $0.expectEnd() }
    let client = try await BledClient.connect(to: daemon.path)
    let failure = await #expect(throws: BluetoothError.self) {
      try await client.call(PeripheralRSSI.self, .init(peripheral: String(repeating: "P", count: 1 << 20)))
    }
    #expect(failure?.name == "invalidParameter")
    client.close()
    try await script.value
  }

  @Test("releasing the last reference to a client ends its session")
  func released() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { try $0.expectEnd() }
    _ = try await BledClient.connect(to: daemon.path)
    try await script.value
  }

  @Test("what was called before the last reference goes is sent, also when that goes in a completion")
  func lastReferenceInCompletion() async throws {
    final class Holder: @unchecked Sendable {
      var client: BledClient?
    }
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      let (id, _) = try daemon.expect(AdapterList.self)
      try daemon.answer(id, AdapterList.Result(adapters: []))
      _ = try daemon.expect(ScanStop.self)
    }
    let holder = Holder()
    holder.client = try await BledClient.connect(to: daemon.path)
    holder.client?.call(AdapterList.self, Empty()) { _ in
      // On the connection's queue: lines sent by another thread meanwhile follow this one.
      DispatchQueue.global().sync { holder.client?.call(ScanStop.self, .init()) { _ in } }
      holder.client = nil
    }
    try await script.value
  }

  @Test("the error for another protocol version says what to do")
  func version() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play(protocol: 99) { try $0.expectEnd() }
    let failure = await #expect(throws: BluetoothError.self) { try await BledClient.connect(to: daemon.path) }
    #expect(failure?.message.contains("version 99") == true)
    try await script.value
  }

  @Test("the error without a daemon says what to do")
  func notRunning() async throws {
    let missing = await #expect(throws: BluetoothError.self) { try await BledClient.connect(to: "/tmp/no/such.sock") }
    #expect(missing?.name == "daemonUnreachable")
    #expect(missing?.message.contains("systemctl start bled.socket") == true)
    let path: String
    do {
      let daemon = try FakeDaemon()
      path = daemon.path + ".stale"
      try FileManager.default.moveItem(atPath: daemon.path, toPath: path)
    }
    defer { unlink(path) }
    let stale = await #expect(throws: BluetoothError.self) { try await BledClient.connect(to: path) }
    #expect(stale?.message.contains("nothing listens") == true)
  }
}
