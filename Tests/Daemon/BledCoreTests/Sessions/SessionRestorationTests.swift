import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Sessions that outlast their programs: G20.
@Suite struct SessionRestorationTests {
  private let world = World()
  private let belt: ScriptedPeer

  init() throws {
    belt = world.peer()
    try belt.furnish()
  }

  /// A program with the identifier "app".
  private func program(user: UInt32 = 1000, process: Int32 = 1) -> TestClient {
    world.client(user: user, process: process)
  }

  @discardableResult
  private func open(
    _ client: TestClient, restore: String = "app", keep: Double? = nil
  ) throws -> SessionOpen.Result {
    try client.result(SessionOpen.self, .init(name: "app", restore: restore, keep: keep))
  }

  private func done<Method: RPCMethod>(
    _ method: Method.Type, _ params: Method.Params, by client: TestClient
  ) throws -> Method.Result {
    let id = try client.call(method, params)
    world.settle()
    return try #require(try client.answer(to: id, method)).get()
  }

  /// A program that is connected with the belt, knows its heart rate service and is subscribed to it.
  private func subscribed(_ client: TestClient) throws -> (peripheral: String, handle: UInt16) {
    let peripheral = try world.connect(client, belt).peripheral
    let services = try done(GATTDiscoverServices.self, .init(peripheral: peripheral, services: [0x180D]), by: client)
    let service = try #require(services.services.first).handle
    let found = try done(GATTDiscoverCharacteristics.self, .init(peripheral: peripheral, handle: service), by: client)
    let handle = try #require(found.characteristics.first { $0.uuid == 0x2A37 }).handle
    _ = try done(GATTSubscribe.self, .init(peripheral: peripheral, handle: handle), by: client)
    return (peripheral, handle)
  }

