import BledClient
import BledRPC
import Bluetooth
import Foundation
import Testing

/// A cancelled call that the daemon answers later leaves nothing behind in the daemon: a walk over the calls.
@Suite("BledClient: the undoing of cancelled calls") struct ClientUndoTests {
  /// A call, the daemon's late answer, and the methods by which the client undoes it: before that answer, and after it.
  struct Row: Sendable, CustomTestStringConvertible {
    let method: String
    let answer: any RPCPayload
    let undo: [String]
    let call: @Sendable (BledClient, Peripheral) async throws -> Void

    init(
      _ method: String, _ answer: any RPCPayload = Empty(), undo: [String] = [],
      _ call: @escaping @Sendable (BledClient, Peripheral) async throws -> Void
    ) {
      (self.method, self.answer, self.undo, self.call) = (method, answer, undo, call)
    }

    var testDescription: String { method }
  }

  private static let link = PeripheralConnect.Result(
    peripheral: "P", address: "C0:00:00:00:00:01", addressType: "random", adapter: "a", mtu: 23, attempts: 1)
  private static let other = PeripheralConnect.Result(
    peripheral: "Q", address: "C0:00:00:00:00:02", addressType: "random", adapter: "a", mtu: 23, attempts: 1)
  private static let service = ServiceDescription(handle: 1, end: 3, uuid: 0x180D, primary: true)
  private static let channel = ChannelDescription(
    channel: 1, peripheral: "P", psm: 0x80, mode: "credit", receiveMTU: 23, sendMTU: 23)

  private static let lasting: [Row] = [
    Row(ScanStart.name, undo: [ScanStop.name]) { client, _ in _ = try await client.scan() },
    Row(ScanStart.name, undo: [ScanStop.name]) { client, _ in
      _ = try await client.presence(.init(addresses: ["C0:00:00:00:00:01"], lost: 5))
    },
    Row(PeripheralConnect.name, other, undo: [PeripheralDisconnect.name, PeripheralDisconnect.name]) { client, _ in
      _ = try await client.connect(.identifier("Q"))
    },
    Row(
      PeriodicSync.name, PeriodicSync.Result(peripheral: "Q", adapter: "a", sid: 1, interval: 1, phy: nil),
      undo: [PeriodicStop.name, PeriodicStop.name]
    ) { client, _ in _ = try await client.synchronise(.init(peripheral: "Q", sid: 1)) },
    Row(
      PeriodicReceive.name,
      PeriodicReceive.Result(peripheral: "Q", adapter: "a", sid: 1, interval: 1, phy: nil, serviceData: 0),
      undo: [PeriodicStop.name, PeriodicStop.name]
    ) { client, _ in _ = try await client.receiveTrain(.init(peripheral: "P")) },
    Row(ServiceAdd.name, ServiceAdd.Result(service: service), undo: [ServiceRemove.name]) { client, _ in
      _ = try await client.publish(.init(uuid: 0x180D, characteristics: []))
    },
    Row(
      AdvertisingStart.name,
      AdvertisingStart.Result(advertising: 7, adapter: "a", interval: 0.1, shortenedName: nil),
      undo: [AdvertisingStop.name]
    ) { client, _ in _ = try await client.advertise(.init(name: "x")) },
    Row(L2CAPPublish.name, L2CAPPublish.Result(psm: 0x80, adapter: "a"), undo: [L2CAPUnpublish.name]) { client, _ in
      _ = try await client.publishL2CAPChannel()
    },
    Row(PairingRegister.name, undo: [PairingUnregister.name]) { client, _ in
      try await client.answerPairings(with: .init(capability: .display) { _ in true })
    },
    Row(GATTSubscribe.name, AttributeFound(handle: 3), undo: [GATTUnsubscribe.name]) { _, device in
      _ = try await device.subscribe(3)
    },
  ]

