import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Links to bonded devices: nothing of our client leaves before they are encrypted (Core 5.4, Vol 3, Part C, 10.3.2).
@Suite struct BondedLinkTests {
  private let world: World
  private let client: TestClient
  private let peer: ScriptedPeer

  init() throws {
    world = World()
    client = world.client()
    peer = world.peer()
    try peer.furnish()
  }

  /// Imports a bond with the device.
  private func bond(
    _ peer: ScriptedPeer, in world: World, isAuthenticated: Bool = false, isSecure: Bool = true, central: Bool = true
  ) throws {
    let key = PairingImport.LongTermKey(
      value: HexBytes([UInt8](repeating: 5, count: 16)), size: 16, diversifier: 0,
      random: HexBytes([UInt8](repeating: 0, count: 8)), authenticated: isAuthenticated, secureConnections: isSecure,
      central: central)
    let address = world.adapter.information.address
    let call = try world.client().call(
      PairingImport.self,
      .init(
        adapterAddress: "\(address)", address: "\(peer.address)", addressType: "random",
        longTermKeys: [key]))
    world.settle()
    #expect(world.adapter.bonds.count == 1, "call \(call)")
  }

  private func connect(_ client: TestClient? = nil, reconnect: Bool? = nil) throws -> (call: Int, link: ScriptedLink) {
    let call = try (client ?? self.client).call(
      PeripheralConnect.self,
      .init(address: "\(peer.address)", addressType: "random", reconnect: reconnect))
    let link = world.adapter.bringUp(peer)
    world.settle()
    return (call, link)
  }

  private func answer(_ call: Int) throws -> Result<PeripheralConnect.Result, RPCError>? {
    try client.answer(to: call, PeripheralConnect.self)
  }

  @Test("P22: encryption at the level of the bond comes first, then the MTU, then programs, PHY and packets")
  func order() throws {
    try bond(peer, in: world, isAuthenticated: true)
    let (call, link) = try connect()
    #expect(link.raises.map(\.level) == [4])
    #expect(peer.received.isEmpty && link.requestedPHYs.isEmpty && link.requestedLengths.isEmpty)
    #expect(try answer(call) == nil)
    let other = world.client()
    let second = try other.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    world.settle()
    #expect(peer.received.isEmpty && link.raises.count == 1)
    link.endRaise(LinkSecurity(level: 4, keySize: 16))
    world.settle()
    #expect(peer.received.first?[0] == 0x02)
    #expect(link.requestedPHYs.count == 1 && link.requestedLengths.count == 1)
    #expect(try answer(call)?.get().mtu == 247)
    #expect(try other.answer(to: second, PeripheralConnect.self)?.get().mtu == 247)
  }

  @Test("A link without bond is used at once, whoever began it; nothing is asked of its security")
  func others() throws {
    let (call, link) = try connect()
    #expect(try answer(call)?.get().mtu == 247 && link.raises.isEmpty)
    link.end(reason: 0x13)
    world.settle()
    let incoming = world.adapter.bringUp(peer, role: .peripheral)
    let next = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    world.settle()
    #expect(try answer(next)?.get().mtu == 247 && incoming.raises.isEmpty)
  }

  @Test("A bond without a key for our role encrypts nothing")
  func otherRole() throws {
    try bond(peer, in: world, isSecure: false, central: false)
    let (call, link) = try connect()
    #expect(try answer(call)?.get().mtu == 247 && link.raises.isEmpty)
  }

  @Test(
    "Keys that the device has lost end the link, and are told: no packet in plain text, no other attempt, no pairing",
    arguments: [0x05, 0x06, 0x1A, 0x3D])
  func lost(_ code: Int) throws {
    try bond(peer, in: world)
    let (call, link) = try connect()
    link.endRaise(nil, BluetoothError(domain: .hci, code: code, name: "r", message: "the reason"))
    world.settle()
    let error = try #require(try client.error(of: call, PeripheralConnect.self))
    #expect(error.data?.domain == "hci" && error.data?.code == 6 && error.data?.name == "pinOrKeyMissing")
    #expect(error.message.contains("remove the pairing on both sides, then pair again (the reason)"))
    #expect(try client.notifications(PairingKeysLost.self).map(\.side) == ["device"])
    #expect(peer.received.isEmpty && link.wasDisconnected && link.raises.isEmpty)
    #expect(world.adapter.pendingConnections.isEmpty)
    // The next link is like the first.
    let (next, again) = try connect()
    #expect(again.raises.count == 1 && peer.received.isEmpty)
    again.end(reason: code)
    world.settle()
    #expect(try client.error(of: next, PeripheralConnect.self)?.data?.name == "pinOrKeyMissing")
    #expect(try client.notifications(PairingKeysLost.self).count == 2)
    // Without the bond the device is a stranger.
    _ = try client.result(PairingForget.self, .init(address: "\(peer.address)"))
    let (last, plain) = try connect()
    #expect(try answer(last)?.get().mtu == 247 && plain.raises.isEmpty)
  }