  @Test("A refused line is answered, and counts as the first call: a session cannot be restored behind it")
  func refusedFirst() throws {
    let first = program()
    try open(first)
    first.die()
    let second = program(process: 2)
    second.send(#"{"jsonrpc":"2.0","id":99,"method":5}"#)
    #expect(throws: RPCError.self) { try open(second) }
    let refusals = second.lines.filter { String(decoding: $0, as: UTF8.self).contains("\"id\":99") }
    #expect(refusals.count == 1)
  }

  @Test("G20: the link, what was discovered and the subscription stay; state first, then the events in order")
  func central() throws {
    let first = program()
    #expect(try open(first).restored == nil)
    let number = try #require(first.session?.id)
    let (peripheral, handle) = try subscribed(first)
    _ = try first.result(ScanStart.self, .init(services: [0x1815], duplicates: true))
    let other = try first.call(
      PeripheralConnect.self, .init(address: "C0:00:00:00:00:02", addressType: "random"))
    let read = try first.call(GATTRead.self, .init(peripheral: peripheral, handle: handle + 2))
    first.die()
    world.settle()
    #expect(world.daemon.links.links.count == 1)
    #expect(belt.subscriptions[handle] == .notification)

    let observer = world.client()
    let gone = try observer.result(SessionList.self, .init()).sessions.filter { $0.preserved == true }
    observer.die()
    #expect(gone.map(\.restore) == ["app"] && gone.first?.subscriptions.map(\.handle) == [handle])

    belt.notify(handle, [0, 61])
    world.scheduler.advance(by: .milliseconds(1))
    let time = world.scheduler.secondsSinceEpoch
    world.settle()
    let pending = world.peer("C0:00:00:00:00:02")
    world.adapter.bringUp(pending)
    world.settle()
    belt.notify(handle, [0, 62])
    world.settle()

    let second = program(process: 2)
    let opened = try open(second)
    #expect(opened.session == number && world.daemon.sessions.count == 1)
    let restored = try #require(opened.restored)
    #expect(restored.scan?.services == [0x1815] && restored.scan?.duplicates == true)
    let devices = restored.peripherals
    #expect(devices.map(\.state) == ["connected", "connecting"])
    #expect(devices.first?.peripheral == peripheral && devices.first?.mtu == 247)
    #expect(devices.first?.subscriptions == [handle])
    #expect(devices.first?.services.map(\.uuid) == [0x180D])
    #expect(devices.first?.services.first?.characteristics?.map(\.uuid) == [0x2A37, 0x2A38])
    // The answer is the first line, the events follow it in order; answers to the ended program are not sent.
    #expect(second.messages.map(\.kind.name) == ["result", "gatt.value", "peripheral.connected", "gatt.value"])
    #expect(try second.notifications(GATTValue.self).map(\.value.octets) == [[0, 61], [0, 62]])
    #expect(try second.notifications(GATTValue.self).first?.time == time, "when it came, not when it was told")
    #expect(try second.notifications(PeripheralConnected.self).map(\.address) == ["C0:00:00:00:00:02"])
    #expect(try first.answer(to: other, PeripheralConnect.self) == nil)
    #expect(try first.answer(to: read, GATTRead.self) == nil)
    // The session continues as if its program had never been away.
    belt.notify(handle, [0, 63])
    world.settle()
    #expect(try second.notifications(GATTValue.self).last?.value.octets == [0, 63])
    second.die()
    #expect(try open(program()).restored?.peripherals.map(\.state) == ["connected", "connected"])
  }

  @Test("G20: a pending connection ends with one event; with an answer if it is repeated; with a failure if cancelled")
  func pendingConnect() throws {
    let request = PeripheralConnect.Params(address: "\(belt.address)", addressType: "random")
    let first = program()
    try open(first)
    _ = try first.call(PeripheralConnect.self, request)
    first.die()
    #expect(world.adapter.pendingConnections == [belt.address])
    let second = program()
    #expect(try open(second).restored?.peripherals.map(\.state) == ["connecting"])
    let again = try second.call(PeripheralConnect.self, request)
    world.adapter.bringUp(belt)
    world.settle()
    #expect(try second.answer(to: again, PeripheralConnect.self) != nil)
    #expect(try second.notifications(PeripheralConnected.self).isEmpty)

    let elsewhere = PeripheralConnect.Params(address: "C0:00:00:00:00:02", addressType: "random", timeout: 100)
    _ = try second.call(PeripheralConnect.self, elsewhere)
    second.die()
    world.scheduler.advance(by: .seconds(101))
    let third = program()
    try open(third)
    #expect(try third.notifications(PeripheralConnectFailed.self).map(\.reason.data?.name) == ["timeout"])
  }

  @Test("G20: what is lost while the program is gone is told when it is back")
  func lostMeanwhile() throws {
    let first = program()
    try open(first)
    let (peripheral, _) = try subscribed(first)
    first.die()
    (world.daemon.links.links.first?.link as? ScriptedLink)?.end(reason: 0x08)
    let time = world.scheduler.secondsSinceEpoch
    world.settle()
    let second = program()
    #expect(try open(second).restored?.peripherals.map(\.peripheral) == [peripheral])
    let ends = try second.notifications(PeripheralDisconnected.self)
    #expect(ends.map(\.peripheral) == [peripheral] && ends.first?.reason?.data?.code == 8)
    #expect(ends.first?.time == time, "when it was lost, not when that was told")
  }

  @Test("G20: session.end gives everything back, also of a preserved session of the same user")
  func end() throws {
    let first = program()
    try open(first)
    try world.connect(first, belt)
    _ = try first.result(SessionEnd.self, .init())
    world.settle()
    #expect(first.isClosed && world.daemon.sessions.isEmpty && world.daemon.links.links.isEmpty)
    first.die()

    let second = program()
    try open(second)
    try world.connect(second, belt)
    let helper = program(process: 3)
    #expect(try helper.error(SessionEnd.self, .init(restore: "app"))?.data?.name == "alreadyInProgress")
    second.die()
    #expect(try program(user: 7).error(SessionEnd.self, .init(restore: "app"))?.data?.name == "unknownHandle")
    _ = try helper.result(SessionEnd.self, .init(restore: "app"))
    world.settle()
    #expect(world.daemon.links.links.isEmpty)
    #expect(try open(program()).restored == nil)
  }

  @Test("G20: an identifier is one live session's, and one user's; there are so many only")
  func identifiers() throws {
    let first = program(process: 41)
    try open(first)
    try world.connect(first, belt)
    let error = try program(process: 42).error(SessionOpen.self, .init(restore: "app"))
    #expect(error?.data?.name == "alreadyInProgress" && error?.message.contains("process 41") == true)
    first.die()
    let stranger = program(user: 7)
    #expect(try open(stranger).restored == nil)
    #expect(try open(program()).restored != nil)

    let late = program()
    _ = try late.result(AdapterList.self, Empty())
    for params in [SessionOpen.Params(restore: "late"), .init(keep: 5), .init(restore: "x", keep: -1)] {
      #expect(try late.error(SessionOpen.self, params)?.data?.name == "invalidParameter")
    }
    for bad in ["", String(repeating: "x", count: 129), "a\nb"] {
      #expect(try program().error(SessionOpen.self, .init(restore: bad))?.data?.name == "invalidParameter")
    }
    var refusals: [String?] = []
    for number in 0..<Restorations.maximumPerUser + 1 {
      refusals.append(try program(user: 8).error(SessionOpen.self, .init(restore: "\(number)"))?.data?.name)
    }
    #expect(refusals.compactMap(\.self) == ["limitReached"])
  }

  @Test("G20, rule 6: what is kept is bounded, what does not fit is told")
  func bounds() throws {
    let first = program()
    try open(first)
    let (_, handle) = try subscribed(first)
    _ = try first.result(ScanStart.self, .init(services: [0x1815], duplicates: true))
    first.die()
    for round in 0..<3000 {
      belt.notify(handle, [UInt8](repeating: UInt8(round & 0xFF), count: 200))
      let address = DeviceAddress(value: UInt64(round % 1000), kind: .random)
      world.adapter.hear(address, [2, 1, 6, 3, 3, 0x15, 0x18, 3, 0xFF, UInt8(round & 0xFF), UInt8(round >> 8)])
      world.scheduler.advance(by: .milliseconds(2))
    }
    let session = try #require(world.daemon.sessions.first)
    #expect(session.outbox.waiting <= Outbox.Limits.preserved.everything)
    let second = program()
    let restored = try #require(try open(second).restored)
    #expect(restored.droppedReports > 0 && restored.droppedValues == 1)
    #expect(session.outbox.coalescedReports > 0)
    let lost = try second.notifications(GATTSubscriptionLost.self)
    #expect(lost.map(\.handle) == [handle] && lost.first?.reason.data?.name == "tooSlow")
    // The values that were kept are the beginning, without a gap.
    let values = try second.notifications(GATTValue.self).map { $0.value.octets.first }
    #expect(!values.isEmpty && values.elementsEqual((0..<values.count).map { UInt8($0 & 0xFF) }))
  }

  @Test("G20: a session that gets more events than fit is given up")
  func tooManyEvents() throws {
    let first = program()
    try open(first)
    let added = try first.result(ServiceAdd.self, .init(service: Self.heartRate))
    first.die()
    let configuration = try #require(added.service.characteristics?.first?.descriptors?.first?.handle)
    world.adapter.bringUp(belt, role: .peripheral)
    for round in 0..<5000 where !world.daemon.sessions.isEmpty {
      _ = belt.start(.subscribe(descriptor: configuration, round % 2 == 0 ? .notification : []))
      world.scheduler.advance(by: .milliseconds(5))
    }
    #expect(world.daemon.sessions.isEmpty)
    #expect(world.daemon.links.database.attributes.services.allSatisfy { $0.uuid != 0x180D })
  }

  // MARK: The peripheral role

  private static let heartRate = ServiceToPublish(
    uuid: 0x180D,
    characteristics: [
      .init(uuid: 0x2A37, properties: ["notify"]),
      .init(uuid: 0x2A39, properties: ["read", "write", "writeWithoutResponse"]),
    ])

  @Test("G20: services keep their handles and subscribers; what devices ask waits for the program")
  func peripheral() throws {
    let first = program()
    try open(first)
    let service = try first.result(ServiceAdd.self, .init(service: Self.heartRate)).service
    let notified = try #require(service.characteristics?[0])
    let asked = try #require(service.characteristics?[1]).handle
    let call = try first.call(AdvertisingStart.self, .init(name: "Belt", services: [0x180D]))
    let set = try #require(world.adapter.advertisements.keys.first)
    world.adapter.onEvent?(.advertising(set, .on(interval: .milliseconds(100))))
    _ = try #require(try first.answer(to: call, AdvertisingStart.self)).get()
    let phone = world.peer()
    world.adapter.bringUp(phone, role: .peripheral)
    _ = phone.start(.subscribe(descriptor: notified.descriptors?.first?.handle ?? 0, .notification))
    world.settle()
    // Asked, but not answered before the end of the program: it is asked again.
    let read = phone.start(.read(asked))
    world.settle()
    #expect(try first.calls(ServerRead.self).count == 1)
    first.die()
    world.settle()
    #expect(phone.results[read] == nil)
    let command = phone.start(.writeWithoutResponse(asked, [5]))
    world.scheduler.advance(by: .milliseconds(1))
    let time = world.scheduler.secondsSinceEpoch
    world.settle()

    let second = program()
    let restored = try #require(try open(second).restored)
    #expect(restored.services.map(\.service) == [service])
    #expect(restored.services.first?.definition.uuid == 0x180D)
    #expect(restored.services.first?.subscribers.map(\.handle) == [notified.handle])
    #expect(restored.advertisements.map(\.onAir) == [true])
    #expect(restored.advertisements.first?.parameters.name == "Belt")
    #expect(try second.calls(ServerWrite.self).first?.params.writes.first?.value.octets == [5])
    #expect(try second.calls(ServerWrite.self).first?.params.time == time)
    let question = try #require(try second.calls(ServerRead.self).first)
    try second.answer(question.id, ServerRead.Result(value: HexBytes([7])))
    world.settle()
    #expect(try phone.results[read]?.get() == .value([7]))
    #expect(phone.results[command] != nil)
    let notify = ServerNotify.Params(handle: notified.handle, value: HexBytes([1]))
    _ = try second.result(ServerNotify.self, notify)
    world.settle()
    #expect(phone.values.map(\.value) == [[1]])

    second.die()
    let late = phone.start(.read(asked))
    world.scheduler.advance(by: .seconds(26))
    #expect(phone.results[late] == .failure(.att(.unlikelyError, handle: asked)))
    let third = program()
    try open(third)
    #expect(try third.calls(ServerRead.self).isEmpty)
  }

  @Test("G20: a program that may less than the one before it gets nothing that it could not ask for")
  func lesserProgram() throws {
    let first = program()
    try open(first)
    let (_, handle) = try subscribed(first)
    _ = try first.result(ScanStart.self, .init(services: [0x1815]))
    first.die()
    belt.notify(handle, [0, 61])
    world.settle()
    let second = world.client(user: 1000, process: 2, groups: [])
    let restored = try #require(try open(second).restored)
    world.settle()
    #expect(restored.scan == nil && restored.peripherals.isEmpty)
    #expect(second.messages.count == 1 && second.messages.first?.kind.name == "result")
    #expect(world.adapter.scan == nil && world.daemon.links.links.isEmpty)
  }

  @Test("G20: what a slow reader left waiting leaves room for what comes")
  func slowReader() throws {
    let first = program()
    try open(first)
    let (_, handle) = try subscribed(first)
    first.drain()
    first.reads = false
    let session = try #require(first.session)
    while session.outbox.waiting < 600 << 10 {
      belt.notify(handle, [UInt8](repeating: 7, count: 200))
      world.settle()
    }
    first.die()
    (world.daemon.links.links.first?.link as? ScriptedLink)?.end(reason: 0x08)
    world.settle()
    let second = program()
    #expect(try open(second).restored != nil && second.session === session)
    #expect(try second.notifications(PeripheralDisconnected.self).count == 1)
  }

  @Test("G20: the links of others that a program watched are not kept for it")
  func watch() throws {
    let first = program()
    try open(first)
    _ = try first.result(ScanStart.self, .init(services: [0x1815]))
    _ = try first.result(PeripheralWatch.self, .init())
    first.die()
    try world.connect(world.client(), belt)
    let second = program()
    #expect(try open(second).restored != nil)
    #expect(try second.notifications(PeripheralLinkChanged.self).isEmpty)
  }
}

extension RPCMessage.Kind {
  /// The name of a method, or "result" or "error".
  fileprivate var name: String {
    switch self {
    case .request(_, let method), .notification(let method): method
    case .success: "result"
    case .failure: "error"
    }
  }
}
