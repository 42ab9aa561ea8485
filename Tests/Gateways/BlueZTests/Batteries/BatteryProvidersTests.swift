import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// BatteryProviderManager1: levels that programs know (BlueZ, org.bluez.BatteryProvider).
struct BatteryProvidersTests {
  private static let program = ":1.1"
  private static let provider = ":1.2"
  private static let interface = "org.bluez.BatteryProvider1"

  private let world = FacadeStage()

  init() throws {
    world.daemon.answer = { method, _, _ in
      switch method {
      case PeripheralConnect.name: .success(FacadeStage.linked)
      case GATTDiscover.name: .success(GATTServices(services: []))
      default: nil
      }
    }
    world.call(Self.program, .adapter, "StartDiscovery", [])
    try world.hear(Self.program, -60)
    world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)
  }

  private static func values(_ level: UInt8, device: String = FacadeStage.device) -> [(String, BusValue)] {
    [("Device", .path(device)), ("Percentage", .byte(level)), ("Source", .string("Maker's protocol"))]
  }

  @discardableResult
  private func register(_ objects: [(String, String, [(String, BusValue)])]) throws -> UInt64 {
    let number = world.call(Self.provider, .batteryProviderManager, "RegisterBatteryProvider", [.path("/b")])
    try #require(world.bus.take("GetManagedObjects")).completion(.success([managed(objects)]))
    world.settle()
    return number
  }

  private func battery(_ name: String = "Percentage") throws -> BusValue? {
    try world.property(.battery, name, at: FacadeStage.device)
  }

  private func export(_ path: String, _ values: [(String, BusValue)]) {
    let interfaces = BusValue.dictionary(
      key: "s", value: "a{sv}", [BusValue.Entry(.string(Self.interface), .options(values))])
    world.signal(Self.provider, "/b", .objectManager, "InterfacesAdded", [.path(path), interfaces])
  }

  @Test func aLevelComesChangesAndGoes() throws {
    #expect(world.succeeded(try register([])))
    export("/b/one", Self.values(70))
    #expect(try battery() == .byte(70) && battery("Source") == .string("Maker's protocol"))
    world.changed(Self.provider, "/b/one", Self.interface, [("Percentage", .byte(69))])
    #expect(try battery() == .byte(69))
    world.changed(Self.provider, "/b/one", Self.interface, [("Percentage", .byte(101))])
    #expect(try battery() == .byte(69))
    world.signal(
      Self.provider, "/b", .objectManager, "InterfacesRemoved", [.path("/b/one"), .strings([Self.interface])])
    #expect(try battery() == nil)
  }

  @Test func levelsThatAreThereBefore() throws {
    try register([("/b/one", Self.interface, Self.values(33))])
    #expect(try battery() == .byte(33))
    // Another one of the same device.
    export("/b/two", Self.values(44))
    #expect(try battery() == .byte(33))
    let end = world.call(Self.provider, .batteryProviderManager, "UnregisterBatteryProvider", [.path("/b")])
    #expect(world.succeeded(end))
    #expect(try battery() == nil)
    #expect(world.bus.watched.isEmpty)
    let again = world.call(Self.provider, .batteryProviderManager, "UnregisterBatteryProvider", [.path("/b")])
    #expect(world.error(again) == .doesNotExist)
  }

  @Test func itGoesWithItsProgramAndWithTheLink() throws {
    try register([("/b/one", Self.interface, Self.values(33))])
    world.call(Self.program, .device, "Disconnect", [], at: FacadeStage.device)
    #expect(try battery() == nil)
    world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)
    export("/b/one", Self.values(34))
    #expect(try battery() == .byte(34))
    world.facade.left(Self.provider)
    world.settle()
    #expect(try battery() == nil)
  }

  @Test func devicesThatAreNotConnected() throws {
    try register([("/b/one", Self.interface, Self.values(33, device: FacadeStage.adapter + "/dev_00"))])
    #expect(!world.bus.signals.contains { $0.arguments.first?.path == FacadeStage.adapter + "/dev_00" })
    world.call(Self.program, .device, "Disconnect", [], at: FacadeStage.device)
    export("/b/two", Self.values(33))
    #expect(try battery() == nil)
  }

  @Test func aUserWithoutThePermission() throws {
    world.bus.users = [Self.provider: 1001]
    world.daemon.lacking = [1001: [.connect]]
    let number = world.call(Self.provider, .batteryProviderManager, "RegisterBatteryProvider", [.path("/b")])
    #expect(world.error(number) == .notAuthorized)
    #expect(world.bus.log.isEmpty && world.bus.watched.isEmpty)
  }
}
