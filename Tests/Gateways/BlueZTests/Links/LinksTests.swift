import BledRPC
import Bluetooth
import Testing

@testable import BlueZ

/// Connect, and the objects and properties that follow (BlueZ, org.bluez.Device).
struct LinksTests: LinkScenes {
  let world: FacadeStage
  let device: LinkBehaviour

  init() throws { (world, device) = try Self.stage() }

  @Test func servicesAreResolvedOnceAndAfterTheirObjects() throws {
    #expect(world.succeeded(connect(Self.one)))
    #expect(changes("Connected") == [.boolean(true)])
    #expect(changes("ServicesResolved") == [.boolean(true)])
    let objects = world.bus.signals.lastIndex { $0.member == "InterfacesAdded" }
    let resolved = world.bus.signals.lastIndex {
      $0.path == FacadeStage.device && $0.member == "PropertiesChanged"
        && ManagedObjects.properties($0.arguments[1])["ServicesResolved"] != nil
    }
    #expect(try #require(objects) < #require(resolved))
    #expect(world.succeeded(connect(Self.other)))
    #expect(changes("ServicesResolved") == [.boolean(true)], "the other one finds them there")
    #expect(device.calls.count { $0 == GATTDiscover.name } == 1)
  }

  /// A device that does not list its services is disconnected, so that no program waits for it in vain.
  @Test func aDeviceThatDoesNotTellItsServices() throws {
    device.discovery = GAPError.timeout.error("no answer")
    #expect(world.succeeded(connect(Self.one)))
    #expect(changes("Connected") == [.boolean(true), .boolean(false)])
    #expect(changes("ServicesResolved").isEmpty)
    #expect(device.calls.last == PeripheralDisconnect.name)
  }

  @Test func aDeviceThatCannotBeReached() throws {
    device.connection = GAPError.timeout.error("it was not heard")
    #expect(world.error(connect(Self.one)) == .failed("le-connection-abort-by-local"))
    device.connection = GAPError.connectionLimitReached.error("no room")
    #expect(world.error(connect(Self.one)) == .failed("le-connection-busy"))
    #expect(changes("Connected").isEmpty)
  }

  /// The services that it has are known also when it advertises again.
  @Test func servicesThatAreNotAdvertised() throws {
    connect(Self.one)
    disconnect(Self.one)
    try world.hear(Self.one, -60, at: 1, services: [0x180F])
    #expect(try property("UUIDs") == .strings(["180d", "180f"].map { "0000\($0)-0000-1000-8000-00805f9b34fb" }))
  }

  /// A device that was not received has its object from the link on.
  @Test func aDeviceThatIsNamed() throws {
    func connect(_ options: [(String, BusValue)]) -> UInt64 {
      world.call(Self.other, .adapter, "ConnectDevice", [.options(options)])
    }
    let address = ("Address", BusValue.string("c0:de:00:00:00:02"))
    let random = ("AddressType", BusValue.string("random"))
    #expect(world.error(connect([random])) == .invalidArguments)
    #expect(world.error(connect([("Address", .string("nowhere")), random])) == .invalidArguments)
    #expect(world.error(connect([address, ("AddressType", .string("none"))])) == .invalidArguments)
    #expect(world.error(connect([address])) == .notSupported, "the type of the classic transport")
    #expect(world.error(connect([("Address", .string("C0:DE:00:00:00:01")), random])) == .alreadyExists)
    device.connection = GAPError.timeout.error("not heard")
    #expect(world.error(connect([address, random])) == .failed("le-connection-abort-by-local"))
    device.connection = nil
    device.linked = PeripheralConnect.Result(
      peripheral: "D2", address: "C0:DE:00:00:00:02", addressType: "random", adapter: "hci0", mtu: 65, attempts: 1)
    let path = "/org/bluez/hci0/dev_C0_DE_00_00_00_02"
    let number = connect([address, random])
    #expect(try world.bus.answers[number]?.get() == [.path(path)])
    #expect(world.succeeded(world.call(Self.other, .device, "Disconnect", [], at: path)))
  }

  @Test func aSecondConnectWhileTheFirstIsUnderWay() throws {
    var pending: [UInt64] = []
    for _ in 0..<2 { pending.append(world.begin(Self.one, .device, "Connect", at: FacadeStage.device)) }
    world.settle()
    #expect(world.succeeded(pending[0]))
    #expect(world.error(pending[1]) == .inProgress)
  }

  /// bled tries again when a link ends before it is usable. Programs see the link that Connect answers with.
  @Test func theFirstLinkOfACallEndsAtOnce() throws {
    let answer = world.daemon.answer
    world.daemon.answer = { [world] method, message, session in
      if method == PeripheralConnect.name {
        for isLinked in [true, false, true] {
          try? world.own().notify(
            PeripheralLinkChanged.self, PeripheralLinkChanged.Params(peripheral: "D1", linked: isLinked, name: nil))
        }
      }
      return answer(method, message, session)
    }
    let number = world.begin(Self.one, .device, "Connect", at: FacadeStage.device)
    while world.bus.answers[number] == nil, world.bus.deliver() || world.daemon.deliver() {
      world.clock.advance(by: .milliseconds(250))
      #expect(world.bus.answers[number] != nil || changes("Connected").isEmpty)
    }
    world.settle()
    #expect(changes("Connected") == [.boolean(true)])
  }
}
