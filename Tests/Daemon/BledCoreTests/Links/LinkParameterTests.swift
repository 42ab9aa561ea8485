import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Requests of sessions for the parameters of links, and the events about them.
@Suite struct LinkParameterTests {
  private let world = World()

  private static func parameters(
    _ interval: ClosedRange<Double>, latency: Int = 0, timeout: Double = 4
  ) -> ConnectionParameters {
    ConnectionParameters(
      interval: .seconds(interval.lowerBound)...(.seconds(interval.upperBound)), latency: latency,
      supervisionTimeout: .seconds(timeout))
  }

  private var link: ScriptedLink? { world.daemon.links.links.first?.link as? ScriptedLink }

  private func connect(_ client: TestClient, _ wish: LinkWish? = nil) throws -> String {
    let call = try client.call(
      PeripheralConnect.self, .init(address: "C0:00:00:00:00:01", addressType: "random", parameters: wish))
    if !world.adapter.pendingConnections.isEmpty { world.adapter.bringUp(world.peer()) }
    world.settle()
    return try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
  }

  @Test("peripheral.parameters gives the known values, and the device's users are told of changes")
  func told() throws {
    let (user, other) = (world.client(), world.client())
    let id = try connect(user)
    var known = try other.result(PeripheralParameters.self, .init(peripheral: id))
    #expect(known.role == "central" && known.mtu == 247)
    #expect(known.interval == nil && known.txPHY == nil && known.txOctets == nil)
    user.forget()
    link?.change(
      to: LinkParameters(interval: .milliseconds(30), latency: 4, supervisionTimeout: .seconds(6)),
      LinkLayer(txPHY: .le2M, rxPHY: .le1M, txOctets: 251, rxOctets: 27))
    known.interval = 0.03
    known.latency = 4
    known.timeout = 6
    known.txPHY = "2M"
    known.rxPHY = "1M"
    known.txOctets = 251
    known.rxOctets = 27
    #expect(try user.notifications(PeripheralParametersChanged.self) == [known])
    #expect(try other.notifications(PeripheralParametersChanged.self).isEmpty)
    #expect(try other.result(PeripheralParameters.self, .init(peripheral: id)) == known)
    // No session wants other parameters: the device keeps those that it requested.
    #expect(link?.requested == [])
  }

  @Test("on a new link peripheral.parameters is answered when the PHY procedure has ended, or the link")
  func afterTheProcedure() throws {
    let client = world.client()
    for reason in [nil, 0x08] {
      let peer = world.peer()
      peer.phyDelay = .milliseconds(reason == nil ? 50 : 5000)
      let call = try client.call(PeripheralConnect.self, .init(address: "C0:00:00:00:00:01", addressType: "random"))
      world.adapter.bringUp(peer)
      world.scheduler.advance(by: .milliseconds(20))
      let id = try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
      let asked = try client.call(PeripheralParameters.self, .init(peripheral: id))
      world.scheduler.advance(by: .milliseconds(10))
      #expect(try client.answer(to: asked, PeripheralParameters.self) == nil)
      if let reason { link?.end(reason: reason) }
      world.scheduler.advance(by: .milliseconds(50))
      let answer = try #require(try client.answer(to: asked, PeripheralParameters.self))
      if reason == nil {
        #expect(try answer.get().txPHY == "2M")
        // At once from then on.
        #expect(try client.result(PeripheralParameters.self, .init(peripheral: id)).rxPHY == "2M")
        link?.end(reason: 0x13)
        world.settle()
      } else {
        #expect(throws: (any Error).self) { try answer.get() }
      }
    }
  }

  @Test("the protection of a link is told, and that it changed; once")
  func protection() throws {
    let user = world.client()
    let id = try connect(user)
    var known = try user.result(PeripheralParameters.self, .init(peripheral: id))
    #expect(known.security == nil && known.keySize == nil)
    user.forget()
    link?.protect(LinkSecurity(level: 3, keySize: 16))
    (known.security, known.keySize) = ("authenticated", 16)
    #expect(try user.notifications(PeripheralParametersChanged.self) == [known])
    user.forget()
    link?.protect(LinkSecurity(level: 3, keySize: 16))
    #expect(try user.notifications(PeripheralParametersChanged.self).isEmpty)
    #expect(try user.result(PeripheralParameters.self, .init(peripheral: id)) == known)
  }

