import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// PHYs and packet lengths: the defaults of links, and the requests of sessions.
@Suite struct LinkPHYTests {
  private let world: World

  init() {
    world = World()
    world.adapter.information.phys = Set(PHY.allCases)
  }

  private var link: ScriptedLink? { world.daemon.links.links.first?.link as? ScriptedLink }

  private func connect(_ client: TestClient, phy: PHYChoice? = nil) throws -> String {
    let call = try client.call(
      PeripheralConnect.self, .init(address: "C0:00:00:00:00:01", addressType: "random", phy: phy))
    if !world.adapter.pendingConnections.isEmpty { world.adapter.bringUp(world.peer()) }
    world.settle()
    return try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
  }

  @Test("Every new link, of both directions, is given 2M and 251 octets")
  func defaults() throws {
    _ = try connect(world.client())
    #expect(link?.requestedPHYs == [LinkPHY(.le2M)])
    #expect(link?.requestedLengths == [251])
    let other = world.adapter.bringUp(world.peer("C0:00:00:00:00:0C"), role: .peripheral)
    #expect(other.requestedPHYs == [LinkPHY(.le2M)] && other.requestedLengths == [251])
  }

  @Test("The configuration can say no")
  func configuration() throws {
    var defaults = LinkDefaults()
    defaults.phy = .le1M
    defaults.longestPacket = 27
    world.daemon.setLinks(defaults)
    _ = try connect(world.client())
    #expect(link?.requestedPHYs == [] && link?.requestedLengths == [])
  }

  @Test("A connect call can say no, and can ask for another PHY, on which the device is looked for, too")
  func connectCall() throws {
    let client = world.client()
    let id = try connect(client, phy: "1M")
    #expect(world.adapter.wantedParameters?.phys == [.le1M])
    #expect(link?.requestedPHYs == [] && link?.requestedLengths == [251])
    _ = try connect(client, phy: "codedS8")
    #expect(link?.requestedPHYs == [LinkPHY(.leCoded, coding: .s8)])
    _ = try client.result(PeripheralDisconnect.self, .init(peripheral: id))
    world.settle()
    _ = try client.call(PeripheralConnect.self, .init(peripheral: id, phy: "coded"))
    #expect(world.adapter.wantedParameters?.phys == [.le1M, .leCoded])
    world.adapter.bringUp(world.peer())
    #expect(link?.requestedPHYs == [LinkPHY(.leCoded)])
  }

  @Test("A device that advertises on the coded PHY is looked for there")
  func longRange() throws {
    let address = try #require(DeviceAddress("C0:00:00:00:00:01", kind: .random))
    world.adapter.hear(
      AdvertisingReport(
        address: address, primaryPHY: .leCoded, secondaryPHY: .leCoded, rssi: -80, data: [], time: .zero))
    _ = try connect(world.client())
    #expect(world.adapter.wantedParameters?.phys == [.le1M, .leCoded])
  }

  @Test("peripheral.setPHY asks for each of the PHYs, and answers with what is in force")
  func setPHY() throws {
    let client = world.client()
    let id = try connect(client)
    link?.change(
      to: LinkParameters(interval: .milliseconds(30), latency: 0, supervisionTimeout: .seconds(4)),
      LinkLayer(txPHY: .leCoded, rxPHY: .leCoded, txOctets: 251, rxOctets: 251))
    for phy in PHYChoice.allCases {
      let known = try client.result(PeripheralSetPHY.self, .init(peripheral: id, phy: phy))
      #expect(known.txPHY == "coded" && known.txOctets == 251)
    }
    let coded = [LinkPHY(.leCoded), LinkPHY(.leCoded, coding: .s2), LinkPHY(.leCoded, coding: .s8)]
    #expect(link?.requestedPHYs == [LinkPHY(.le2M), LinkPHY(.le1M), LinkPHY(.le2M)] + coded)
    link?.refusal = GAPError.notSupported.error("the device does not have it")
    #expect(
      try client.error(PeripheralSetPHY.self, .init(peripheral: id, phy: "2M"))?.message
        == "the device does not have it")
    let stranger = world.client()
    #expect(
      try stranger.error(PeripheralSetPHY.self, .init(peripheral: id, phy: "2M"))?.data?.name == "notConnected")
  }

  @Test("What a controller lacks is said at once")
  func lacking() throws {
    world.adapter.information.phys = [.le1M]
    let client = world.client()
    let call = PeripheralConnect.Params(address: "C0:00:00:00:00:01", addressType: "random", phy: "2M")
    let words = "the controller of adapter hci0 does not have the"
    #expect(try client.error(PeripheralConnect.self, call)?.message == "\(words) 2M PHY")
    #expect(try client.error(ScanStart.self, .init(phys: ["1M", "coded"]))?.message == "\(words) coded PHY")
    #expect(world.adapter.scan == nil && world.adapter.pendingConnections.isEmpty)
    #expect(world.daemon.directory.all.allSatisfy { $0.references == 0 })
    for phys: [Word<PrimaryPHY>] in [["2M"], []] {
      #expect(try client.error(ScanStart.self, .init(phys: phys))?.data?.name == "invalidParameter")
    }
  }

  @Test("Scans listen on the PHYs of all sessions")
  func scan() throws {
    let (first, second) = (world.client(), world.client())
    _ = try first.result(ScanStart.self, .init(phys: ["coded"]))
    #expect(world.adapter.scan?.phys == [.leCoded])
    _ = try second.result(ScanStart.self, .init())
    #expect(world.adapter.scan?.phys == [.le1M, .leCoded])
    _ = try first.result(ScanStop.self, .init())
    #expect(world.adapter.scan?.phys == [.le1M])
  }
}
