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

  private func connect(_ world: FacadeStage) {
    world.daemon.answer = { method, _, _ in
      switch method {
      case PeripheralConnect.name: .success(FacadeStage.linked)
      case GATTDiscover.name: .success(GATTDiscover.Result(services: []))
      default: nil
      }
    }
    #expect(world.succeeded(world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)))
  }

  /// Programs remember its address, and connect without a scan.
  @Test func aDeviceThatWasConnectedStays() throws {
    var kept: [String: DeviceSettings] = [:]
    world.facade.settingsChanged = { kept = $0 }
    try world.hear(Self.program, -60)
    connect(world)
    world.advance(by: .seconds(1000))
    #expect(try devices() == [FacadeStage.device])
    world.call(Self.program, .device, "Disconnect", [], at: FacadeStage.device)
    world.advance(by: .seconds(1000))
    #expect(try devices() == [FacadeStage.device])
    // The object exists after a restart, with bled's name for it.
    let next = FacadeStage(settings: kept, devices: [Self.listed])
    #expect(
      next.succeeded(
        next.call(Self.program, .properties, "GetAll", [.string(Interface.device.rawValue)], at: FacadeStage.device)))
    #expect(try next.property(.device, "Name", at: FacadeStage.device) == .string("Belt"))
    connect(next)
    #expect(next.succeeded(next.call(Self.program, .adapter, "RemoveDevice", [.path(FacadeStage.device)])))
    let last = FacadeStage(settings: [:], devices: [Self.listed])
    #expect(try last.property(.device, "Name", at: FacadeStage.device) == nil)
  }

  private static let listed = PeripheralList.Entry(
    peripheral: "D1", address: "C0:DE:00:00:00:01", addressType: "random", adapter: "hci0", name: "Belt", rssi: nil,
    state: "disconnected", mine: false, mtu: nil)

  /// Its next address is another one.
  @Test func aDeviceWithAPrivateAddressIsNotRemembered() throws {
    for (address, isPrivate) in [
      ("4F:00:00:00:00:01", true), ("3F:00:00:00:00:01", true), ("C0:00:00:00:00:01", false),
    ] {
      let device = Device(
        key: Device.Key(peripheral: "D", adapter: "hci0"), path: "/", address: address, addressType: "random",
        lastHeard: world.clock.now)
      #expect(device.isPrivate == isPrivate)
    }
  }

  /// A crowd on the air, each device received once a second: the objects stay the same, and no more are added.
  @Test func aCrowd() throws {
    for second in 1...3 {
      for number in 1...Devices.maximum + 200 {
        try world.hear(Self.program, -60, number: number, at: Double(second))
      }
      world.clock.advance(by: .seconds(1))
      #expect(try devices() == Set((1...Devices.maximum).map(Self.path)))
    }
    // A program has its device all the same.
    let number = Devices.maximum + 1
    world.daemon.answer = { method, _, _ in
      guard method == PeripheralConnect.name else { return nil }
      return .success(
        PeripheralConnect.Result(
          peripheral: "D\(number)", address: Self.address(number), addressType: "random", adapter: "hci0", mtu: 65,
          attempts: 1))
    }
    world.call(
      Self.program, .adapter, "ConnectDevice",
      [.options([("Address", .string(Self.address(number))), ("AddressType", .string("random"))])])
    #expect(try devices().count == Devices.maximum && devices().contains(Self.path(number)))
  }

  /// Addresses that change all the time leave a place for a device that is new.
  @Test func changingAddresses() throws {
    for number in 1...3 * Devices.maximum {
      try world.hear(Self.program, -60, number: number, at: Double(number))
      world.clock.advance(by: .milliseconds(10))
      if number % 100 == 0 { try world.hear(Self.program, -60, number: 0xFFFF, at: Double(number)) }
    }
    let devices = try devices()
    #expect(devices.count <= Devices.maximum && devices.contains(Self.path(0xFFFF)))
  }

  private static func address(_ number: Int) -> String {
    let digits = String(number, radix: 16, uppercase: true)
    let end = String(repeating: "0", count: 4 - digits.count) + digits
    return "C0:DE:00:00:\(end.prefix(2)):\(end.suffix(2))"
  }

  private static func path(_ number: Int) -> String {
    "/org/bluez/hci0/dev_" + address(number).map { $0 == ":" ? "_" : String($0) }.joined()
  }
}
