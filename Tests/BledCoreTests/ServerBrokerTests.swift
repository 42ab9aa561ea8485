import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Publishing services, answering devices and sending them values: G11–G16, P16.
@Suite struct ServerBrokerTests {
  private let world = World()
  private let client: TestClient
  private let phone: ScriptedPeer
  private let link: ScriptedLink
  private let service: ServiceDescription
  private let asked: UInt16
  private let fixed: UInt16

  init() throws {
    client = world.client()
    service = try client.result(
      ServiceAdd.self,
      .init(
        service: .init(
          uuid: 0x180D,
          characteristics: [
            .init(uuid: 0x2A37, properties: ["read", "write", "writeWithoutResponse", "notify"]),
            .init(uuid: 0x2A38, properties: ["read"], value: HexBytes([1])),
            .init(uuid: 0x2A39, properties: ["indicate"]),
          ]))
    ).service
    phone = world.peer()
    link = world.adapter.bringUp(phone, role: .peripheral)
    asked = try #require(service.characteristics?[0].handle)
    fixed = try #require(service.characteristics?[1].handle)
  }

  /// Has the phone do something and tells how it ended.
  private func phone(_ procedure: GATTProcedure) -> Result<GATTResult, GATTError>? {
    let id = phone.start(procedure)
    world.settle()
    return phone.results[id]
  }

  private func subscribe(_ handle: UInt16, _ configuration: ClientConfiguration) {
    let descriptor = service.characteristics?.first { $0.handle == handle }?.descriptors?.first { $0.uuid == 0x2902 }
    _ = phone(.subscribe(descriptor: descriptor?.handle ?? 0, configuration))
  }

  @Test("G11: the service is described with its handles") func description() throws {
    #expect(service.uuid == 0x180D && service.primary)
    #expect(service.characteristics?.map(\.properties).first == ["read", "writeWithoutResponse", "write", "notify"])
    #expect(service.characteristics?.first?.descriptors?.map(\.uuid) == [0x2902])
    guard case .success(.services(let services)) = phone(.discoverServices(.primary)) else {
      Issue.record("no services")
      return
    }
    #expect(services.map(\.uuid) == [0x1800, 0x1801, 0x180D])
    #expect(services.last?.range == service.handle...service.end)
  }

