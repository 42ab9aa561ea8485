import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Services that may be published, and services refused by name.
@Suite struct ServiceDefinitionTests {
  private let world = World()
  private let client: TestClient

  init() { client = world.client() }

  @Test(arguments: [
    ServiceToPublish.Characteristic(uuid: 0x2A37, properties: ["read", "write"], value: HexBytes([1])),
    .init(uuid: 0x2A37, properties: ["read"], value: HexBytes([UInt8](repeating: 0, count: 513))),
    .init(uuid: 0x2A37, properties: ["notify"], descriptors: [.init(uuid: 0x2902, value: HexBytes([]))]),
    .init(uuid: 0x2A37, properties: ["write"], descriptors: [.init(uuid: 0x2900, value: HexBytes([1, 0]))]),
    .init(uuid: 0x2A37, properties: ["read", "extendedProperties"]),
    .init(
      uuid: 0x2A37, properties: ["read"],
      descriptors: [.init(uuid: 0x2901, value: HexBytes([1]), permissions: [.readable, .writeable])]),
  ])
  func nonsenseIsRefused(_ characteristic: ServiceToPublish.Characteristic) throws {
    let error = try client.error(
      ServiceAdd.self, .init(service: .init(uuid: 0x180F, characteristics: [characteristic])))
    #expect(error?.data?.name == "invalidParameter")
    #expect(world.daemon.links.database.attributes.services.count == 2)
  }

  @Test("Extended Properties offer reliable writes (Core 5.4, Vol 3, Part G, 3.3.3.1)")
  func extendedProperties() throws {
    let properties: [CharacteristicProperty] = [.read, .write, .extendedProperties]
    let service = try client.result(
      ServiceAdd.self,
      .init(service: .init(uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: properties)]))
    ).service
    let characteristic = try #require(service.characteristics?.first)
    #expect(characteristic.properties == properties.words())
    let descriptor = try #require(characteristic.descriptors?.first)
    #expect(descriptor.uuid == 0x2900)
    #expect(world.daemon.links.database.attributes.value(of: descriptor.handle) == [1, 0])
  }

  @Test(
    "The system's own services, and what are types of other attributes, are refused by name",
    arguments: [
      0x0000, 0x1800, 0x1801, 0x2800, 0x2801, 0x2802, 0x2803, 0x2900, 0x2902, 0x290F,
    ] as [UInt16])
  func servicesThatAreNone(_ uuid: UInt16) throws {
    let error = try client.error(ServiceAdd.self, .init(service: .init(uuid: BluetoothUUID(uuid))))
    #expect(error?.data?.name == "invalidParameter")
    #expect(error?.message.contains("service \(BluetoothUUID(uuid))") == true, "\(error?.message ?? "no error")")
    #expect(world.daemon.links.database.attributes.services.count == 2)
  }

  @Test(arguments: [0x0000, 0x2800, 0x2801, 0x2802, 0x2803, 0x2900, 0x2901, 0x2902, 0x2904, 0x290F] as [UInt16])
  func characteristicsThatAreNone(_ uuid: UInt16) throws {
    let characteristic = ServiceToPublish.Characteristic(uuid: BluetoothUUID(uuid), properties: ["read"])
    let error = try client.error(
      ServiceAdd.self, .init(service: .init(uuid: 0x180F, characteristics: [characteristic])))
    #expect(error?.data?.name == "invalidParameter")
    #expect(error?.message.contains("characteristic \(BluetoothUUID(uuid))") == true, "\(error?.message ?? "no error")")
    #expect(world.daemon.links.database.attributes.services.count == 2)
  }

  @Test func servicesPerSessionAreBounded() throws {
    let other = world.client()
    for _ in 0..<64 {
      _ = try other.result(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))
    }
    #expect(try other.error(ServiceAdd.self, .init(service: .init(uuid: 0x180F)))?.data?.name == "limitReached")
    other.die()
    #expect(world.daemon.links.database.attributes.services.count == 2)
  }
}
