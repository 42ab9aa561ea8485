import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// GattProfile1: devices are connected for the profiles of programs (BlueZ, org.bluez.GattProfile).
struct AutoConnectionsTests {
  private static let program = ":1.1"
  private static let owner = ":1.2"

  private let world = FacadeStage()
  private let bled = Behaviour()

  private final class Behaviour {
    /// The calls of connect, by the name of the session and the time that they have.
    var connects: [(session: String, timeout: Double?)] = []
    var failure: BluetoothError?
    /// The method that is refused.
    var refused: String?
  }

  init() throws {
    world.daemon.answer = { [bled] method, message, session in
      if method == bled.refused { return .failure(BledError.shuttingDown.error("it cannot be done")) }
      switch method {
      case PeripheralConnect.name:
        let params = try? message.params(PeripheralConnect.Params.self)
        bled.connects.append((session.name, params?.timeout))
        return bled.failure.map { .failure($0) } ?? .success(FacadeStage.linked)
      case GATTDiscover.name:
        return .success(
          GATTServices(services: [ServiceDescription(handle: 0x10, end: 0x20, uuid: 0x180D, primary: true)]))
      default: return nil
      }
    }
    world.call(Self.owner, .adapter, "StartDiscovery", [])
    try world.hear(Self.owner, -60)
  }

  private func register(_ uuid: String = "180D") throws {
    world.call(Self.program, .gattManager, "RegisterApplication", [.path("/p"), .options([])])
    let objects = managed([("/p/one", "org.bluez.GattProfile1", [("UUIDs", .strings([uuid]))])])
    try #require(world.bus.take("GetManagedObjects")).completion(.success([objects]))
    world.settle()
  }

  private func call(_ program: String, _ member: String) {
    world.call(program, .device, member, [], at: FacadeStage.device)
  }

  /// The device is out of range.
  private func loseLink(of programs: [String]) throws {
    for program in programs {
      try world.session(program).notify(
        PeripheralDisconnected.self,
        .init(peripheral: "D1", reason: RPCError(BluetoothError(domain: .hci, code: 8, name: "timeout", message: ""))))
    }
    world.settle()
  }

  private var ofProfile: [Double?] {
    bled.connects.filter { $0.session == "org.bluez \(Self.program)" }.map(\.timeout)
  }

  @Test func aDeviceThatWasConnectedIsConnectedAgain() throws {
    try register()
    #expect(ofProfile.isEmpty, "it was not connected before")
    call(Self.owner, "Connect")
    #expect(ofProfile.isEmpty, "it is connected")
    try loseLink(of: [Self.owner])
    #expect(ofProfile == [nil], "as soon as it is in range")
    #expect(try world.property(.device, "Connected", at: FacadeStage.device) == .boolean(true))
    try loseLink(of: [Self.program])
    #expect(ofProfile == [nil, nil])
    world.call(Self.program, .gattManager, "UnregisterApplication", [.path("/p")])
    #expect(world.bus.log.last == "Release /p/one")
    try loseLink(of: [Self.program])
    #expect(ofProfile == [nil, nil])
  }

  @Test func anotherServiceIsNotWanted() throws {
    try register("180F")
    call(Self.owner, "Connect")
    try loseLink(of: [Self.owner])
    #expect(ofProfile.isEmpty)
  }

  /// The device stays disconnected until it is connected again, unless it is trusted.
  @Test func disconnectSuspends() throws {
    try register()
    call(Self.owner, "Connect")
    call(Self.owner, "Disconnect")
    #expect(ofProfile.isEmpty)
    call(Self.owner, "Connect")
    try loseLink(of: [Self.owner])
    #expect(ofProfile == [nil])
    world.set(Self.owner, .device, "Trusted", .boolean(true), at: FacadeStage.device)
    call(Self.program, "Disconnect")
    #expect(ofProfile == [nil, nil])
  }

