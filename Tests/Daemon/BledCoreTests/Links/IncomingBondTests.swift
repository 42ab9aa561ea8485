import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Bonded devices that connect to us: our client sends nothing before they have encrypted the link, and our server
/// continues (Core 5.4, Vol 3, Part C, 10.3.2 and 10.3.4).
@Suite struct IncomingBondTests {
  private let world = World()
  private let client: TestClient
  private let peer: ScriptedPeer
  private let open = LinkSecurity(level: 2, keySize: 16)

  init() throws {
    client = world.client()
    peer = world.peer()
    try peer.furnish()
    world.adapter.bringUp(peer, role: .peripheral).end(reason: 0x13)
    world.daemon.setPairing(PairingPolicy(standard: .justWorks))
    let link = world.adapter.bringUp(peer, role: .peripheral)
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(5))))
    link.end(reason: 0x13)
    world.daemon.setPairing(PairingPolicy())
    world.settle()
    #expect(world.adapter.bonds == [bond(5)])
    peer.forget()
  }

  private func bond(_ octet: UInt8) -> Bond {
    var bond = Bond(local: world.adapter.information.address, peer: peer.address)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: octet, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
        isSecureConnections: true, role: .central))
    return bond
  }

  private func connect(reconnect: Bool? = nil) throws -> Int {
    let call = try client.call(
      PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random", reconnect: reconnect))
    world.settle()
    return call
  }

  private func answer(_ call: Int) throws -> Result<PeripheralConnect.Result, RPCError>? {
    try client.answer(to: call, PeripheralConnect.self)
  }

  @Test("programs wait until the device has encrypted the link, which it is asked for; our server does not")
  func held() throws {
    let server = world.client()
    let service = try server.result(
      ServiceAdd.self,
      .init(
        service: .init(uuid: 0x180D, characteristics: [.init(uuid: 0x2A38, properties: ["read"], value: HexBytes([7]))])
      )
    ).service
    let handle = try #require(service.characteristics?[0].handle)
    let link = world.adapter.bringUp(peer, role: .peripheral)
    world.settle()
    #expect(link.raises.isEmpty, "nobody wants anything of the device")
    let call = try connect()
    #expect(link.raises.map(\.level) == [2] && peer.received.isEmpty)
    #expect(try answer(call) == nil)
    let read = peer.start(.read(handle))
    world.settle()
    guard case .success(.value([7])) = peer.results[read] else {
      Issue.record("our server gave \(String(describing: peer.results[read]))")
      return
    }
    peer.forget()
    link.endRaise(open)
    world.settle()
    #expect(peer.received.first?[0] == 0x02)
    #expect(try answer(call)?.get().mtu == 247)
  }

  @Test("a link that the device has encrypted is used at once")
  func encrypted() throws {
    let link = world.adapter.bringUp(peer, role: .peripheral)
    link.protect(open)
    let call = try connect()
    link.endRaise(nil)
    world.settle()
    #expect(try answer(call)?.get().mtu == 247)
  }

  @Test("a device that does not encrypt within 30 s need not have lost its keys: the call fails, the link goes on")
  func timeout() throws {
    let link = world.adapter.bringUp(peer, role: .peripheral)
    let call = try connect()
    world.scheduler.advance(by: .seconds(28))
    #expect(try answer(call) == nil)
    world.scheduler.advance(by: .seconds(2))
    let error = try #require(try client.error(of: call, PeripheralConnect.self))
    #expect(error.data?.name == "timeout")
    #expect(error.message.contains("\(peer.address) did not encrypt the link with the keys of its bond within 30 s"))
    #expect(try client.notifications(PairingKeysLost.self).isEmpty)
    #expect(peer.received.isEmpty && !link.wasDisconnected)
    // The outcome of that time says nothing about the next.
    let next = try connect()
    #expect(link.raises.count == 2)
    link.endRaise(nil)
    world.settle()
    #expect(try answer(next) == nil && peer.received.isEmpty)
    link.endRaise(open)
    world.settle()
    #expect(try answer(next)?.get().mtu == 247)
  }

  @Test("a failure that passes is told, and the link goes on", arguments: [0x23, 0x2A])
  func passing(_ code: Int) throws {
    let link = world.adapter.bringUp(peer, role: .peripheral)
    let call = try connect()
    link.endRaise(nil, BluetoothError(domain: .hci, code: code, name: "r", message: "r"))
    world.settle()
    #expect(try client.error(of: call, PeripheralConnect.self)?.data?.code == code)
    #expect(try client.notifications(PairingKeysLost.self).isEmpty)
    #expect(peer.received.isEmpty && !link.wasDisconnected)
  }

  @Test("keys that are not the bond's do not count, whatever the level")
  func otherKeys() throws {
    let link = world.adapter.bringUp(peer, role: .peripheral)
    let call = try connect()
    world.adapter.onEvent?(.pairing(peer.address, .encryptedOtherwise))
    link.endRaise(open)
    world.settle()
    #expect(try client.error(of: call, PeripheralConnect.self)?.message.contains("other keys than its bond's") == true)
    #expect(peer.received.isEmpty && !link.wasDisconnected)
  }

  @Test("a program that keeps its link waits on, and has it when the device encrypts")
  func persistence() throws {
    let link = world.adapter.bringUp(peer, role: .peripheral)
    let call = try connect(reconnect: true)
    link.endRaise(open)
    world.settle()
    let id = try #require(try answer(call)).get().peripheral
    link.end(reason: 0x08)
    world.settle()
    peer.forget()
    let next = world.adapter.bringUp(peer, role: .peripheral)
    world.scheduler.advance(by: .seconds(31))
    #expect(peer.received.isEmpty && !next.wasDisconnected && next.raises.count == 1)
    next.protect(open)
    world.settle()
    #expect(peer.received.isEmpty, "the adapter has not said that it is done")
    next.raises.last?.done(nil)
    world.settle()
    #expect(try client.notifications(PeripheralConnected.self).map(\.peripheral) == [id])
  }

  @Test("a device that forgot its bond and pairs anew, as an agent permits, is used", arguments: [true, false])
  func pairsAnew(_ isSlow: Bool) throws {
    let agent = world.client()
    _ = try agent.result(PairingRegister.self, .init(capability: "none"))
    let link = world.adapter.bringUp(peer, role: .peripheral)
    let call = try connect(reconnect: true)
    if isSlow { world.scheduler.advance(by: .seconds(31)) }
    world.adapter.onEvent?(.pairing(peer.address, .question(.consent)))
    world.settle()
    let question = try #require(try agent.calls(PairingConfirm.self).first)
    try agent.answer(question.id, PairingConfirm.Result(accept: true))
    world.settle()
    #expect(world.adapter.answers == [.accept] && peer.received.isEmpty)
    world.adapter.onEvent?(.pairing(peer.address, .encryptedOtherwise))
    link.protect(open)
    world.adapter.onEvent?(.pairing(peer.address, .bonded(bond(9))))
    world.settle()
    while !link.raises.isEmpty { link.endRaise(nil, GAPError.pairingFailed.error("another level was wanted")) }
    world.settle()
    #expect(world.adapter.bonds == [bond(9)])
    if isSlow {
      #expect(try client.error(of: call, PeripheralConnect.self) != nil && peer.received.isEmpty)
      let next = try connect()
      link.endRaise(nil)
      world.settle()
      #expect(try answer(next)?.get().mtu == 247)
    } else {
      #expect(try answer(call)?.get().mtu == 247)
    }
  }

  @Test("a call that is cancelled leaves the link to the device, and the next one waits for the same encryption")
  func cancelled() throws {
    let link = world.adapter.bringUp(peer, role: .peripheral)
    let call = try connect()
    _ = try client.result(PeripheralDisconnect.self, .init(address: "\(peer.address)", addressType: "random"))
    #expect(try client.error(of: call, PeripheralConnect.self)?.data?.name == "cancelled")
    let next = try connect()
    #expect(link.raises.count == 1 && !link.wasDisconnected)
    link.endRaise(open)
    world.settle()
    #expect(try answer(next)?.get().mtu == 247)
  }
}
