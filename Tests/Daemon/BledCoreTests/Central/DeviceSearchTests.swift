import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Connecting to a device by its name or by a service: it is searched for until it is received.
@Suite struct DeviceSearchTests {
  private let world = World()
  private let client: TestClient
  private let peer: ScriptedPeer

  init() throws {
    client = world.client()
    peer = world.peer()
    try peer.furnish()
  }

  private func hear(_ name: String, services: [UInt8] = [], at address: DeviceAddress? = nil) {
    world.adapter.hear(address ?? peer.address, services + [UInt8(name.utf8.count + 1), 0x09] + Array(name.utf8))
  }

  /// Connects, with the peer at the other end as soon as it is wanted.
  private func finish(_ call: Int) throws -> PeripheralConnect.Result {
    #expect(world.adapter.pendingConnections == [peer.address])
    world.adapter.bringUp(peer)
    world.settle()
    return try #require(try client.answer(to: call, PeripheralConnect.self)).get()
  }

  @Test("By name: the adapter looks until the device is heard, and the answer says which one it is")
  func byName() throws {
    let call = try client.call(PeripheralConnect.self, .init(name: "Belt", timeout: 10))
    #expect(world.adapter.scan == ScanParameters(isActive: true))
    hear("Belt 2", at: DeviceAddress("C0:00:00:00:00:09", kind: .random))
    hear("belt", at: DeviceAddress("C0:00:00:00:00:0A", kind: .random))
    #expect(world.adapter.pendingConnections.isEmpty)
    #expect(try client.result(SessionList.self, .init()).sessions.first?.searching?.map(\.name) == ["Belt"])
    hear("Belt")
    #expect(world.adapter.scan == nil, "it was found")
    let link = try finish(call)
    #expect(link.address == "\(peer.address)" && !link.peripheral.isEmpty)
    let read = try client.call(
      GATTRead.self, .init(peripheral: link.peripheral, attribute: .characteristic(0x2A38)))
    world.settle()
    #expect(try client.answer(to: read, GATTRead.self)?.get().value.octets == [1])
  }

  @Test("What the call wants of the link is asked for when the device is found")
  func wishes() throws {
    world.adapter.information.phys = Set(PHY.allCases)
    let wish = LinkWish(minimumInterval: 0.05, maximumInterval: 0.1)
    let call = try client.call(PeripheralConnect.self, .init(name: "Belt", parameters: wish, phy: "codedS8"))
    hear("Belt")
    let link = try finish(call)
    let linked = world.daemon.links.links.first?.link as? ScriptedLink
    #expect(linked?.requestedPHYs == [LinkPHY(.leCoded, coding: .s8)])
    let connection = world.daemon.central.inOrder.first { $0.peripheral.id == link.peripheral }
    #expect(connection?.wishes.map(\.wish) == [wish])
  }

  @Test("By the beginning of the name, by service, and by both")
  func otherCriteria() throws {
    for params in [
      PeripheralConnect.Params(namePrefix: "Be"), .init(service: 0x180D), .init(namePrefix: "Be", service: 0x180D),
    ] {
      let call = try client.call(PeripheralConnect.self, params)
      hear("Other", services: [3, 0x03, 0x0F, 0x18], at: DeviceAddress("C0:00:00:00:00:09", kind: .random))
      hear("Belt", services: [3, 0x03, 0x0D, 0x18])
      let link = try finish(call)
      #expect(link.address == peer.address.description)
      _ = try client.result(PeripheralDisconnect.self, .init(peripheral: link.peripheral))
      world.settle()
    }
  }

  @Test("A name in the scan response counts; a device that cannot be connected to does not")
  func reports() throws {
    let call = try client.call(PeripheralConnect.self, .init(name: "Belt"))
    let name = [5, 0x09] + Array("Belt".utf8)
    world.adapter.hear(
      AdvertisingReport(
        address: peer.address, isConnectable: false, rssi: -50, data: name, time: world.scheduler.now))
    #expect(world.adapter.pendingConnections.isEmpty)
    world.adapter.hear(peer.address, [2, 1, 6], isScannable: true)
    world.adapter.hear(peer.address, name, isScanResponse: true)
    _ = try finish(call)
  }

  @Test("A link that is up is shared without a search")
  func shared() throws {
    let other = world.client()
    hear("Belt")
    let link = try world.connect(other, peer)
    let scans = world.adapter.scans.count
    let call = try client.call(PeripheralConnect.self, .init(name: "Belt"))
    world.settle()
    #expect(try client.answer(to: call, PeripheralConnect.self)?.get().peripheral == link.peripheral)
    #expect(world.adapter.scans.count == scans)
  }

