import Adapter
import BledRPC
import Bluetooth
import BluetoothCrypto
import GATT
import Testing

@testable import BledCore

/// Signed writes to devices: G5, P13.
@Suite struct SignedWriteTests {
  fileprivate static let key = [UInt8](repeating: 9, count: 16)
  private let scheduler = VirtualScheduler()
  private let storage: MemoryStorage

  init() { storage = MemoryStorage(scheduler: scheduler) }

  /// A daemon on the store of the previous one, and a device that accepts signed writes.
  private struct Given: OneClientSuite {
    let world: World
    let client: TestClient
    let peer: ScriptedPeer
    private(set) var id = ""
    private var link: ScriptedLink?

    init(_ world: World, _ peer: ScriptedPeer) throws {
      (self.world, client, self.peer) = (world, world.client(), peer)
      try connect()
    }

    /// Connects, without encryption.
    mutating func connect() throws {
      link?.end(reason: 0x13)
      world.settle()
      let call = try client.call(PeripheralConnect.self, .init(address: "\(peer.address)", addressType: "random"))
      link = world.adapter.bringUp(peer)
      world.settle()
      id = try #require(try client.answer(to: call, PeripheralConnect.self)).get().peripheral
    }

    /// Pairs on this link. The keys encrypt no link that we begin, so that later ones are not encrypted.
    func pair(key: [UInt8] = SignedWriteTests.key) {
      var bond = Bond(local: DeviceAddress(value: 0x00AA_0100_0000, kind: .public), peer: peer.address)
      bond.add(
        LongTermKey(
          value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: false,
          isSecureConnections: false, role: .peripheral))
      bond.add(SignatureKey(value: key, isOurs: true, isAuthenticated: false))
      world.daemon.setPairing(PairingPolicy(standard: .justWorks))
      world.adapter.onEvent?(.pairing(peer.address, .question(.consent)))
      link?.protect(LinkSecurity(level: 2, keySize: 16))
      world.adapter.onEvent?(.pairing(peer.address, .bonded(bond)))
      world.scheduler.advance(by: .seconds(2))
    }

    func write(_ value: [UInt8], to uuid: BluetoothUUID = 0xFFF1) -> GATTWrite.Params {
      .init(peripheral: id, attribute: .characteristic(uuid), value: HexBytes(value), signed: true)
    }

    /// The received Signed Write Commands.
    var signed: [[UInt8]] { peer.received.filter { $0[0] == 0xD2 } }

    func counters(key: [UInt8] = SignedWriteTests.key) throws -> [UInt32?] {
      let key = try #require(Key128(littleEndian: key))
      return signed.map { ATTSignature.verify($0, key: key) }
    }
  }

  private func given() throws -> Given {
    let world = World(scheduler: scheduler, storage: storage)
    let peer = world.peer()
    _ = try peer.database.add(
      ServiceDefinition(
        uuid: 0xFFF0,
        characteristics: [
          .init(uuid: 0xFFF1, properties: [.read, .authenticatedSignedWrites], value: .stored([0])),
          .init(uuid: 0xFFF2, properties: [.read, .write], value: .stored([0])),
        ]))
    return try Given(world, peer)
  }

  @Test("Without a bond it is refused, with what to do")
  func noBond() throws {
    let given = try given()
    let error = try given.refusal(GATTWrite.self, given.write([1]))
    #expect(error.data?.name == "notPermitted" && error.message.contains("peripheral.pair"))
    #expect(given.signed.isEmpty)
  }

  @Test("A value is signed with our key and a counter that rises, also over a restart and a crash")
  func counters() throws {
    var given = try given()
    given.pair()
    try given.connect()
    for value in 0..<3 { _ = try given.done(GATTWrite.self, given.write([UInt8(value)])) }
    #expect(try given.counters() == [0, 1, 2])
    #expect(given.signed.map { $0[3] } == [0, 1, 2])
    // No counter used since the last write of the file is reused, whether or not the daemon ended in order.
    let next = try self.given()
    scheduler.advance(by: .seconds(2))
    _ = try next.done(GATTWrite.self, next.write([3]))
    #expect(try next.counters() == [BondedClients.block])
  }

  @Test("On an encrypted link it is a write without response")
  func encrypted() throws {
    let given = try given()
    given.pair()
    _ = try given.done(GATTWrite.self, given.write([7]))
    #expect(given.signed.isEmpty)
    #expect(given.peer.received.last?.first == 0x52 && given.peer.received.last?.last == 7)
  }

  @Test("Counters go on while blocks are stored, and none is used that could not be")
  func blocks() throws {
    var given = try given()
    given.pair()
    try given.connect()
    let handle = AttributePath.handle(given.peer.handle(of: 0xFFF1))
    let params = GATTWrite.Params(peripheral: given.id, attribute: handle, value: HexBytes([1]), signed: true)
    for _ in 0..<BondedClients.block + 10 { _ = try given.done(GATTWrite.self, params) }
    #expect(try given.counters() == (0..<BondedClients.block + 10).map { $0 })
    storage.problem = .refused(path: "/x", call: "write", code: 28, reason: "No space left on device")
    for _ in 0..<2 * BondedClients.block where try given.client.error(GATTWrite.self, params) == nil {
      given.world.settle()
    }
    let error = try given.refusal(GATTWrite.self, params)
    #expect(error.data?.name == "pairingFailed" && error.message.contains("could not be stored"))
  }

  @Test("Another key begins anew; its property, length and the other members are checked")
  func limits() throws {
    var given = try given()
    given.pair()
    try given.connect()
    _ = try given.done(GATTWrite.self, given.write([1]))
    given.pair(key: [UInt8](repeating: 8, count: 16))
    try given.connect()
    _ = try given.done(GATTWrite.self, given.write([2]))
    #expect(try given.counters(key: [UInt8](repeating: 8, count: 16)) == [nil, 0])
    let other = try given.refusal(GATTWrite.self, given.write([1], to: 0xFFF2))
    #expect(other.data?.name == "notAllowedByProperties" && other.message.contains("signature"))
    let long = try given.refusal(GATTWrite.self, given.write([UInt8](repeating: 1, count: 233)))
    #expect(long.message.contains("232"))
    var odd = given.write([1])
    odd.response = true
    #expect(try given.refusal(GATTWrite.self, odd).data?.name == "invalidParameter")
    odd = given.write([1])
    odd.offset = 1
    #expect(try given.refusal(GATTWrite.self, odd).data?.name == "invalidParameter")
  }
}