  @Test("The adapter's event and the end of the link tell of lost keys once")
  func toldOnce() throws {
    try bond(peer, in: world)
    let (call, link) = try connect()
    world.adapter.onEvent?(.pairing(peer.address, .keysLost(theirs: true)))
    link.end(reason: 0x06)
    world.settle()
    #expect(try client.error(of: call, PeripheralConnect.self)?.data?.name == "pinOrKeyMissing")
    #expect(try client.notifications(PairingKeysLost.self).count == 1)
  }

  @Test("A failure that passes is tried again on another link", arguments: [0x08, 0x22, 0x23, 0x2A, 0x3E])
  func passing(_ code: Int) throws {
    try bond(peer, in: world)
    let (call, link) = try connect()
    if code == 0x08 || code == 0x3E {
      link.end(reason: code)
    } else {
      link.endRaise(nil, BluetoothError(domain: .hci, code: code, name: "r", message: "r"))
    }
    world.settle()
    #expect(try answer(call) == nil && world.adapter.pendingConnections == [peer.address])
    let next = world.adapter.bringUp(peer)
    world.settle()
    #expect(peer.received.isEmpty)
    next.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(try answer(call)?.get().mtu == 247)
    #expect(try client.notifications(PairingKeysLost.self).isEmpty)
  }

