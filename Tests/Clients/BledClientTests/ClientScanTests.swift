import BledClient
import BledRPC
import Bluetooth
import Testing

/// Scans and reports that replace each other, while a call for one of them fails or is cancelled.
@Suite("BledClient: scans that are replaced") struct ClientScanTests {
  private static let refused = RPCError(GAPError.notSupported.error("refused"))

  private static func report(_ daemon: FakeDaemon) throws {
    try daemon.notify(
      ScanReport.self,
      .init(
        peripheral: "P", adapter: "a", address: "x", addressType: "public", connectable: true, data: HexBytes([]),
        time: 0))
  }

  /// Reads the next call, which must be this one: the client sent nothing before it.
  private static func mark(_ daemon: FakeDaemon) throws {
    try daemon.answer(daemon.expect(AdapterList.self).id, AdapterList.Result(adapters: []))
  }

  private static func mark(_ client: BledClient) async throws { _ = try await client.call(AdapterList.self, Empty()) }

  @Test("a scan that is refused, or never requested, leaves the one before its reports", arguments: [true, false])
  func refusal(isSent: Bool) async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(ScanStart.self).id, Empty())
      if isSent { daemon.send(try RPCEncoding.failure(id: daemon.expect(ScanStart.self).id, Self.refused)) }
      try Self.mark(daemon)
      try Self.report(daemon)
      _ = try daemon.expect(ScanStop.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    var reports: AsyncThrowingStream<ScanReport.Params, any Error>? = try await client.scan()
    let later = Task {
      if !isSent { withUnsafeCurrentTask { $0?.cancel() } }
      _ = try await client.scan()
    }
    await #expect(throws: BluetoothError.self) { try await later.value }
    try await Self.mark(client)
    var iterator = reports?.makeAsyncIterator()
    #expect(try await iterator?.next()?.peripheral == "P")
    (reports, iterator) = (nil, nil)
    _ = reports
    try await script.value
  }

  @Test("a scan whose stream ends while a later one waits is stopped if that is refused")
  func end() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(ScanStart.self).id, Empty())
      let later = try daemon.expect(ScanStart.self).id
      ask.yield()
      try Self.mark(daemon)
      daemon.send(try RPCEncoding.failure(id: later, Self.refused))
      _ = try daemon.expect(ScanStop.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    var reports: AsyncThrowingStream<ScanReport.Params, any Error>? = try await client.scan()
    let later = Task { _ = try await client.scan() }
    for await _ in asked { break }
    reports = nil
    _ = reports
    try await Self.mark(client)
    await #expect(throws: BluetoothError.self) { try await later.value }
    try await script.value
  }

  @Test("a scan that is cancelled while a later one waits takes nothing from it")
  func cancelled() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      let former = try daemon.expect(ScanStart.self).id
      ask.yield()
      let later = try daemon.expect(ScanStart.self).id
      ask.yield()
      try Self.mark(daemon)
      try daemon.answer(former, Empty())
      try daemon.answer(later, Empty())
      try Self.report(daemon)
      _ = try daemon.expect(ScanStop.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    var asking = asked.makeAsyncIterator()
    let former = Task { _ = try await client.scan() }
    await asking.next()
    let later = Task { () -> String? in
      for try await report in try await client.scan() { return report.peripheral }
      return nil
    }
    await asking.next()
    former.cancel()
    await #expect(throws: BluetoothError.self) { try await former.value }
    try await Self.mark(client)
    #expect(try await later.value == "P")
    try await script.value
  }

  @Test("a cancelled second reader of link changes leaves the first its reports, which its end stops")
  func linkChanges() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralWatch.self).id, Empty())
      let later = try daemon.expect(PeripheralWatch.self).id
      ask.yield()
      try Self.mark(daemon)
      try daemon.answer(later, Empty())
      try Self.mark(daemon)
      guard try daemon.expect(PeripheralWatch.self).params.on == false else { throw FakeDaemon.Trouble("on") }
    }
    let client = try await BledClient.connect(to: daemon.path)
    var changes: AsyncThrowingStream<PeripheralLinkChanged.Params, any Error>? = try await client.linkChanges()
    let later = Task { _ = try await client.linkChanges() }
    for await _ in asked { break }
    later.cancel()
    await #expect(throws: BluetoothError.self) { try await later.value }
    for _ in 0..<2 { try await Self.mark(client) }
    changes = nil
    _ = changes
    try await script.value
  }
}