  @Test("peripheral.parameters without a link, and for sessions that may not know of the device")
  func hidden() throws {
    let user = world.client(user: 1000)
    let id = try world.connect(user, world.peer()).peripheral
    let stranger = world.client(user: 1001, groups: [])
    #expect(try stranger.error(PeripheralParameters.self, .init(peripheral: id))?.data?.name == "notPermitted")
    _ = try user.result(PeripheralDisconnect.self, .init(peripheral: id))
    world.settle()
    #expect(try user.error(PeripheralParameters.self, .init(peripheral: id))?.data?.name == "notConnected")
    let error = try user.error(PeripheralSetParameters.self, .init(peripheral: id, parameters: .init(latency: 1)))
    #expect(error?.data?.name == "notConnected")
  }

  @Test("The parameters of peripheral.connect go into the pending connection, those of all sessions merged")
  func pending() throws {
    let (first, second) = (world.client(), world.client())
    let call = PeripheralConnect.Params(address: "C0:00:00:00:00:01", addressType: "random")
    var params = call
    _ = try first.call(PeripheralConnect.self, params)
    #expect(world.adapter.wantedParameters == LinkPace.quick)
    params.parameters = LinkWish(minimumInterval: 0.1, maximumInterval: 0.2, latency: 9, timeout: 8)
    _ = try first.call(PeripheralConnect.self, params)
    #expect(world.adapter.wantedParameters == Self.parameters(0.1...0.2, latency: 9, timeout: 8))
    params.parameters = LinkWish(minimumInterval: 0.03, maximumInterval: 0.3, latency: 2, timeout: 5)
    _ = try second.call(PeripheralConnect.self, params)
    #expect(world.adapter.wantedParameters == Self.parameters(0.03...0.2, latency: 2, timeout: 8))
    _ = try second.result(PeripheralDisconnect.self, .init(address: call.address))
    #expect(world.adapter.wantedParameters == Self.parameters(0.1...0.2, latency: 9, timeout: 8))
  }

