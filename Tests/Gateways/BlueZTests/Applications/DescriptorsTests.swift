import BledRPC
import Bluetooth
import SessionTestSupport
import Testing

@testable import BlueZ

/// Descriptors of programs' applications (BlueZ, org.bluez.GattDescriptor).
struct DescriptorsTests {
  private static let program = ":1.42"
  private static let handle: UInt16 = 0x13
  private static let place = "/app/service0/char0/desc0"

  private let world = FacadeStage()
  private let published = Published()

  private final class Published {
    var services: [ServiceToPublish] = []
  }

  init() {
    world.daemon.answer = { [published] method, message, _ in
      guard method == ServiceAdd.name, let params = try? message.params(ServiceAdd.Params.self) else { return nil }
      published.services.append(params.service)
      let characteristic = CharacteristicDescription(
        handle: 0x12, end: 0x14, uuid: 0x2A37, properties: ["read"],
        descriptors: [.init(handle: Self.handle, uuid: 0x2901), .init(handle: 0x14, uuid: 0x2900)])
      return .success(
        ServiceAdd.Result(
          service: ServiceDescription(
            handle: 0x10, end: 0x20, uuid: 0x180D, primary: true, characteristics: [characteristic])))
    }
    world.link()
  }

  /// - Parameter value: the value that the program exports.
  private func register(_ flags: [String], value: [UInt8]? = nil) throws -> ScriptedDaemon.Session {
    let objects = managed([
      ("/app/service0", "org.bluez.GattService1", [("UUID", .string("180D")), ("Primary", .boolean(true))]),
      (
        "/app/service0/char0", "org.bluez.GattCharacteristic1",
        [("UUID", .string("2A37")), ("Service", .path("/app/service0")), ("Flags", .strings(["read"]))]
      ),
      (
        Self.place, "org.bluez.GattDescriptor1",
        [
          ("UUID", .string("2901")), ("Characteristic", .path("/app/service0/char0")), ("Flags", .strings(flags)),
        ] + (value.map { [("Value", .bytes($0))] } ?? [])
      ),
    ])
    world.call(Self.program, .gattManager, "RegisterApplication", [.path("/app"), .options([])])
    try #require(world.bus.take("GetManagedObjects")).completion(.success([objects]))
    world.settle()
    return try world.session(Self.program)
  }

  private func read(_ session: ScriptedDaemon.Session) throws -> Int {
    let number = try session.ask(
      ServerRead.self, ServerRead.Params(central: FacadeStage.central, handle: Self.handle, offset: 0, mtu: 65))
    world.settle()
    return number
  }

  @Test func theFlagsArePermissions() throws {
    _ = try register(["read", "encrypt-write"])
    let descriptor = try #require(published.services.first?.characteristics?.first?.descriptors?.first)
    #expect(descriptor.value == nil && descriptor.permissions == [.readable, .writeEncryptionRequired])
  }

  @Test func theProgramIsAskedForEachRead() throws {
    let session = try register(["read"], value: [9])
    #expect(world.bus.calls.isEmpty, "not before a device reads")
    for octet: UInt8 in [1, 2] {
      let number = try read(session)
      let call = try #require(world.bus.take("ReadValue"))
      #expect(call.path == Self.place && call.interface == "org.bluez.GattDescriptor1")
      #expect(ManagedObjects.properties(try #require(call.values.first))["device"] == .path(FacadeStage.device))
      call.completion(.success([.bytes([octet])]))
      #expect(try session.answers[number]?.get().result(ServerRead.Result.self).value.octets == [octet])
    }
  }

  /// Some programs export the value as a property, and have no method.
  @Test func aValueThatIsExported() throws {
    let session = try register(["read"], value: [9])
    let number = try read(session)
    try #require(world.bus.take("ReadValue")).completion(
      .failure(BusError(name: "org.freedesktop.DBus.Error.UnknownMethod", message: "no such method")))
    #expect(try session.answers[number]?.get().result(ServerRead.Result.self).value.octets == [9])
  }

  @Test func theProgramGetsWrites() throws {
    let session = try register(["read", "write"])
    let write = ServerWrite.Params(
      central: FacadeStage.central, writes: [.init(handle: Self.handle, offset: 0, value: HexBytes([7]))], mtu: 65)
    let accepted = try session.ask(ServerWrite.self, write)
    world.settle()
    let call = try #require(world.bus.take("WriteValue"))
    #expect(call.path == Self.place && call.interface == "org.bluez.GattDescriptor1")
    #expect(call.values.first == .bytes([7]))
    call.completion(.success([]))
    #expect(throws: Never.self) { try session.answers[accepted]?.get() }
    let refused = try session.ask(ServerWrite.self, write)
    world.settle()
    try #require(world.bus.take("WriteValue")).completion(.failure(.notPermitted("read only")))
    guard case .failure(let error)? = session.answers[refused] else {
      Issue.record("it is not refused")
      return
    }
    #expect(error.data?.code == 3)
  }
}