  /// Values, descriptors and ends: nothing is left, or the closed descriptor says so.
  private static let passing: [Row] = [
    Row(GATTRead.name) { _, device in _ = try await device.read(3) },
    Row(GATTWrite.name) { _, device in try await device.write([1], to: 3) },
    Row(GATTDiscover.name) { _, device in _ = try await device.discover() },
    Row(GATTDiscoverServices.name) { _, device in _ = try await device.discoverServices() },
    Row(PeripheralParameters.name) { _, device in _ = try await device.parameters() },
    Row(PeripheralSetParameters.name) { _, device in try await device.setParameters(nil) },
    Row(PeripheralPair.name) { _, device in _ = try await device.pair() },
    Row(PeripheralDisconnect.name) { _, device in try await device.disconnect() },
    Row(GATTAcquire.name) { _, device in _ = try await device.acquire(.characteristic(0xFFE1)) },
    Row(L2CAPOpen.name, channel) { _, device in _ = try await device.openL2CAPChannel(psm: 0x80) },
    Row(L2CAPAccept.name, channel) { client, _ in _ = try await client.accept(Self.channel) },
    Row(L2CAPClose.name) { client, _ in try await client.close(Self.channel) },
    Row(L2CAPUnpublish.name) { client, _ in try await client.unpublishL2CAPChannel(0x80) },
    Row(CaptureStart.name) { client, _ in _ = try await client.startCapture() },
    Row(ServerNotify.name) { client, _ in try await client.notify(3, [1]) },
    Row(ServerAcquire.name) { client, _ in _ = try await client.acquire(3, for: "C") },
    Row(ServiceRemove.name) { client, _ in try await client.unpublish(1) },
    Row(AdvertisingStop.name) { client, _ in try await client.stopAdvertising() },
    Row(PairingUnregister.name) { client, _ in try await client.stopAnsweringPairings() },
    Row(PeripheralWatch.name) { client, _ in _ = try await client.linkChanges() },
    Row(PeriodicTransfer.name) { client, _ in try await client.transfer(.init(peripheral: "P", advertising: 1)) },
  ]

  /// Only the newest agent counts: the late answer to an earlier call leaves it alone.
  @Test func aCancelledAgentBeforeAnotherOne() async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      let former = try daemon.expect(PairingRegister.self).id
      ask.yield()
      let later = try daemon.expect(PairingRegister.self).id
      try daemon.answer(former, Empty())
      try daemon.answer(later, Empty())
      try daemon.answer(daemon.expect(PeripheralRSSI.self).id, PeripheralRSSI.Result(rssi: 0))
    }
    let client = try await BledClient.connect(to: daemon.path)
    let agent = PairingAgent(capability: .display) { _ in true }
    let former = Task { try await client.answerPairings(with: agent) }
    for await _ in asked { break }
    former.cancel()
    await #expect(throws: BluetoothError.self) { try await former.value }
    try await client.answerPairings(with: agent)
    _ = try await client.call(PeripheralRSSI.self, .init(peripheral: "P"))
    try await script.value
  }

  @Test(arguments: lasting + passing) func aCancelledCall(_ row: Row) async throws {
    let daemon = try FakeDaemon()
    let (asked, ask) = AsyncStream.makeStream(of: Void.self)
    let script = daemon.play { daemon in
      try daemon.answer(daemon.expect(PeripheralConnect.self).id, Self.link)
      let message = try daemon.next()
      guard case .request(let id, row.method) = message.kind else { throw FakeDaemon.Trouble("\(message.kind)") }
      ask.yield()
      // The client measures the signal when the call has been cancelled, and again when the answer has been read.
      var undone: [String] = []
      var measured: [RequestID] = []
      while measured.count < 2 {
        let message = try daemon.next()
        guard case .request(let next, let method) = message.kind else { throw FakeDaemon.Trouble("\(message.kind)") }
        guard method == PeripheralRSSI.name else {
          undone.append(method)
          continue
        }
        measured.append(next)
        if measured.count == 1 { daemon.send(try RPCEncoding.success(id: id, row.answer)) }
        try daemon.answer(next, PeripheralRSSI.Result(rssi: 0))
      }
      guard undone == row.undo else { throw FakeDaemon.Trouble("undone by \(undone)") }
    }
    let client = try await BledClient.connect(to: daemon.path)
    let device = try await client.connect(.identifier("P"))
    let call = Task { try await row.call(client, device) }
    for await _ in asked { break }
    call.cancel()
    let failure = await #expect(throws: BluetoothError.self) { try await call.value }
    #expect(failure?.name == "cancelled")
    for _ in 0..<2 { _ = try await client.call(PeripheralRSSI.self, .init(peripheral: "P")) }
    try await script.value
  }
}
