import BledClient
import BledRPC
import Bluetooth
import Foundation
import Testing

@Suite("BledClient: streams") struct ClientStreamTests {
  private static let link = PeripheralConnect.Result(
    peripheral: "P", address: "C0:00:00:00:00:01", addressType: "random", adapter: "a", mtu: 23, attempts: 1)

  private static func value(_ octet: UInt8, handle: UInt16 = 3, peripheral: String = "P") -> GATTValue.Params {
    .init(peripheral: peripheral, handle: handle, value: HexBytes([octet]))
  }

  @Test("values are delivered from the answer to gatt.subscribe on, in order, only those of the characteristic")
  func values() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      let id = try daemon.expect(GATTSubscribe.self).id
      try daemon.answer(id, Empty())
      try daemon.notify(GATTValue.self, Self.value(1))
      try daemon.notify(GATTValue.self, Self.value(9, handle: 4))
      try daemon.notify(GATTValue.self, Self.value(9, peripheral: "Q"))
      try daemon.notify(GATTValue.self, Self.value(2))
      try daemon.notify(
        PeripheralDisconnected.self, .init(peripheral: "P", reason: RPCError(GAPError.disconnected.error("gone"))))
      _ = try daemon.expect(GATTUnsubscribe.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"))
    var received: [[UInt8]] = []
    let failure = await #expect(throws: BluetoothError.self) {
      for try await value in try await peripheral.subscribe(3) { received.append(value) }
    }
    #expect(received == [[1], [2]])
    #expect(failure?.name == "disconnected")
    var ends: [BluetoothError?] = []
    for await end in peripheral.ends { ends.append(end) }
    #expect(ends.map { $0?.name } == ["disconnected"])
    try await script.value
  }

  @Test(
    "a line that breaks the protocol ends waiting calls and streams with protocolViolation",
    arguments: [
      #"{"jsonrpc":"2.0","method":"gatt.value","params":{"peripheral":7}}"#, "not a message",
    ])
  func violation(_ line: String) async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      try daemon.answer(daemon.expect(GATTSubscribe.self).id, Empty())
      _ = try daemon.expect(PeripheralRSSI.self)
      daemon.send(Data("\(line)\n".utf8))
      try daemon.expectEnd()
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"))
    let values = try await peripheral.subscribe(3)
    let ofCall = await #expect(throws: BluetoothError.self) { try await peripheral.rssi() }
    let ofStream = await #expect(throws: BluetoothError.self) { for try await _ in values {} }
    #expect(ofCall?.name == "protocolViolation")
    #expect(ofStream?.name == "protocolViolation")
    #expect(!client.isConnected)
    try await script.value
  }

  private static func found(_ peripheral: String, scan: Int? = nil) -> ScanFound.Params {
    var params = ScanFound.Params(
      peripheral: peripheral, adapter: "a", address: "C0:00:00:00:00:01", addressType: "random", time: 5)
    params.scan = scan
    return params
  }

  @Test("the devices of a scan for presence come and go in order, only those of that scan, which ends with the stream")
  func presence() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      let (id, params) = try daemon.expect(ScanStart.self)
      guard params.presence == true, params.addresses == ["C0:00:00:00:00:01"] else {
        throw FakeDaemon.Trouble("\(params)")
      }
      try daemon.notify(ScanFound.self, Self.found("P"))
      try daemon.answer(id, Empty())
      try daemon.notify(ScanLost.self, .init(peripheral: "P", lastHeard: 6))
      try daemon.notify(ScanFound.self, Self.found("Q", scan: 4))
      try daemon.notify(ScanFound.self, Self.found("P"))
      _ = try daemon.expect(ScanStop.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    var changes: [DevicePresence] = []
    for try await change in try await client.presence(.init(addresses: ["C0:00:00:00:00:01"], lost: 5)) {
      changes.append(change)
      if changes.count == 3 { break }
    }
    #expect(
      changes == [.found(Self.found("P")), .lost(.init(peripheral: "P", lastHeard: 6)), .found(Self.found("P"))])
    try await script.value
  }

  @Test("changes of presence that are not fetched end their stream with tooSlow: no last one is missed")
  func presenceOverflow() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(ScanStart.self).id, Empty())
      for _ in 0..<1025 { try daemon.notify(ScanFound.self, Self.found("P")) }
      _ = try daemon.expect(ScanStop.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    let changes = try await client.presence(.init(addresses: ["C0:DE:00:00:00:01"], lost: 5))
    try await script.value
    var count = 0
    let failure = await #expect(throws: BluetoothError.self) { for try await _ in changes { count += 1 } }
    #expect(count == 1024 && failure?.name == "tooSlow")
  }

  @Test("values of a characteristic named by UUID are delivered, once the answer has told its handle")
  func valuesByUUID() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      let (id, params) = try daemon.expect(GATTSubscribe.self)
      guard params.attribute == .characteristic(0x2A37, of: 0x180D) else { throw FakeDaemon.Trouble("\(params)") }
      try daemon.answer(id, AttributeFound(handle: 3, uuid: 0x2A37))
      try daemon.notify(GATTValue.self, Self.value(1))
      try daemon.notify(GATTValue.self, Self.value(9, handle: 4))
      try daemon.notify(GATTValue.self, Self.value(2))
      try daemon.notify(GATTValue.self, Self.value(3))
      try daemon.notify(GATTValue.self, Self.value(9, handle: 4))
      let end = try daemon.expect(GATTUnsubscribe.self).params.attribute
      guard end == .handle(3) else { throw FakeDaemon.Trouble("\(end)") }
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"))
    var received: [[UInt8]] = []
    for try await value in try await peripheral.subscribe(.characteristic(0x2A37, of: 0x180D)).prefix(3) {
      received.append(value)
    }
    #expect(received == [[1], [2], [3]])
    try await script.value
  }

  @Test("a disconnection right after the answer to connect is not missed")
  func immediateEnd() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      let id = try daemon.expect(PeripheralConnect.self).id
      daemon.send(
        try RPCEncoding.notification(
          PeripheralDisconnected.self, .init(peripheral: "P", reason: RPCError(GAPError.timeout.error("old"))))
          + RPCEncoding.success(id: id, Self.link)
          + RPCEncoding.notification(PeripheralDisconnected.self, .init(peripheral: "P", reason: nil)))
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"))
    var ends: [BluetoothError?] = []
    for await end in peripheral.ends { ends.append(end) }
    #expect(ends == [nil], "the notification before the answer is about an older link")
    try await script.value
  }

  @Test("two streams of one characteristic: only the end of the second unsubscribes")
  func shared() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      for _ in 0..<2 { try daemon.answer(daemon.expect(GATTSubscribe.self).id, Empty()) }
      // The next call is the measurement, so there was no unsubscribe before it.
      try daemon.answer(daemon.expect(PeripheralRSSI.self).id, PeripheralRSSI.Result(rssi: 0))
      _ = try daemon.expect(GATTUnsubscribe.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    let peripheral = try await client.connect(.identifier("P"))
    func subscribeAndDrop() async throws { _ = try await peripheral.subscribe(3) }
    let kept = try await peripheral.subscribe(3)
    try await subscribeAndDrop()
    _ = try await peripheral.rssi()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { for try await _ in kept {} }
      group.cancelAll()
      try await group.waitForAll()
    }
    try await script.value
  }

  @Test("values that are not fetched end their stream with tooSlow, after the buffered ones")
  func overflow() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      try daemon.answer(daemon.expect(GATTSubscribe.self).id, Empty())
      for _ in 0..<5000 { try daemon.notify(GATTValue.self, Self.value(1)) }
      _ = try daemon.expect(GATTUnsubscribe.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    let values = try await client.connect(.identifier("P")).subscribe(3)
    try await script.value
    var count = 0
    let failure = await #expect(throws: BluetoothError.self) { for try await _ in values { count += 1 } }
    #expect(count == 4096)
    #expect(failure?.name == "tooSlow")
  }

  @Test("a scan stops when its stream is released; a new scan ends the previous stream without stopping")
  func scan() async throws {
    let daemon = try FakeDaemon()
    let script = daemon.play { daemon in
      for _ in 0..<2 { try daemon.answer(daemon.expect(ScanStart.self).id, Empty()) }
      try daemon.notify(
        ScanReport.self,
        .init(
          peripheral: "P", adapter: "a", address: "x", addressType: "public", connectable: true, data: HexBytes([]),
          time: 0))
      _ = try daemon.expect(ScanStop.self)
    }
    let client = try await BledClient.connect(to: daemon.path)
    // In a separate function, so that the streams are released at its end.
    func scanTwice() async throws {
      let first = try await client.scan()
      let second = try await client.scan()
      for try await _ in first { Issue.record("the first scan was replaced") }
      for try await report in second {
        #expect(report.peripheral == "P")
        break
      }
    }
    try await scanTwice()
    try await script.value
  }

  @Test("requests from devices: answered, refused, dropped, and sent to a client that serves nothing")
  func requests() async throws {
    let daemon = try FakeDaemon()
    @Sendable func read(_ id: Int, offset: Int = 0) throws -> Data {
      try RPCEncoding.request(ServerRead.self, id: .number(id), .init(central: "C", handle: 3, offset: offset))
    }
    let script = daemon.play { daemon in
      let first = try daemon.expect(PeripheralRSSI.self).id
      daemon.send(try read(1))
      guard case .failure(.number(1), let error) = try daemon.next().kind, error.code == RPCError.methodNotFound else {
        throw FakeDaemon.Trouble("a client without services answered")
      }
      try daemon.answer(first, PeripheralRSSI.Result(rssi: 0))
      try daemon.answer(daemon.expect(PeripheralRSSI.self).id, PeripheralRSSI.Result(rssi: 0))
      daemon.send(try read(2, offset: 1) + read(3, offset: 9) + read(4))
      var answers: [String] = []
      for _ in 0..<3 {
        let message = try daemon.next()
        switch message.kind {
        case .success(.number(let id)):
          answers.append("\(id) \(try message.result(ServerRead.Result.self).value.octets)")
        case .failure(.number(let id)?, let error): answers.append("\(id) \(error.data?.name ?? "?")")
        default: throw FakeDaemon.Trouble("\(message.kind)")
        }
      }
      guard answers == ["2 [8]", "3 invalidOffset", "4 insufficientResources"] else {
        throw FakeDaemon.Trouble("\(answers)")
      }
    }
    let client = try await BledClient.connect(to: daemon.path)
    // The first request was refused when this is answered; the next are sent when the second one is.
    _ = try await client.call(PeripheralRSSI.self, .init(peripheral: "P"))
    let events = client.serverEvents()
    _ = try await client.call(PeripheralRSSI.self, .init(peripheral: "P"))
    var seen = 0
    for try await event in events {
      guard case .read(let request) = event else { continue }
      seen += 1
      if seen < 3 { request.respond([7, 8]) }
      if seen == 3 { break }
    }
    try await script.value
  }
}
