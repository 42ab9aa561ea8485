import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Services of one adapter among several.
struct ServiceAudienceTests {
  private let world = World()
  private let second: ScriptedAdapter

  init() {
    second = ScriptedAdapter(id: "hci1", scheduler: world.scheduler)
    world.daemon.add(second)
  }

  private func finish(_ procedure: GATTProcedure, by phone: ScriptedPeer) -> Result<GATTResult, GATTError>? {
    let id = phone.start(procedure)
    world.settle()
    return phone.results[id]
  }

  private func services(of phone: ScriptedPeer) throws -> [BluetoothUUID] {
    guard case .services(let found)? = try finish(.discoverServices(.primary), by: phone)?.get() else { return [] }
    return found.map(\.uuid)
  }

  private func hash(for phone: ScriptedPeer) throws -> [UInt8]? {
    guard case .values(let found)? = try finish(.readByUUID(0x2B2A), by: phone)?.get() else { return nil }
    return found.first?.value
  }

  @Test("devices of other adapters do not see a service, are not told of it, and cannot read it by its handle")
  func oneAdapter() throws {
    let here = world.peer("C0:00:00:00:00:01")
    let there = world.peer("C0:00:00:00:00:02")
    world.adapter.bringUp(here, role: .peripheral)
    second.bringUp(there, role: .peripheral)
    let changed = try #require(
      world.daemon.links.database.attributes.services.flatMap(\.characteristics).first { $0.uuid == 0x2A05 }
    ).valueHandle
    for phone in [here, there] { _ = finish(.subscribe(descriptor: changed + 1, .indication), by: phone) }
    let before = try hash(for: here)

    let program = world.client()
    let service = try program.result(
      ServiceAdd.self,
      .init(
        service: .init(
          uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: ["read"], value: HexBytes([7]))],
          adapter: "hci1"))
    ).service
    _ = try program.result(ServiceAdd.self, .init(service: .init(uuid: 0x180A)))
    world.settle()
    #expect(try services(of: there) == [0x1800, 0x1801, 0x180F, 0x180A])
    #expect(try services(of: here) == [0x1800, 0x1801, 0x180A])
    #expect(here.values.count == 1 && there.values.count == 2)

    let value = try #require(service.characteristics?.first?.handle)
    #expect(finish(.read(value), by: there) == .success(.value([7])))
    #expect(finish(.read(value), by: here) == .failure(.att(.invalidHandle, handle: value)))
    #expect(finish(.readByUUID(0x2A19), by: here) == .failure(.att(.attributeNotFound, handle: 1)))
    let hashes = try [hash(for: here), hash(for: there)]
    #expect(hashes[0] != hashes[1] && hashes[0] != before)

    _ = try program.result(ServiceRemove.self, .init(handle: service.handle))
    world.settle()
    #expect(here.values.count == 1 && there.values.count == 3)
    #expect(try hash(for: there) == hash(for: here))
  }

  @Test("an adapter that is not there, and an include that not all can see, are refused")
  func refusals() throws {
    let program = world.client()
    let unknown = try program.error(ServiceAdd.self, .init(service: .init(uuid: 0x180F, adapter: "hci7")))
    #expect(unknown?.data?.name == "adapterAbsent")
    let limited = try program.result(ServiceAdd.self, .init(service: .init(uuid: 0x180F, adapter: "hci1"))).service
    let wide = try program.error(ServiceAdd.self, .init(service: .init(uuid: 0x180A, includes: [limited.handle])))
    #expect(wide?.message.contains("one adapter alone") == true, "\(String(describing: wide))")
    let same = ServiceToPublish(uuid: 0x180A, includes: [limited.handle], adapter: "hci1")
    _ = try program.result(ServiceAdd.self, .init(service: same))
  }
}