  @Test("Wishes of several sessions are merged, and end with their use of the device")
  func merged() throws {
    let (first, second) = (world.client(), world.client())
    let id = try connect(first)
    _ = try connect(second)
    let slow = LinkWish(minimumInterval: 0.4, maximumInterval: 0.5, latency: 4, timeout: 20)
    let known = try first.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: slow))
    #expect(known.peripheral == id)
    let quick = LinkWish(minimumInterval: 0.0075, maximumInterval: 0.015)
    _ = try second.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: quick))
    let both = Self.parameters(0.0075...0.015, timeout: 20)
    #expect(link?.requested == [Self.parameters(0.4...0.5, latency: 4, timeout: 20), both])
    link?.change(to: LinkParameters(interval: .milliseconds(15), latency: 0, supervisionTimeout: .seconds(20)))
    // Parameters already in force are not requested.
    _ = try second.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: quick))
    #expect(link?.requested.count == 2)
    second.die()
    world.settle()
    #expect(link?.requested.last == Self.parameters(0.4...0.5, latency: 4, timeout: 20))
    // After the last request the link gets its default parameters.
    _ = try first.result(PeripheralSetParameters.self, .init(peripheral: id))
    #expect(link?.requested.last == ConnectionParameters())
  }

  @Test("A link that is lost and comes back has what its sessions want; one that is given up has not")
  func reconnected() throws {
    let client = world.client()
    var params = PeripheralConnect.Params(address: "C0:00:00:00:00:01", addressType: "random", reconnect: true)
    params.parameters = LinkWish(minimumInterval: 0.03, maximumInterval: 0.03)
    _ = try client.call(PeripheralConnect.self, params)
    world.adapter.bringUp(world.peer())
    world.settle()
    link?.end(reason: 0x08)
    world.settle()
    #expect(world.adapter.connectCalls == 2)
    #expect(world.adapter.wantedParameters == Self.parameters(0.03...0.03))
    _ = try client.result(PeripheralDisconnect.self, .init(address: params.address))
    _ = try client.call(PeripheralConnect.self, .init(address: params.address, addressType: "random"))
    #expect(world.adapter.wantedParameters == LinkPace.quick)
  }

  @Test("What a device asks for against the wishes is corrected three times")
  func corrected() throws {
    let client = world.client()
    _ = try connect(client, LinkWish(minimumInterval: 0.0075, maximumInterval: 0.015))
    let asked = try #require(link?.requested)
    #expect(asked == [Self.parameters(0.0075...0.015)])
    for _ in 0..<5 {
      link?.change(to: LinkParameters(interval: .milliseconds(500), latency: 0, supervisionTimeout: .seconds(6)))
      link?.change(to: LinkParameters(interval: .milliseconds(15), latency: 0, supervisionTimeout: .seconds(4)))
    }
    #expect(link?.requested.count == 4)
  }

  @Test("A link without wishes begins quickly, and goes on as others when nothing is discovered any more")
  func pace() throws {
    let client = world.client()
    let peer = world.peer()
    try peer.furnish()
    let (quick, usual) = (Self.inForce(0.015), Self.inForce(0.045))
    let id = try connect(client, peer, quick)
    #expect(world.adapter.wantedParameters == Self.parameters(0.015...0.015))
    world.scheduler.advance(by: .milliseconds(500))
    #expect(link?.requested == [])
    // Discovery takes longer than the quick phase of a link without it.
    peer.delay = .milliseconds(900)
    let discovery = try client.call(GATTDiscover.self, .init(peripheral: id))
    world.scheduler.advance(by: .milliseconds(1800))
    #expect(link?.requested == [])
    #expect(try client.answer(to: discovery, GATTDiscover.self) == nil)
    world.scheduler.advance(by: .seconds(28))
    #expect(link?.requested == [ConnectionParameters()])
    link?.change(to: usual)
    world.scheduler.advance(by: .seconds(60))
    #expect(try client.answer(to: discovery, GATTDiscover.self) != nil && link?.requested.count == 1)
  }

  @Test("… after 2 s without a discovery; not where a program or the device wants other parameters, nor beside many")
  func noPace() throws {
    let client = world.client()
    var id = try connect(client, world.peer(), Self.inForce(0.015))
    world.scheduler.advance(by: .seconds(2))
    #expect(link?.requested == [ConnectionParameters()])
    link?.end(reason: 0x13)
    world.settle()
    id = try connect(client, world.peer(), Self.inForce(0.015))
    link?.change(to: Self.inForce(0.1))
    world.scheduler.advance(by: .seconds(9))
    #expect(link?.requested == [], "the device asked for that")
    link?.end(reason: 0x13)
    world.settle()
    id = try connect(client, world.peer(), Self.inForce(0.015))
    let wish = LinkWish(minimumInterval: 0.0075, maximumInterval: 0.015)
    _ = try client.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: wish))
    world.scheduler.advance(by: .seconds(9))
    #expect(link?.requested == [] && link?.wish == Self.parameters(0.0075...0.015))
    for number in 2...4 {
      let address = "C0:00:00:00:00:0\(number)"
      _ = try client.call(PeripheralConnect.self, .init(address: address, addressType: "random"))
      #expect((world.adapter.wantedParameters == LinkPace.quick) == (number < 4))
      world.adapter.bringUp(world.peer(address))
      world.settle()
    }
  }

  @Test("Of many devices that are waited for at once the first three begin quickly, and go on so")
  func manyAtOnce() throws {
    let client = world.client()
    let addresses = (1...5).map { "C0:00:00:00:00:0\($0)" }
    for address in addresses {
      _ = try client.call(PeripheralConnect.self, .init(address: address, addressType: "random"))
    }
    for (index, address) in addresses.enumerated() {
      let link = world.adapter.bringUp(world.peer(address), Self.inForce(0.015))
      #expect(link.requested == (index < 3 ? [] : [ConnectionParameters()]))
    }
  }

  private static func inForce(_ interval: Double) -> LinkParameters {
    LinkParameters(interval: .seconds(interval), latency: 0, supervisionTimeout: .seconds(4))
  }

  private func connect(_ client: TestClient, _ peer: ScriptedPeer, _ parameters: LinkParameters) throws -> String {
    let call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    world.adapter.bringUp(peer, parameters)
    world.scheduler.advance(by: .milliseconds(10))
    return try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
  }

  @Test("A refusal is told as the controllers give it")
  func refused() throws {
    let client = world.client()
    let id = try connect(client)
    link?.refusal = GAPError.notSupported.error("they cannot")
    let error = try client.error(PeripheralSetParameters.self, .init(peripheral: id, parameters: .init(latency: 2)))
    #expect(error?.data?.name == "notSupported")
  }

  @Test("A short interval that a link cannot have is an error for those who want one, not for the others")
  func shortIntervals() throws {
    let (first, second) = (world.client(), world.client())
    let id = try connect(first)
    _ = try second.call(PeripheralConnect.self, .init(peripheral: id))
    world.settle()
    link?.refusal = GAPError.notSupported.error("the device does not have shorter connection intervals")
    let quick = LinkWish(minimumInterval: 0.001, maximumInterval: 0.002)
    let error = try first.error(PeripheralSetParameters.self, .init(peripheral: id, parameters: quick))
    #expect(error?.data?.name == "notSupported")
    link?.change(to: LinkParameters(interval: .microseconds(7500), latency: 0, supervisionTimeout: .seconds(4)))
    let slow = LinkWish(minimumInterval: 0.03, maximumInterval: 0.03)
    #expect(
      try second.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: slow)).interval == 0.0075)
    #expect(link?.requested.last?.interval == .milliseconds(1)...(.milliseconds(2)))
    #expect(try second.result(PeripheralSetParameters.self, .init(peripheral: id)).interval == 0.0075)
    // An own short interval is refused to it, too.
    let other = LinkWish(minimumInterval: 0.005, maximumInterval: 0.005)
    #expect(
      try second.error(PeripheralSetParameters.self, .init(peripheral: id, parameters: other))?.data?.name
        == "notSupported")
  }

  @Test(
    "What the specification forbids is refused with the rule",
    arguments: [
      (LinkWish(minimumInterval: 0.0003), "\"minimumInterval\" is 0.0003 s: it must be 0.000375 to 4.0 s"),
      (LinkWish(maximumInterval: 4.1), "\"maximumInterval\" is 4.1 s"),
      (LinkWish(minimumInterval: 0.05, maximumInterval: 0.03), "it must be at most \"maximumInterval\", 0.03 s"),
      (LinkWish(latency: 500), "0 to 499"), (LinkWish(latency: -1), "0 to 499"),
      (LinkWish(timeout: 0.05), "\"timeout\" is 0.05 s: it must be 0.1 to 32.0 s"),
      (LinkWish(timeout: 33), "\"timeout\" is 33.0 s"), (LinkWish(timeout: 1e300), "\"timeout\" is 1e+300 s"),
      (
        LinkWish(maximumInterval: 1, latency: 4, timeout: 10),
        "(1 + latency) × maximumInterval × 2, here 10.0 s, and at most 32 s: give a longer timeout"
      ),
      (LinkWish(maximumInterval: 4, latency: 4), "here 40.0 s, and at most 32 s: give a shorter interval"),
      (LinkWish(minimumSubrate: 0), "\"minimumSubrate\" is 0: it must be 1 to 500 connection events"),
      (LinkWish(maximumSubrate: 501), "\"maximumSubrate\" is 501"),
      (LinkWish(minimumSubrate: 5, maximumSubrate: 4), "it must be at most \"maximumSubrate\", 4"),
      (LinkWish(latency: 4, maximumSubrate: 101), "maximumSubrate × (1 + latency) is 505: it must be at most 500"),
      (LinkWish(maximumSubrate: 4, continuation: 4), "\"continuation\" is 4: it must be less than"),
      (LinkWish(continuation: 1), "it must be less than \"maximumSubrate\", 1"),
      (LinkWish(maximumSubrate: 9, continuation: -1), "\"continuation\" is -1: it must be 0 to 499"),
      (
        LinkWish(maximumInterval: 1, timeout: 8, maximumSubrate: 4),
        "(1 + latency) × maximumSubrate × maximumInterval × 2, here 8.0 s, and at most 32 s: give a longer timeout"
      ),
    ])
  func forbidden(wish: LinkWish, words: String) throws {
    let client = world.client()
    var connect = PeripheralConnect.Params(address: "C0:00:00:00:00:02", addressType: "random")
    connect.parameters = wish
    let refused = try #require(try client.error(PeripheralConnect.self, connect))
    #expect(refused.data?.name == "invalidParameter" && refused.message.contains(words), "\(refused.message)")
    #expect(world.adapter.pendingConnections.isEmpty)
    let id = try self.connect(client)
    let error = try client.error(PeripheralSetParameters.self, .init(peripheral: id, parameters: wish))
    #expect(error?.message == refused.message)
    #expect(link?.requested == [])
  }

  @Test("What a wish leaves out fits the rest")
  func defaults() throws {
    func parameters(_ wish: LinkWish) throws -> ConnectionParameters { try ConnectionParameters(wish) }
    #expect(try parameters(LinkWish()) == ConnectionParameters())
    #expect(try parameters(LinkWish(maximumInterval: 0.01)) == Self.parameters(0.01...0.01))
    #expect(try parameters(LinkWish(minimumInterval: 0.1)) == Self.parameters(0.1...0.1))
    #expect(try parameters(LinkWish(maximumInterval: 1, latency: 4)).supervisionTimeout == .milliseconds(10_100))
    // In the controllers' units.
    #expect(try parameters(LinkWish(maximumInterval: 0.0311)).interval.upperBound == .microseconds(31_250))
    let short = try parameters(LinkWish(minimumInterval: 0.0004, maximumInterval: 0.0074)).interval
    #expect(short == .microseconds(375)...(.microseconds(7375)))
  }

  @Test("A wish of setLatency and one of setParameters are one: the last counts")
  func latency() throws {
    let publisher = world.client()
    let service = ServiceToPublish(
      uuid: 0x180F, characteristics: [.init(uuid: 0x2A19, properties: ["read", "notify"], value: nil)])
    let added = try publisher.result(ServiceAdd.self, .init(service: service)).service
    let central = world.peer("C0:00:00:00:00:0C")
    world.adapter.bringUp(central, role: .peripheral)
    world.settle()
    _ = central.start(.read(try #require(added.characteristics?.first?.handle)))
    world.settle()
    let id = try #require(world.daemon.links.links.first).peripheral.id
    _ = try publisher.result(ServerSetLatency.self, .init(central: id, latency: .low))
    let wish = LinkWish(minimumInterval: 0.2, maximumInterval: 0.3)
    #expect(
      try publisher.result(PeripheralSetParameters.self, .init(peripheral: id, parameters: wish)).role == "peripheral")
    #expect(link?.requested == [Self.parameters(0.015...0.03, timeout: 5), Self.parameters(0.2...0.3)])
    publisher.forget()
    link?.change(to: LinkParameters(interval: .milliseconds(300), latency: 0, supervisionTimeout: .seconds(4)))
    #expect(try publisher.notifications(PeripheralParametersChanged.self).map(\.interval) == [0.3])
    // Without requests the device decides.
    _ = try publisher.result(PeripheralSetParameters.self, .init(peripheral: id))
    #expect(link?.requested.count == 2)
  }
}
