import Adapter
import BledRPC
import Bluetooth
import GATT
import Testing

@testable import BledCore

/// Operations that a device refuses until the link is secured: they are set aside, and others continue.
@Suite struct SecuredOperationTests {
  private let world = World()
  private let first: TestClient
  private let second: TestClient
  private let peer: ScriptedPeer
  private let link: ScriptedLink
  private let id: String
  private var protected: UInt16 { peer.handle(of: 0x2A56) }
  private var open: UInt16 { peer.handle(of: 0x2A38) }

  init() throws {
    first = world.client()
    second = world.client()
    peer = world.peer()
    try peer.furnish()
    let params = PeripheralConnect.Params(address: "\(peer.address)", addressType: "random")
    let call = try first.call(PeripheralConnect.self, params)
    link = world.adapter.bringUp(peer)
    world.settle()
    id = try #require(try first.answer(to: call, PeripheralConnect.self)).get().peripheral
    try world.connect(second, peer)
    let place = peer.handle(of: 0x2A56)
    peer.refusing = { [0x0A, 0x12].contains($0[0]) && $0[1] == UInt8(place) ? 0x05 : nil }
  }

  private func read(_ handle: UInt16, by client: TestClient) throws -> Int {
    defer { world.settle() }
    return try client.call(GATTRead.self, .init(peripheral: id, handle: handle))
  }

  private func value(of read: Int, _ client: TestClient) throws -> Int? {
    try client.answer(to: read, GATTRead.self)?.get().value.octets.count
  }

  private func encrypt() {
    peer.refusing = { _ in nil }
    link.endRaise(LinkSecurity(level: 2, keySize: 16))
    world.settle()
  }

  @Test("While a device is being paired for one session, others read; then the refused read is asked again")
  func others() throws {
    let refused = try read(protected, by: first)
    let other = try read(open, by: second)
    #expect(try value(of: other, second) == 1)
    #expect(try value(of: refused, first) == nil && link.raises.count == 1)
    encrypt()
    #expect(try value(of: refused, first) == 512)
  }

  @Test("Later operations of the session stay behind it, but for reads and commands")
  func order() throws {
    let refused = try read(protected, by: first)
    let write = try first.call(
      GATTWrite.self, .init(peripheral: id, handle: open, value: HexBytes([1]), response: true))
    world.settle()
    #expect(try first.answer(to: write, GATTWrite.self) == nil)
    let another = try read(open, by: first)
    #expect(try value(of: another, first) == nil, "it is behind the write")
    encrypt()
    #expect(try value(of: refused, first) == 512 && value(of: another, first) == 1)
    #expect(try first.error(of: write, GATTWrite.self)?.data?.domain != nil)
  }

  @Test("Others that are refused meanwhile wait for the same pairing, and are not refused for it")
  func severalRefused() throws {
    let reads = [(try read(protected, by: first), first), (try read(protected, by: second), second)]
    let write = try second.call(
      GATTWrite.self, .init(peripheral: id, handle: protected, value: HexBytes([1])))
    world.settle()
    #expect(link.raises.count == 1)
    encrypt()
    for (read, client) in reads { #expect(try value(of: read, client) == 512) }
    _ = try #require(try second.answer(to: write, GATTWrite.self)).get()
    #expect(link.raises.isEmpty)
  }

  @Test("A failed pairing fails the read; another session's is asked, and paired for, by itself")
  func failure() throws {
    let refused = try read(protected, by: first)
    peer.refusing = { $0[0] == 0x0A ? 0x05 : nil }
    let other = try read(open, by: second)
    #expect(link.raises.count == 1)
    link.endRaise(nil, GAPError.pairingFailed.error("refused"))
    world.settle()
    #expect(try first.error(of: refused, GATTRead.self)?.data?.name == "insufficientAuthentication")
    #expect(try second.answer(to: other, GATTRead.self) == nil && link.raises.count == 1)
    encrypt()
    #expect(try value(of: other, second) == 1)
  }

  @Test("What is set aside ends with its session, and with the link")
  func ends() throws {
    _ = try read(protected, by: first)
    let other = try read(protected, by: second)
    first.die()
    world.settle()
    #expect(try second.answer(to: other, GATTRead.self) == nil)
    link.end(reason: 0x13)
    world.settle()
    #expect(try second.error(of: other, GATTRead.self)?.data?.name == "disconnected")
  }

  @Test("While the kernel takes no packets, nothing is asked: the 30 s of a request would run")
  func kernel() throws {
    _ = try read(protected, by: first)
    link.isWritable = false
    let count = peer.received.count
    let other = try read(open, by: second)
    world.scheduler.advance(by: .seconds(40))
    #expect(peer.received.count == count)
    link.isWritable = true
    world.settle()
    #expect(try value(of: other, second) == 1, "it does not wait for the pairing")
    encrypt()
  }

  @Test("Two of one session that are refused keep their order")
  func orderAside() throws {
    peer.refusing = { $0[0] == 0x0A ? 0x05 : nil }
    _ = try read(protected, by: first)
    _ = try read(open, by: first)
    peer.forget()
    encrypt()
    #expect(peer.received.filter { $0[0] == 0x0A }.map { UInt16($0[1]) } == [protected, open])
  }
}