  /// bled forgets no device that a program connects to.
  @Test func removalSuspends() throws {
    try register()
    call(Self.owner, "Connect")
    world.set(Self.owner, .device, "Trusted", .boolean(true), at: FacadeStage.device)
    let number = world.call(Self.owner, .adapter, "RemoveDevice", [.path(FacadeStage.device)])
    #expect(world.succeeded(number))
    #expect(ofProfile.isEmpty)
  }

  /// The device that could not be removed is connected again, as if there had been no request.
  @Test func failedRemoval() throws {
    try register()
    call(Self.owner, "Connect")
    bled.refused = PeripheralForget.name
    let number = world.call(Self.owner, .adapter, "RemoveDevice", [.path(FacadeStage.device)])
    #expect(world.error(number) != nil)
    #expect(ofProfile == [nil])
  }

  /// A device that was disconnected before stays so.
  @Test func failedRemovalAfterDisconnect() throws {
    try register()
    call(Self.owner, "Connect")
    call(Self.owner, "Disconnect")
    bled.refused = PeripheralForget.name
    world.call(Self.owner, .adapter, "RemoveDevice", [.path(FacadeStage.device)])
    #expect(ofProfile.isEmpty)
  }

  /// bled gives the link just before it receives the program's cancellation.
  @Test func removalOfADeviceThatIsAwaited() throws {
    try register()
    call(Self.owner, "Connect")
    world.set(Self.owner, .device, "Trusted", .boolean(true), at: FacadeStage.device)
    world.daemon.held = [PeripheralConnect.name, PeripheralDisconnect.name]
    try loseLink(of: [Self.owner])
    let number = world.call(Self.owner, .adapter, "RemoveDevice", [.path(FacadeStage.device)])
    #expect(try !world.session(Self.owner).methods.contains(PeripheralForget.name))
    world.daemon.release()
    world.settle()
    #expect(world.succeeded(number))
    #expect(ofProfile == [nil], "once, before the removal")
  }

  @Test func aBlockedDeviceIsNotWanted() throws {
    try register()
    call(Self.owner, "Connect")
    world.set(Self.owner, .device, "Blocked", .boolean(true), at: FacadeStage.device)
    try loseLink(of: [Self.owner])
    #expect(ofProfile.isEmpty)
  }

  @Test func withoutThePermissionNothingIsTriedAgain() throws {
    try register()
    call(Self.owner, "Connect")
    bled.failure = BledError.notPermitted.error("lacks connect")
    try loseLink(of: [Self.owner])
    world.advance(by: .seconds(60))
    #expect(ofProfile.count == 1)
    world.call(Self.program, .gattManager, "UnregisterApplication", [.path("/p")])
    try register()
    #expect(ofProfile.count == 2, "the profiles have changed")
  }

  /// Another user's call changes nothing for the program.
  @Test func disconnectOfAnotherUser() throws {
    world.bus.users = [":1.7": 1007]
    try register()
    call(Self.owner, "Connect")
    call(":1.7", "Disconnect")
    try loseLink(of: [Self.owner])
    #expect(ofProfile == [nil])
  }

  @Test func aRefusalIsTriedAgainLater() throws {
    try register()
    call(Self.owner, "Connect")
    bled.failure = GAPError.adapterOff.error("off")
    try loseLink(of: [Self.owner])
    #expect(ofProfile.count == 1)
    world.advance(by: .seconds(9))
    #expect(ofProfile.count == 1)
    world.advance(by: .seconds(1))
    #expect(ofProfile.count == 2)
    bled.failure = nil
    world.advance(by: .seconds(10))
    #expect(try world.property(.device, "Connected", at: FacadeStage.device) == .boolean(true))
  }

  @Test func profilesThatAreNotValid() throws {
    for uuids in [["x"], [], (0..<33).map { "B1ED\(1000 + $0)-0000-4000-8000-00805F9B34FB" }] as [[String]] {
      let number = world.call(Self.program, .gattManager, "RegisterApplication", [.path("/p"), .options([])])
      let objects = managed([("/p/one", "org.bluez.GattProfile1", [("UUIDs", .strings(uuids))])])
      try #require(world.bus.take("GetManagedObjects")).completion(.success([objects]))
      world.settle()
      #expect(world.error(number) != nil)
    }
  }
}
