import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// The lifetime of devices' objects.
struct DevicesTests {
  private static let program = ":1.42"

  private let world = FacadeStage()

  init() { world.call(Self.program, .adapter, "StartDiscovery", []) }

  /// The paths of the devices that programs see.
  private func devices() throws -> Set<String> {
    let number = world.call(Self.program, .objectManager, "GetManagedObjects", [], at: "/")
    guard case .dictionary(_, _, let entries)? = try world.bus.answers[number]?.get().first else { return [] }
    return Set(entries.compactMap { $0.key.path }.filter { $0.utf8.count == FacadeStage.device.utf8.count })
  }

  private func trust(_ isOn: Bool) {
    world.call(
      Self.program, .properties, "Set",
      [.string(Interface.device.rawValue), .string("Trusted"), .variant(.boolean(isOn))], at: FacadeStage.device)
  }

  @Test func aDeviceStaysWhenTheScanHasEnded() throws {
    try world.hear(Self.program, -60)
    world.call(Self.program, .adapter, "StopDiscovery", [])
    world.advance(by: .seconds(170))
    #expect(try devices() == [FacadeStage.device])
    world.advance(by: .seconds(60))
    #expect(try devices().isEmpty)
    #expect(world.bus.signals.last?.member == "InterfacesRemoved")
  }

  @Test func aTrustedDeviceStays() throws {
    try world.hear(Self.program, -60)
    trust(true)
    world.advance(by: .seconds(1000))
    #expect(try devices() == [FacadeStage.device])
    trust(false)
    world.advance(by: .seconds(100))
    #expect(try devices().isEmpty)
  }

  @Test func aConnectedDeviceStays() throws {
    try world.hear(Self.program, -60)
    world.daemon.answer = { method, _, _ in
      switch method {
      case PeripheralConnect.name: .success(FacadeStage.linked)
      case GATTDiscover.name: .success(GATTDiscover.Result(services: []))
      default: nil
      }
    }
    #expect(world.succeeded(world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)))
    world.advance(by: .seconds(1000))
    #expect(try devices() == [FacadeStage.device])
  }

  /// Nothing grows with the number of advertisers, and the latest are there.
  @Test func aThousandAdvertisers() throws {
    for number in 1...1000 {
      try world.hear(Self.program, -60, number: number)
      world.clock.advance(by: .milliseconds(10))
    }
    let devices = try devices()
    #expect(devices.count <= Devices.maximum && devices.count > Devices.maximum / 2)
    #expect(devices.contains("/org/bluez/hci0/dev_C0_DE_00_00_03_E8"))
    #expect(!devices.contains(FacadeStage.device))
  }
}
