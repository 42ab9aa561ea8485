import Adapter
import BledRPC
import Bluetooth
import TestSupport
import Testing

@testable import BledCore

/// Values that a device sends before a session has subscribed on the link.
@Suite struct EarlyValueTests: OneClientSuite {
  let world = World()
  let client: TestClient
  private let peer: ScriptedPeer
  private let handle: UInt16

  init() throws {
    client = world.client()
    peer = world.peer()
    peer.keys = LinkSecurity(level: 4, keySize: 16)
    try peer.furnish()
    handle = peer.handle(of: 0x2A37)
  }

  /// This machine has keys of the device.
  private func bond() throws {
    let key = PairingImport.LongTermKey(
      value: HexBytes(Array(repeating: 5, count: 16)), size: 16, diversifier: 0,
      random: HexBytes(Array(repeating: 0, count: 8)), authenticated: true, secureConnections: true, central: true)
    _ = try done(
      PairingImport.self,
      .init(
        adapterAddress: "\(world.adapter.information.address)", address: "\(peer.address)",
        addressType: peer.address.kind, longTermKeys: [key]), by: world.client(user: 0))
  }

  private func send(_ values: some Sequence<UInt8>) {
    for value in values { peer.notify(handle, [0, value]) }
    world.settle()
  }

  /// Subscribes; returns the values that were received with that.
  private func subscribe(by client: TestClient, _ id: String) throws -> [UInt8] {
    _ = try done(GATTDiscover.self, .init(peripheral: id), by: client)
    client.forget()
    _ = try done(GATTSubscribe.self, .init(peripheral: id, handle: handle), by: client)
    client.drain()
    #expect(
      client.messages.first.map { if case .success = $0.kind { true } else { false } } == true, "the answer first")
    return try client.notifications(GATTValue.self).compactMap(\.value.octets.last)
  }

  @Test("Those of a bonded device go to the first session that subscribes")
  func bonded() throws {
    try bond()
    let id = try world.connect(client, peer).peripheral
    send(1...3)
    #expect(try client.notifications(GATTValue.self).isEmpty)
    let other = world.client()
    try world.connect(other, peer)
    #expect(try subscribe(by: client, id) == [1, 2, 3])
    #expect(try subscribe(by: other, id) == [])
    send(4...4)
    #expect(try other.notifications(GATTValue.self).compactMap(\.value.octets.last) == [4])
  }

  @Test("The newest 32 are kept")
  func many() throws {
    try bond()
    let id = try world.connect(client, peer).peripheral
    send(1...40)
    #expect(try subscribe(by: client, id) == Array(9...40))
  }

  @Test("Five seconds after the beginning of the link none is kept")
  func late() throws {
    try bond()
    let id = try world.connect(client, peer).peripheral
    send(1...1)
    world.scheduler.advance(by: .seconds(5))
    send(2...2)
    #expect(try subscribe(by: client, id) == [])
  }

  @Test("Those that precede the encryption are dropped: another device may have sent them")
  func beforeEncryption() throws {
    try bond()
    peer.keys = nil
    let call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
    let link = world.adapter.bringUp(peer)
    world.scheduler.advance(by: .milliseconds(10))
    #expect(link.raises.count == 1)
    peer.notify(handle, [0, 1])
    world.scheduler.advance(by: .milliseconds(10))
    link.endRaise(LinkSecurity(level: 4, keySize: 16))
    peer.notify(handle, [0, 2])
    world.settle()
    let id = try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
    #expect(try subscribe(by: client, id) == [2])
  }

  @Test("Those of a device without a bond are dropped")
  func withoutBond() throws {
    let id = try world.connect(client, peer).peripheral
    send(1...1)
    #expect(try subscribe(by: client, id) == [])
  }
}
