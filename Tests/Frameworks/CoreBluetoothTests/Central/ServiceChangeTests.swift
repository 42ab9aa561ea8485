import CoreBluetooth
import Testing

extension WithDaemon {
  /// `didModifyServices` around a discovery.
  @Suite struct ServiceChangeTests {
    private let daemon: BledProcess
    private let central: Central
    private let role: PeripheralRole

    init() async throws {
      daemon = try await BledProcess("{}", adapters: 2)
      central = Central(adapter: BledProcess.adapter(1))
      role = PeripheralRole(adapter: BledProcess.adapter(0))
      try await role.log.next("didUpdateState") { $0.state == .poweredOn }
    }

    private func service(_ uuid: String) -> CBMutableService {
      let service = CBMutableService(type: CBUUID(string: uuid), primary: true)
      service.characteristics = [
        CBMutableCharacteristic(
          type: CBUUID(string: Air.echo), properties: .read, value: Data("1".utf8), permissions: .readable)
      ]
      return service
    }

    private func connected() async throws -> CBPeripheral {
      try await role.advertise([CBAdvertisementDataLocalNameKey: "Theirs"])
      return try await central.connected("Theirs")
    }

    @Test("R26: a service that is added is told") func added() async throws {
      try await role.publish(service(Air.custom))
      let device = try await connected()
      device.discoverServices(nil)
      try await central.log.next("didDiscoverServices")
      let count = try #require(device.services?.count)
      try await daemon.untilServiceChangesAreHeard(from: device)
      try await role.publish(service(Air.long))
      let change = try await central.log.next("didModifyServices")
      #expect(change.peripheral === device && change.services.isEmpty && change.isOnQueue)
      device.discoverServices(nil)
      try await central.log.next("didDiscoverServices")
      #expect(device.services?.count == count + 1)
    }

    @Test("R26: a service that is removed right after its discovery is told, and is gone") func removed() async throws {
      let local = service(Air.custom)
      try await role.publish(local)
      let device = try await connected()
      device.discoverServices(nil)
      try await central.log.next("didDiscoverServices")
      let found = try #require(device.services?.first { $0.uuid == CBUUID(string: Air.custom) })
      // The daemon has not subscribed to Service Changed yet, or has just done so.
      role.manager.remove(local)
      let change = try await central.log.next("didModifyServices") { $0.services.contains { $0 === found } }
      #expect(change.peripheral === device)
      #expect(device.services?.contains { $0 === found } == false)
      device.discoverServices([CBUUID(string: Air.custom)])
      try await central.log.next("didDiscoverServices")
      #expect(device.services?.contains { $0.uuid == CBUUID(string: Air.custom) } == false)
    }
  }
}
