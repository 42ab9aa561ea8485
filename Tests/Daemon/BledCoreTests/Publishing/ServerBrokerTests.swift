import ATT
import Adapter
import BledRPC
import Bluetooth
import GATT
import TestSupport
import Testing

@testable import BledCore

/// Publishing services and answering devices: G11–G14, G17, G18.
@Suite struct ServerBrokerTests: ServerSuite {
  let stage: ServerStage

  init() throws { stage = try ServerStage() }

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
    // There is no event for the link's encryption: the device requests before the kernel's answer has changed.
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
    // The services of a program end with it.
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
    #expect(question.params.mtu == 23)
    try client.answer(question.id, ServerRead.Result(value: HexBytes([7, 8])))
    try client.answer(question.id, ServerRead.Result(value: HexBytes([9])))
    world.settle()
    #expect(try phone.results[read]?.get() == .value([7, 8]))

    // The next question is asked while the answer to the first is being handled.
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
    #expect(written.params.withoutResponse == nil && written.params.mtu == question.params.mtu)
    try client.refuse(written.id, BluetoothError(domain: .att, code: 0x80, name: "application", message: "no"))
    world.settle()
    #expect(phone.results[write] == .failure(.att(ATTErrorCode(rawValue: 0x80), handle: asked)))
    _ = phone(.writeWithoutResponse(asked, [3]))
    let command = try #require(try client.calls(ServerWrite.self).last)
    #expect(command.params.writes.first?.value.octets == [3])
    #expect(command.params.withoutResponse == true)
  }

  @Test("A descriptor without a fixed value is read and written by the session, as its permissions allow")
  func descriptors() throws {
    let characteristic = ServiceToPublish.Characteristic(
      uuid: 0x2A19, properties: ["read"],
      descriptors: [
        .init(uuid: 0x2901, permissions: [.readable, .writeable]),
        .init(uuid: 0xB1ED, permissions: [.writeEncryptionRequired]),
        .init(uuid: 0x2904, value: HexBytes([4])),
      ])
    let service = try client.result(
      ServiceAdd.self, .init(service: .init(uuid: 0x180F, characteristics: [characteristic]))
    ).service
    let handles = try #require(service.characteristics?.first?.descriptors).map(\.handle)
    let read = phone.start(.read(handles[0]))
    world.settle()
    let question = try #require(try client.calls(ServerRead.self).first)
    #expect(question.params.handle == handles[0])
    try client.answer(question.id, ServerRead.Result(value: HexBytes([7])))
    world.settle()
    #expect(try phone.results[read]?.get() == .value([7]))

    let write = phone.start(.write(handles[0], [8]))
    world.settle()
    let written = try #require(try client.calls(ServerWrite.self).first)
    #expect(written.params.writes == [.init(handle: handles[0], offset: 0, value: HexBytes([8]))])
    try client.answer(written.id, Empty())
    world.settle()
    #expect(try phone.results[write]?.get() == .done)

    #expect(phone(.read(handles[1])) == .failure(.att(.readNotPermitted, handle: handles[1])))
    #expect(phone(.write(handles[1], [1])) == .failure(.att(.insufficientAuthentication, handle: handles[1])))
    #expect(try phone(.read(handles[2]))?.get() == .value([4]))
    #expect(phone(.write(handles[2], [1])) == .failure(.att(.writeNotPermitted, handle: handles[2])))
    #expect(try client.calls(ServerRead.self).count == 1)
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
    #expect(error?.data?.name == "notConnected" && error?.data?.domain == "gap")
    #expect(link.requested.count == 3)
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