  @Test("The time is that of the search and of the connection together")
  func timeout() throws {
    let unheard = try client.call(PeripheralConnect.self, .init(name: "Belt", timeout: 5))
    world.scheduler.advance(by: .seconds(4))
    #expect(try client.answer(to: unheard, PeripheralConnect.self) == nil)
    world.scheduler.advance(by: .seconds(2))
    let error = try #require(try client.error(of: unheard, PeripheralConnect.self))
    #expect(error.data?.name == "timeout" && error.message.contains("\"Belt\""))
    #expect(world.adapter.scan == nil)
    let unlinked = try client.call(PeripheralConnect.self, .init(name: "Belt", timeout: 5))
    world.scheduler.advance(by: .seconds(4))
    hear("Belt")
    #expect(world.adapter.pendingConnections == [peer.address])
    world.scheduler.advance(by: .seconds(2))
    #expect(try client.error(of: unlinked, PeripheralConnect.self)?.data?.name == "timeout")
    #expect(world.adapter.pendingConnections.isEmpty)
  }

  @Test("peripheral.disconnect with the same words cancels, before and after the device is heard")
  func cancelled() throws {
    for isHeard in [false, true] {
      let call = try client.call(PeripheralConnect.self, .init(name: "Belt"))
      if isHeard { hear("Belt") }
      #expect(try client.error(PeripheralDisconnect.self, .init(name: "Bel"))?.data?.name == "notConnected")
      _ = try client.result(PeripheralDisconnect.self, .init(name: "Belt"))
      #expect(try client.error(of: call, PeripheralConnect.self)?.data?.name == "cancelled")
      #expect(world.adapter.scan == nil && world.adapter.pendingConnections.isEmpty)
    }
  }

  @Test("A search ends with its session, and with the program of a preserved one")
  func ends() throws {
    for restore in [nil, "logger"] as [String?] {
      let other = world.client(user: 1000)
      if restore != nil { _ = try other.result(SessionOpen.self, .init(restore: restore)) }
      _ = try other.call(PeripheralConnect.self, .init(name: "Belt"))
      #expect(world.adapter.scan != nil)
      other.die()
      #expect(world.adapter.scan == nil)
      hear("Belt")
      #expect(world.adapter.pendingConnections.isEmpty)
    }
  }

  @Test("What cannot be looked for is refused with what would do")
  func refused() throws {
    func refusal(_ params: PeripheralConnect.Params, by client: TestClient? = nil) throws -> RPCError {
      try #require(try (client ?? self.client).error(PeripheralConnect.self, params))
    }
    #expect(try refusal(.init(name: "A", namePrefix: "B")).message.contains("either"))
    #expect(try refusal(.init(address: "C0:00:00:00:00:01", name: "A")).message.contains("leave out"))
    #expect(try refusal(.init(name: "")).message.contains("1 to 248"))
    #expect(try refusal(.init(namePrefix: String(repeating: "x", count: 249))).message.contains("1 to 248"))
    #expect(try refusal(.init()).message.contains("\"service\""))
    var policy = Configuration.Policy()
    policy.grants = [.connect: [.everyone]]
    let restricted = World(policy: World.policy(policy))
    let error = try #require(
      try restricted.client(user: 1000).error(PeripheralConnect.self, .init(name: "Belt")))
    #expect(error.data?.name == "notPermitted" && error.message.contains("scan"))
    _ = try client.result(SessionOpen.self, .init(background: true))
    #expect(try refusal(.init(name: "Belt")).message.contains("\"service\""))
    _ = try client.call(PeripheralConnect.self, .init(service: 0x180D))
    #expect(world.adapter.scan?.window == .milliseconds(128))
    world.adapter.change(to: .off)
    #expect(try refusal(.init(service: 0x180D)).data?.name == "adapterOff")
    world.adapter.change(to: .on)
    hear("Belt", services: [3, 0x03, 0x0D, 0x18])
    #expect(world.adapter.pendingConnections == [peer.address], "the search waited for the adapter")
  }

  @Test("Searches count as pending connections")
  func limits() throws {
    var limits = Limits()
    limits.perSession[.connects] = 2
    let world = World(limits: limits)
    let client = world.client(user: 1000)
    for name in ["A", "B"] { _ = try client.call(PeripheralConnect.self, .init(name: name)) }
    #expect(try client.error(PeripheralConnect.self, .init(name: "C"))?.data?.name == "limitReached")
    #expect(
      try client.error(PeripheralConnect.self, .init(address: "C0:00:00:00:00:01"))?.data?.name == "limitReached")
  }
}
