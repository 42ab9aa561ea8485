import Adapter
import BledRPC
import Bluetooth
import TestSupport
import Testing

@testable import BledCore

/// `adapter.setName`: the Device Name that devices read.
@Suite struct DeviceNameTests {
  /// The value of the Device Name.
  private func name(in world: World) throws -> String {
    let database = world.daemon.links.database.attributes
    let handle = try #require(
      database.services.first { $0.uuid == 0x1800 }?.characteristics.first { $0.uuid == 0x2A00 }?.valueHandle)
    let peer = world.peer()
    let link = world.adapter.bringUp(peer, role: .peripheral)
    world.settle()
    var answers: [[UInt8]] = []
    link.onTraffic = { packet, isSent in if isSent, packet.first == 0x0B { answers.append(packet) } }
    link.deliver([0x0A, UInt8(handle & 0xFF), UInt8(handle >> 8)])
    world.settle()
    link.end(reason: 0x13)
    return String(decoding: try #require(answers.first).dropFirst(), as: UTF8.self)
  }

  @Test("Devices read the new name at once, every session is told, and it lasts over a restart")
  func change() throws {
    let scheduler = VirtualScheduler()
    let storage = MemoryStorage(scheduler: scheduler)
    let world = World(scheduler: scheduler, storage: storage)
    let (owner, client) = (world.client(), world.client(user: 1000))
    #expect(try name(in: world) == "bled test")
    #expect(try client.result(AdapterList.self, Empty()).adapters.map(\.deviceName) == ["bled test"])
    client.forget()
    _ = try owner.result(AdapterSetName.self, .init(name: "Kiosk"))
    #expect(try name(in: world) == "Kiosk")
    #expect(try client.notifications(AdapterChanged.self).first?.deviceName == "Kiosk")
    world.daemon.apply(
      identity: .init(name: "configured", appearance: 833), policy: World.policy(), limits: Limits(), retention: .zero)
    #expect(try name(in: world) == "Kiosk")
    world.settle()
    let next = World(scheduler: scheduler, storage: storage)
    #expect(try name(in: next) == "Kiosk")
    _ = try next.client().result(AdapterSetName.self, .init())
    #expect(try name(in: next) == "bled test")
    next.settle()
    #expect(try name(in: World(scheduler: scheduler, storage: storage)) == "bled test")
  }

  @Test("The name of a configuration that is read again is told to sessions, too")
  func configured() throws {
    let world = World()
    let client = world.client()
    world.daemon.apply(
      identity: .init(name: "other"), policy: World.policy(), limits: Limits(), retention: .zero)
    #expect(try client.notifications(AdapterChanged.self).map(\.deviceName) == ["other"])
    #expect(try name(in: world) == "other")
  }

  @Test("It needs the permission \"adapters\", and a name that fits")
  func refused() throws {
    let world = World()
    let error = try world.client(user: 1000).error(AdapterSetName.self, .init(name: "mine"))
    #expect(error?.data?.name == "notPermitted")
    for text in ["", String(repeating: "ä", count: 125)] {
      #expect(try world.client().error(AdapterSetName.self, .init(name: text))?.data?.name == "invalidParameter")
    }
    _ = try world.client().result(AdapterSetName.self, .init(name: String(repeating: "ä", count: 124)))
  }
}