  @Test("The time-out of a call names the side and the cause of the last failure")
  func timeoutWords() throws {
    try bond(peer, in: world)
    let call = try client.call(
      PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random", timeout: 5))
    let link = world.adapter.bringUp(peer)
    world.settle()
    link.endRaise(nil, BluetoothError(domain: .hci, code: 0x2A, name: "r", message: "two procedures collided"))
    world.scheduler.advance(by: .seconds(5))
    let error = try #require(try client.error(of: call, PeripheralConnect.self))
    #expect(error.data?.name == "timeout")
    #expect(error.message.hasSuffix("within 5.0 s: the link ended: two procedures collided"), "\(error.message)")
  }

  @Test("A device that does not encrypt within 30 s is disconnected, and the call says why")
  func timeout() throws {
    try bond(peer, in: world)
    let (call, link) = try connect()
    world.scheduler.advance(by: .seconds(28))
    #expect(!link.wasDisconnected)
    world.scheduler.advance(by: .seconds(2))
    let error = try #require(try client.error(of: call, PeripheralConnect.self))
    #expect(error.data?.name == "timeout" && error.message.contains("did not encrypt the link"))
    #expect(link.wasDisconnected && peer.received.isEmpty && world.adapter.pendingConnections.isEmpty)
    #expect(try client.notifications(PairingKeysLost.self).isEmpty, "it may have them")
    // A late outcome changes nothing.
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(peer.received.isEmpty)
  }

  @Test("A call that is cancelled during encryption lets the link go")
  func cancelled() throws {
    try bond(peer, in: world)
    let (call, link) = try connect()
    _ = try client.result(PeripheralDisconnect.self, .init(address: "\(peer.address)", addressType: "random"))
    world.settle()
    #expect(try client.error(of: call, PeripheralConnect.self)?.data?.name == "cancelled")
    #expect(link.wasDisconnected)
    link.endRaise(nil, GAPError.disconnected.error("gone"))
    world.settle()
    #expect(peer.received.isEmpty && world.adapter.pendingConnections.isEmpty)
  }

  @Test("A program that keeps its link waits on, with pauses, until the device has its keys again")
  func persistence() throws {
    try bond(peer, in: world)
    let (call, first) = try connect(reconnect: true)
    first.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    let id = try #require(try answer(call)).get().peripheral
    first.end(reason: 0x08)
    world.settle()
    // Another device with its address.
    peer.forget()
    for _ in 0..<3 {
      world.adapter.bringUp(peer).endRaise(nil, GAPError.pairingFailed.error("do not share keys any more"))
      world.scheduler.advance(by: .seconds(31))
      #expect(world.adapter.pendingConnections == [peer.address])
    }
    let calls = world.adapter.connectCalls
    world.adapter.bringUp(peer).endRaise(nil, GAPError.pairingFailed.error("do not share keys any more"))
    world.scheduler.advance(by: .milliseconds(400))
    #expect(world.adapter.connectCalls == calls, "it pauses")
    world.scheduler.advance(by: .seconds(31))
    #expect(try client.notifications(PairingKeysLost.self).count == 4 && peer.received.isEmpty)
    let last = world.adapter.bringUp(peer)
    last.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(try client.notifications(PeripheralConnected.self).map(\.peripheral) == [id])
  }

  @Test("An adapter that is switched off during encryption ends nothing else")
  func powerOff() throws {
    try bond(peer, in: world)
    let (call, link) = try connect()
    world.adapter.change(to: .off)
    link.endRaise(nil, GAPError.disconnected.error("off"))
    world.scheduler.advance(by: .seconds(31))
    #expect(try answer(call) == nil)
    world.adapter.change(to: .on)
    let next = world.adapter.bringUp(peer)
    next.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(try answer(call)?.get().mtu == 247)
  }

  @Test("Requests of our own wait, too: a preserved session's subscriptions, what belongs to the bond")
  func ownRequests() throws {
    world.adapter.resolved = [peer.address]
    try bond(peer, in: world)
    let (_, link) = try connect()
    link.protect(LinkSecurity(level: 2, keySize: 16))
    world.settle()
    #expect(peer.received.isEmpty, "the adapter has not said that it is done")
    link.endRaise(nil)
    world.settle()
    #expect(peer.received.map { $0[0] }.first == 0x02)
    #expect(peer.received.contains { $0[0] == 0x08 && $0.suffix(2) == [0xA6, 0x2A] })
  }

  // MARK: Exchange MTU

  @Test(
    "A device that hangs up at Exchange MTU is used without it after the second link, one that is lost after the third",
    arguments: [(0x13, 2, 0), (0x14, 2, 25), (0x15, 2, 0), (0x08, 3, 5)])
  func hangsUp(_ reason: Int, _ links: Int, _ seconds: Int) throws {
    peer.isMute = true
    let call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    for _ in 0..<links {
      let link = world.adapter.bringUp(peer)
      world.scheduler.advance(by: .seconds(seconds) + .milliseconds(2))
      #expect(peer.received.last?[0] == 0x02)
      link.end(reason: reason)
      world.settle()
    }
    peer.forget()
    peer.isMute = false
    world.adapter.bringUp(peer)
    world.settle()
    #expect(try answer(call)?.get().mtu == 23)
    #expect(!peer.received.contains { $0[0] == 0x02 })
  }

  @Test("A device that is not asked for its MTU is connected before it was heard: a link without it is an attempt")
  func neverThere() throws {
    peer.isMute = true
    var call = try client.call(
      PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random", reconnect: true))
    for _ in 0..<2 {
      let link = world.adapter.bringUp(peer)
      world.scheduler.advance(by: .milliseconds(2))
      link.end(reason: 0x13)
      world.settle()
    }
    #expect(try answer(call) == nil)
    var link = world.adapter.bringUp(peer)
    world.settle()
    #expect(try answer(call)?.get().mtu == 23)
    client.forget()
    for _ in 1...5 {
      link.end(reason: 0x3E)
      world.scheduler.advance(by: .milliseconds(1100))
      #expect(world.adapter.pendingConnections == [peer.address], "after a second at most")
      link = world.adapter.bringUp(peer)
      world.settle()
    }
    call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    #expect(try answer(call)?.get().attempts == 6)
    let reasons = try client.notifications(PeripheralDisconnected.self).map(\.reason?.data?.code)
    #expect(reasons == [Int?](repeating: 0x3E, count: 5))
  }

  @Test("A link that is lost by chance, or that we end, does not speak against the exchange")
  func lostByChance() throws {
    peer.isMute = true
    var call = 0
    for (number, reason) in [0x13, 0x16, 0x3E, 0x13, 0x13].enumerated() {
      call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
      // The exchange succeeds between two of them.
      peer.isMute = number != 3
      let link = world.adapter.bringUp(peer)
      world.settle()
      link.end(reason: reason)
      world.settle()
    }
    peer.isMute = false
    world.adapter.bringUp(peer)
    world.settle()
    #expect(try answer(call)?.get().mtu == 247)
  }
}
