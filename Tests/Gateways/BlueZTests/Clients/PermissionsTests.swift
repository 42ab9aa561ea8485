import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// A user without permissions, to whom bled refuses everything: nothing is changed, stored or sent for such a program.
struct PermissionsTests {
  private static let program = ":1.1"
  private static let stranger = ":1.2"
  private static let characteristic = FacadeStage.device + "/service0010/char0011"

  private let world = FacadeStage()

  init() throws {
    world.bus.users = [Self.stranger: 1001]
    world.daemon.lacking = [1001: Set(Permission.allCases)]
    world.daemon.answer = { method, _, session in
      let isOpening = method == SessionOpen.name
      if session.user == 1001, !isOpening { return .failure(BledError.notPermitted.error("user 1001 lacks it")) }
      switch method {
      case PeripheralConnect.name: return .success(FacadeStage.linked)
      case GATTDiscover.name: return .success(GATTServices(services: [Self.service]))
      case GATTAcquire.name:
        return .success(GATTAcquire.Result(handle: 0x12, writes: false, values: true, maximumLength: 62))
      default: return nil
      }
    }
    world.call(Self.program, .adapter, "StartDiscovery", [])
    try world.hear(Self.program, -60)
    world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)
  }

  private static let service = ServiceDescription(
    handle: 0x10, end: 0x20, uuid: 0x180D, primary: true,
    characteristics: [
      CharacteristicDescription(
        handle: 0x12, declaration: 0x11, end: 0x14, uuid: 0x2A37, properties: ["read", "notify"])
    ])

  private func device(_ name: String) throws -> BusValue? {
    try world.property(.device, name, at: FacadeStage.device)
  }

  @Test func propertiesOfDevices() throws {
    var kept = 0
    world.facade.settingsChanged = { _ in kept += 1 }
    func set(_ program: String, _ name: String, _ value: BusValue) -> BusError? {
      world.error(world.set(program, .device, name, value, at: FacadeStage.device))
    }
    let alias = try device("Alias")
    #expect(set(Self.stranger, "Trusted", .boolean(true)) == .notAuthorized)
    #expect(set(Self.stranger, "Alias", .string("PWNED")) == .notAuthorized)
    #expect(set(Self.stranger, "Blocked", .boolean(true)) == .notAuthorized)
    #expect(try device("Trusted") == .boolean(false) && device("Alias") == alias && kept == 0)
    #expect(set(Self.program, "Trusted", .boolean(true)) == nil)
    #expect(set(Self.program, "Alias", .string("Mine")) == nil)
    #expect(try device("Trusted") == .boolean(true) && device("Alias") == .string("Mine") && kept == 2)
    // BlueZ's error for a property without a value.
    #expect(set(Self.program, "PreferredBearer", .string("le")) == .noProperty("PreferredBearer"))
    #expect(set(Self.program, "WakeAllowed", .boolean(true)) == .noProperty("WakeAllowed"))
  }

  @Test func anAliasThatIsTooLong() throws {
    let alias = String(repeating: "a", count: 248)
    #expect(world.succeeded(world.set(Self.program, .device, "Alias", .string(alias), at: FacadeStage.device)))
    let longer = world.set(Self.program, .device, "Alias", .string(alias + "a"), at: FacadeStage.device)
    #expect(world.error(longer)?.name == "org.bluez.Error.InvalidArguments")
    #expect(try device("Alias") == .string(alias))
  }

  /// Programs of ordinary users set them at their start.
  @Test func propertiesOfAdaptersStayWithoutAnError() throws {
    let values: [(String, BusValue, BusValue)] = [
      ("Discoverable", .boolean(true), .boolean(false)), ("Pairable", .boolean(false), .boolean(true)),
      ("Connectable", .boolean(false), .boolean(true)), ("DiscoverableTimeout", .uint32(7), .uint32(180)),
      ("PairableTimeout", .uint32(7), .uint32(0)),
    ]
    for (name, value, before) in values {
      #expect(world.succeeded(world.set(Self.stranger, .adapter, name, value, at: FacadeStage.adapter)))
      #expect(try world.property(.adapter, name, at: FacadeStage.adapter) == before)
      #expect(world.succeeded(world.set(Self.program, .adapter, name, value, at: FacadeStage.adapter)))
      #expect(try world.property(.adapter, name, at: FacadeStage.adapter) == value)
    }
  }

  @Test func scans() {
    #expect(world.error(world.call(Self.stranger, .adapter, "SetDiscoveryFilter", [.options([])])) == .notAuthorized)
    #expect(world.error(world.call(Self.stranger, .monitorManager, "RegisterMonitor", [.path("/m")])) == .notAuthorized)
    #expect(world.bus.log.isEmpty, "its objects are not asked for")
    #expect(!world.bus.watched.contains(Self.stranger))
    #expect(
      world.error(world.call(Self.stranger, .monitorManager, "UnregisterMonitor", [.path("/m")])) == .doesNotExist)
  }

  /// A refused program does not affect others.
  @Test func notifications() {
    func call(_ program: String, _ member: String) -> UInt64 {
      let arguments: [BusValue] = member == "AcquireNotify" ? [.options([])] : []
      return world.call(program, .characteristic, member, arguments, at: Self.characteristic)
    }
    let refused = world.begin(
      Self.stranger, .characteristic, "AcquireNotify", [.options([])], at: Self.characteristic)
    #expect(world.succeeded(call(Self.program, "AcquireNotify")))
    #expect(world.error(refused) == .notAuthorized)
    world.call(Self.program, .device, "Disconnect", [], at: FacadeStage.device)
    #expect(world.error(call(Self.stranger, "StartNotify")) == .notAuthorized)
    #expect(world.error(call(Self.stranger, "StopNotify")) == .failed("No notify session started"))
    world.call(Self.program, .device, "Connect", [], at: FacadeStage.device)
    #expect(world.succeeded(call(Self.program, "AcquireNotify")))
  }

  /// The place of a characteristic is that of a user, not of all.
  @Test func eachUserHasAPlace() throws {
    world.daemon.lacking = [:]
    world.bus.users = [Self.stranger: 1002]
    func call(_ program: String, _ member: String) -> UInt64 {
      let arguments: [BusValue] = member == "AcquireNotify" ? [.options([])] : []
      return world.call(program, .characteristic, member, arguments, at: Self.characteristic)
    }
    #expect(world.succeeded(call(Self.program, "AcquireNotify")))
    #expect(world.error(call(Self.program, "StartNotify")) == .notPermitted("Notify acquired"))
    #expect(world.error(call(":1.3", "AcquireNotify")) == .notPermitted("Notify acquired"), "of the same user")
    #expect(world.succeeded(call(Self.stranger, "StartNotify")))
    #expect(world.error(call(Self.stranger, "AcquireNotify")) == .inProgress)
    #expect(world.succeeded(call(Self.stranger, "StopNotify")))
    #expect(world.succeeded(call(Self.stranger, "AcquireNotify")))
    world.facade.left(Self.stranger)
    #expect(try world.property(.characteristic, "NotifyAcquired", at: Self.characteristic) == .boolean(true))
    world.facade.left(Self.program)
    world.settle()
    #expect(try world.property(.characteristic, "NotifyAcquired", at: Self.characteristic) == .boolean(false))
  }
}