  @Test("Before a device is refused for want of security, the link is asked how it is protected at this moment")
  func securityReadLate() throws {
    let secret = try #require(
      client.result(
        ServiceAdd.self,
        .init(
          service: .init(
            uuid: 0x180F,
            characteristics: [
              .init(
                uuid: 0x2A19, properties: ["read"], permissions: ["readEncryptionRequired"],
                value: HexBytes([9]))
            ]))
      ).service.characteristics?.first?.handle)
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    #expect(phone(.read(secret)) == .failure(.att(.insufficientAuthentication, handle: secret)))
    // Nothing tells that the link is encrypted: the device asks before the kernel's answer has changed.
    link.security = LinkSecurity(level: 2, keySize: 16)
    #expect(phone(.read(secret)) == .success(.value([9])))
  }

  @Test(
    "P13: who asked for it is told of each service that comes and goes, and finds another hash after a new connection")
  func servicesChange() throws {
    func hash() throws -> [UInt8]? {
      guard case .values(let found)? = try phone(.readByUUID(0x2B2A))?.get() else { return nil }
      return found.first?.value
    }
    let before = try #require(try hash())
    let changed = try #require(
      world.daemon.links.database.attributes.services.flatMap(\.characteristics).first { $0.uuid == 0x2A05 }
    ).valueHandle
    func told() -> [[UInt8]] {
      world.settle()
      return phone.values.filter { $0.handle == changed }.map(\.value)
    }
    func range(_ service: ServiceDescription) -> [UInt8] {
      [service.handle, service.end].flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    }
    let early = try client.result(ServiceAdd.self, .init(service: .init(uuid: 0x180A))).service
    #expect(told().isEmpty, "it has not asked")
    _ = phone(.subscribe(descriptor: changed + 1, .indication))
    let other = world.client()
    let battery = try other.result(
      ServiceAdd.self,
      .init(service: .init(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: ["read"])]))
    ).service
    #expect(told() == [range(battery)])
    _ = try client.result(ServiceRemove.self, .init(handle: early.handle))
    #expect(told() == [range(battery), range(early)])
    // A program that dies takes its services with it.
    other.die()
    #expect(told() == [range(battery), range(early), range(battery)])
    #expect(try hash() == before)

    link.end(reason: 0x13)
    _ = try client.result(ServiceAdd.self, .init(service: .init(uuid: 0x180A)))
    world.adapter.bringUp(phone, role: .peripheral)
    let after = try #require(try hash())
    #expect(after != before)
    #expect(told().count == 3, "without a bond what it asked for ended with the link")
  }

  @Test func preferredConnectionParametersAreReadWhereThereAreAny() throws {
    #expect(phone(.readByUUID(0x2A04)) == .failure(.att(.attributeNotFound, handle: 1)))
    let preferred = PreferredConnectionParameters(interval: 24...40, latency: 4, timeout: 250)
    let world = World(identity: .init(name: "bled test", appearance: 64, preferredConnection: preferred))
    let phone = world.peer()
    _ = world.adapter.bringUp(phone, role: .peripheral)
    for (uuid, value): (BluetoothUUID, [UInt8]) in [
      (0x2A00, Array("bled test".utf8)), (0x2A01, [64, 0]), (0x2A04, [24, 0, 40, 0, 4, 0, 250, 0]),
    ] {
      let id = phone.start(.readByUUID(uuid))
      world.settle()
      guard case .success(.values(let values))? = phone.results[id] else {
        Issue.record("no \(uuid)")
        continue
      }
      #expect(values.map(\.value) == [value])
    }
  }

  @Test("G12: a fixed value is answered without the session")
  func fixedValue() throws {
    #expect(try phone(.read(fixed))?.get() == .value([1]))
    #expect(try client.calls(ServerRead.self).isEmpty)
  }

  @Test("G14: reads and writes ask the session, its error reaches the device")
  func questions() throws {
    let read = phone.start(.read(asked))
    world.settle()
    let question = try #require(try client.calls(ServerRead.self).first)
    #expect(question.params.handle == asked && question.params.offset == 0)
    try client.answer(question.id, ServerRead.Result(value: HexBytes([7, 8])))
    try client.answer(question.id, ServerRead.Result(value: HexBytes([9])))
    world.settle()
    #expect(try phone.results[read]?.get() == .value([7, 8]))

    // The next question is asked while the answer to the first is being taken.
    let both = phone.start(.readMultiple([asked, asked]))
    world.settle()
    for octet: UInt8 in [5, 6] {
      let question = try #require(try client.calls(ServerRead.self).last)
      try client.answer(question.id, ServerRead.Result(value: HexBytes([octet])))
      world.settle()
    }
    #expect(try phone.results[both]?.get() == .value([5, 6]))

    let write = phone.start(.write(asked, [1, 2]))
    world.settle()
    let written = try #require(try client.calls(ServerWrite.self).first)
    #expect(written.params.writes == [.init(handle: asked, offset: 0, value: HexBytes([1, 2]))])
    #expect(written.params.central == question.params.central)
    try client.refuse(written.id, BluetoothError(domain: .att, code: 0x80, name: "application", message: "no"))
    world.settle()
    #expect(phone.results[write] == .failure(.att(ATTErrorCode(rawValue: 0x80), handle: asked)))
    _ = phone(.writeWithoutResponse(asked, [3]))
    #expect(try client.calls(ServerWrite.self).last?.params.writes.first?.value.octets == [3])
  }

  @Test("A session that answers nonsense, nothing, or dies: the device gets Unlikely Error, once")
  func badOwners() throws {
    let first = phone.start(.read(asked))
    world.settle()
    let question = try #require(try client.calls(ServerRead.self).first)
    try client.answer(question.id, ["nonsense": 1] as JSONValue)
    world.settle()
    #expect(phone.results[first] == .failure(.att(.unlikelyError, handle: asked)))
    let second = phone.start(.read(asked))
    world.scheduler.advance(by: .seconds(29))
    #expect(phone.results[second] == .failure(.att(.unlikelyError, handle: asked)))
    let third = phone.start(.read(asked))
    world.settle()
    client.die()
    world.settle()
    #expect(phone.results[third] == .failure(.att(.unlikelyError, handle: asked)))
    #expect(try phone(.discoverServices(.primary))?.get().services?.map(\.uuid) == [0x1800, 0x1801])
  }

  @Test("An answer longer than a value can be is no answer, and the log names the session, once")
  func longAnswer() throws {
    let log = LogLines()
    let world = World(log: log)
    let client = world.client()
    _ = try client.result(SessionOpen.self, .init(name: "talker"))
    let service = try client.result(
      ServiceAdd.self,
      .init(service: .init(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: ["read"])]))
    ).service
    let handle = try #require(service.characteristics?.first?.handle)
    let phone = world.peer()
    world.adapter.bringUp(phone, role: .peripheral)
    for (length, expected) in [(513, nil), (600, nil), (512, 512)] as [(Int, Int?)] {
      let read = phone.start(.readLong(handle))
      world.settle()
      let value = [UInt8](repeating: 7, count: length)
      while let question = try client.calls(ServerRead.self).first {
        client.forget()
        try client.answer(
          question.id, ServerRead.Result(value: HexBytes([UInt8](value.dropFirst(question.params.offset)))))
        world.settle()
      }
      if let expected {
        #expect(phone.results[read] == .success(.value([UInt8](repeating: 7, count: expected))))
      } else {
        #expect(phone.results[read] == .failure(.att(.unlikelyError, handle: handle)))
      }
    }
    let told = log.all.filter { $0.contains("server.read") }
    #expect(told.count == 1 && told.first?.contains("talker") == true && told.first?.contains("513") == true, "\(told)")
  }

  @Test("G15: the session knows who subscribes; values reach those only")
  func subscribers() throws {
    #expect(try client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([1]))).sent)
    subscribe(asked, .notification)
    let subscriber = try #require(try client.notifications(ServerSubscribed.self).first)
    #expect(subscriber.handle == asked && subscriber.maximumLength == 20)
    #expect(try client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([2]))).sent)
    let others = ServerNotify.Params(handle: asked, value: HexBytes([3]), centrals: ["somebody else"])
    #expect(try client.result(ServerNotify.self, others).sent)
    let only = ServerNotify.Params(handle: asked, value: HexBytes([4]), centrals: [subscriber.central])
    #expect(try client.result(ServerNotify.self, only).sent)
    world.settle()
    #expect(phone.values.map(\.value) == [[2], [4]])
    link.end(reason: 0x13)
    #expect(try client.notifications(ServerUnsubscribed.self).map(\.central) == [subscriber.central])
  }

  @Test("G15: a value that does not fit is truncated, and the session is told for whom")
  func valuesThatDoNotFit() throws {
    subscribe(asked, .notification)
    let small = try #require(try client.notifications(ServerSubscribed.self).first)
    let large = world.peer("C0:00:00:00:00:02")
    let other = world.adapter.bringUp(large, role: .peripheral)
    // Exchange MTU: 517.
    other.deliver([0x02, 0x05, 0x02])
    other.deliver([0x12, UInt8(asked + 1 & 0xFF), UInt8((asked + 1) >> 8), 1, 0])
    world.settle()
    let subscribers = try client.notifications(ServerSubscribed.self)
    #expect(subscribers.map(\.maximumLength) == [20, 512])
    for (length, truncated) in [(20, nil), (21, [small.central]), (512, [small.central])] as [(Int, [String]?)] {
      let value = HexBytes([UInt8](repeating: 1, count: length))
      let sent = try client.result(ServerNotify.self, .init(handle: asked, value: value))
      #expect(sent.sent && sent.receivers == 2 && sent.truncated == truncated)
    }
    world.settle()
    #expect(phone.values.map(\.value.count) == [20, 20, 20])
    #expect(large.received.filter { $0[0] == 0x1B }.map { $0.count - 3 } == [20, 21, 512])
  }

  @Test("G18: a device that connected to us is asked for another latency; others are not, and that is said")
  func latency() throws {
    subscribe(asked, .notification)
    let central = try #require(try client.notifications(ServerSubscribed.self).first).central
    let requests: [(ConnectionLatency, ClosedRange<Duration>)] = [
      (.low, .milliseconds(15)...(.milliseconds(30))), (.medium, .milliseconds(90)...(.milliseconds(120))),
      (.high, .milliseconds(480)...(.milliseconds(510))),
    ]
    for (latency, interval) in requests {
      _ = try client.result(ServerSetLatency.self, .init(central: central, latency: latency))
      #expect(link.requested.last?.interval == interval)
    }
    #expect(link.requested.count == 3)
    link.end(reason: 0x13)
    let error = try client.error(ServerSetLatency.self, .init(central: central, latency: .low))
    #expect(error?.data?.name == "notConnected" && error?.data?.domain == .gap)
    #expect(link.requested.count == 3)
  }

  @Test("P16: without room nothing is sent, and the session is called when there is room again")
  func roomForNotifications() throws {
    subscribe(asked, .notification)
    link.isWritable = false
    #expect(try !client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([1]))).sent)
    #expect(try client.notifications(ServerReady.self).isEmpty)
    link.isWritable = true
    #expect(try client.notifications(ServerReady.self).count == 1)
    #expect(try client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([2]))).sent)
    world.settle()
    #expect(phone.values.map(\.value) == [[2]])
    #expect(try client.notifications(ServerReady.self).count == 1)
  }

  @Test("A device that has not taken in a change of the services gets no values, and the session is told so")
  func outOfSync() throws {
    let indicated = try #require(service.characteristics?[2].handle)
    subscribe(asked, .notification)
    subscribe(indicated, .indication)
    let all = phone(.readByUUID(0x2B29))
    guard case .success(.values(let features)) = all, let handle = features.first?.handle else {
      Issue.record("no Client Supported Features: \(String(describing: all))")
      return
    }
    #expect(try phone(.write(handle, [1]))?.get() == .done)
    let central = try #require(try client.notifications(ServerSubscribed.self).first?.central)
    for changed in [asked, indicated] {
      let result = try client.result(ServerNotify.self, .init(handle: changed, value: HexBytes([1])))
      #expect(result.sent && result.receivers == 1 && result.outOfSync == nil)
    }
    world.settle()
    #expect(phone.values.count == 2)

    let hash = phone(.readByUUID(0x2B2A))
    _ = try client.result(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))
    for changed in [asked, indicated] {
      let result = try client.result(ServerNotify.self, .init(handle: changed, value: HexBytes([2])))
      #expect(result.sent && result.receivers == 0 && result.outOfSync == [central])
    }
    #expect(phone(.read(fixed)) == .failure(.att(.databaseOutOfSync, handle: fixed)))
    guard case .success(.values(let before))? = hash, case .success(.values(let after))? = phone(.readByUUID(0x2B2A))
    else {
      Issue.record("no Database Hash")
      return
    }
    #expect(before.first?.value.count == 16 && after.first?.value.count == 16 && before != after)
    #expect(try phone(.read(fixed))?.get() == .value([1]))
    let result = try client.result(ServerNotify.self, .init(handle: asked, value: HexBytes([3])))
    #expect(result.receivers == 1 && result.outOfSync == nil)
    world.settle()
    #expect(phone.values.map(\.value) == [[1], [1], [3]])
  }

  @Test("Indications go one by one and have their bound")
  func indications() throws {
    let handle = try #require(service.characteristics?[2].handle)
    subscribe(handle, .indication)
    var sent = 0
    while try client.result(ServerNotify.self, .init(handle: handle, value: HexBytes([UInt8(sent)]))).sent {
      sent += 1
      if sent > 100 { break }
    }
    #expect(sent == ServerLink.maximumIndications)
    world.settle()
    #expect(phone.values.map(\.value) == (0..<sent).map { [UInt8($0)] })
    #expect(try client.notifications(ServerReady.self).count == 1)
  }

  @Test("G17: values and subscriptions that need encryption are not given to a link without it")
  func encryptionRequired() throws {
    let secret = try client.result(
      ServiceAdd.self,
      .init(
        service: .init(
          uuid: 0x180F,
          characteristics: [
            .init(
              uuid: 0x2A19, properties: ["read", "notify"],
              permissions: ["readEncryptionRequired", "subscribeEncryptionRequired"])
          ]))
    ).service
    let characteristic = try #require(secret.characteristics?.first)
    let descriptor = try #require(characteristic.descriptors?.first { $0.uuid == 0x2902 })
    for procedure in [
      GATTProcedure.read(characteristic.handle), .subscribe(descriptor: descriptor.handle, .notification),
    ] {
      guard case .failure(.att(let code, _))? = phone(procedure) else {
        Issue.record("\(procedure) succeeded")
        continue
      }
      #expect(code.isAboutSecurity)
    }
    #expect(try client.calls(ServerRead.self).isEmpty && client.notifications(ServerSubscribed.self).isEmpty)
  }

  @Test("Sessions have their own services, and none touches another's")
  func ownership() throws {
    let other = world.client()
    let error = try other.error(ServiceRemove.self, .init(handle: service.handle))
    #expect(error?.data?.name == "unknownHandle")
    #expect(
      try other.error(ServerNotify.self, .init(handle: asked, value: HexBytes([1])))?.data?.name == "unknownHandle")
    let include = ServiceAdd.Params(service: .init(uuid: 0x180F, includes: [service.handle]))
    #expect(try other.error(ServiceAdd.self, include)?.data?.name == "unknownHandle")
    let own = try client.result(ServiceAdd.self, include).service
    #expect(own.includes?.map(\.uuid) == [0x180D])
    _ = try client.result(ServiceRemove.self, .init(handle: own.handle))
    _ = try client.result(ServiceRemove.self, .init())
    #expect(world.daemon.links.database.attributes.services.count == 2)
  }
}

extension GATTResult {
  fileprivate var services: [DiscoveredService]? { if case .services(let services) = self { services } else { nil } }
}
