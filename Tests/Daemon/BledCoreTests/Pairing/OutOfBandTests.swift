import Adapter
import BledRPC
import Bluetooth
import Testing

@testable import BledCore

/// Pairing with out-of-band data.
@Suite struct OutOfBandTests {
  private let world = World()
  private let own = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)
  private let confirmation = [UInt8](repeating: 1, count: 16)
  private let random = [UInt8](repeating: 2, count: 16)
  private let key = [UInt8](repeating: 3, count: 16)

  private func madeData(hasKey: Bool = false) throws -> OutOfBandData {
    let secure = SecureOutOfBandData(confirmation: confirmation, random: random)
    return try #require(OutOfBandData(secure: secure, temporaryKey: hasKey ? key : nil))
  }

  private func bond(_ peer: DeviceAddress, isAuthenticated: Bool = true, isSecure: Bool = true) -> Bond {
    var bond = Bond(local: own, peer: peer)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 0, random: 0, isAuthenticated: isAuthenticated,
        isSecureConnections: isSecure, role: .peripheral))
    return bond
  }

  private func tell(_ peer: ScriptedPeer, _ event: PairingEvent) {
    world.adapter.onEvent?(.pairing(peer.address, event))
    world.settle()
  }

  private func params(_ peer: ScriptedPeer, hasData: Bool = true) -> PairingSetOutOfBand.Params {
    .init(
      address: "\(peer.address)", addressType: peer.address.kind,
      confirmation: hasData ? HexBytes(confirmation) : nil,
      random: hasData ? HexBytes(random) : nil)
  }

  @Test("a device with the data that a session read may pair without a question, until the session ends")
  func ownData() throws {
    let client = world.client()
    let peer = world.peer()
    let read = try client.call(PairingReadOutOfBand.self, .init())
    #expect(!world.adapter.pairing.acceptsDevices && world.adapter.outOfBandReads.count == 1)
    world.adapter.outOfBandReads[0](.success(try madeData(hasKey: true)))
    world.settle()
    let data = try #require(try client.answer(to: read, PairingReadOutOfBand.self)).get()
    #expect(data.address == "\(own)" && data.confirmation.octets == confirmation && data.random.octets == random)
    #expect(data.temporaryKey?.octets == key)
    #expect(world.adapter.pairing.acceptsDevices)
    // Without protection the data were not used: it is anybody's pairing.
    world.adapter.bringUp(peer, role: .peripheral)
    tell(peer, .bonded(bond(peer.address, isAuthenticated: false)))
    #expect(world.adapter.bonds == [])
    tell(peer, .bonded(bond(peer.address)))
    #expect(world.adapter.bonds == [bond(peer.address)])
    client.die()
    world.settle()
    #expect(!world.adapter.pairing.acceptsDevices)
    #expect(world.adapter.outOfBandReads.count == 2, "the data are void")
    let other = world.peer("01:02:03:04:05:06")
    world.adapter.bringUp(other, role: .peripheral)
    tell(other, .bonded(bond(other.address)))
    #expect(world.adapter.bonds == [bond(peer.address)])
  }

  @Test("the end of a session leaves the data alone that another one is about to get")
  func endDuringAnotherRead() throws {
    let (first, second) = (world.client(), world.client())
    let data = try madeData()
    _ = try first.call(PairingReadOutOfBand.self, .init())
    world.adapter.outOfBandReads[0](.success(data))
    world.settle()
    _ = try second.call(PairingReadOutOfBand.self, .init())
    first.die()
    world.settle()
    #expect(world.adapter.outOfBandReads.count == 2, "nothing replaces what the second one asked for")
    world.adapter.outOfBandReads[1](.success(data))
    world.settle()
    #expect(world.adapter.pairing.acceptsDevices)
    second.die()
    world.settle()
    #expect(world.adapter.outOfBandReads.count == 3 && !world.adapter.pairing.acceptsDevices)
  }

  @Test("a device whose data a session gave may pair, and no other, until the session takes them back or ends")
  func theirData() throws {
    let client = world.client()
    let (peer, other) = (world.peer(), world.peer("01:02:03:04:05:06"))
    _ = try client.result(PairingSetOutOfBand.self, params(peer))
    #expect(world.adapter.outOfBand.keys.elementsEqual([peer.address]) && world.adapter.pairing.acceptsDevices)
    for each in [peer, other] { world.adapter.bringUp(each, role: .peripheral) }
    tell(other, .bonded(bond(other.address)))
    #expect(world.adapter.bonds == [])
    tell(peer, .bonded(bond(peer.address)))
    #expect(world.adapter.bonds == [bond(peer.address)])
    _ = try client.result(PairingSetOutOfBand.self, params(peer, hasData: false))
    #expect(world.adapter.outOfBand.isEmpty && !world.adapter.pairing.acceptsDevices)
    _ = try client.result(PairingSetOutOfBand.self, params(other))
    client.die()
    world.settle()
    #expect(world.adapter.outOfBand.isEmpty)
  }

  @Test("legacy pairing without a question takes a temporary key, and not other data", arguments: [true, false])
  func legacy(_ hasKey: Bool) throws {
    let client = world.client()
    let peer = world.peer()
    var given = params(peer, hasData: !hasKey)
    if hasKey { given.temporaryKey = HexBytes(key) }
    _ = try client.result(PairingSetOutOfBand.self, given)
    #expect(world.adapter.outOfBand[peer.address]?.temporaryKey == (hasKey ? key : nil))
    world.adapter.bringUp(peer, role: .peripheral)
    let bond = bond(peer.address, isSecure: false)
    tell(peer, .bonded(bond))
    #expect(world.adapter.bonds == (hasKey ? [bond] : []))
  }

  @Test("data that the adapter refuses change nothing")
  func refusedByAdapter() throws {
    let client = world.client()
    let peer = world.peer()
    world.adapter.takesTemporaryKeys = false
    var given = params(peer)
    given.temporaryKey = HexBytes(key)
    #expect(try client.error(PairingSetOutOfBand.self, given)?.data?.name == "notSupported")
    #expect(world.adapter.outOfBand.isEmpty && !world.adapter.pairing.acceptsDevices)
    given.temporaryKey = nil
    _ = try client.result(PairingSetOutOfBand.self, given)
    #expect(world.adapter.outOfBand[peer.address]?.secure?.random == random)
  }

  @Test("a pairing with a question is decided by the answer")
  func asked() throws {
    let client = world.client()
    let peer = world.peer()
    _ = try client.result(PairingSetOutOfBand.self, params(peer))
    world.adapter.bringUp(peer, role: .peripheral)
    tell(peer, .question(.comparison(1)))
    #expect(world.adapter.answers == [.refuse])
    tell(peer, .bonded(bond(peer.address)))
    #expect(world.adapter.bonds == [])
  }

  @Test("values of another length, half of the data and bad addresses are refused")
  func refusals() throws {
    let client = world.client()
    let peer = world.peer()
    var cut = params(peer)
    cut.random = HexBytes([1])
    var half = params(peer)
    half.confirmation = nil
    var nowhere = params(peer)
    nowhere.address = "F0:F1"
    var cutKey = params(peer)
    cutKey.temporaryKey = HexBytes([1])
    var zeros = params(peer, hasData: false)
    zeros.temporaryKey = HexBytes([UInt8](repeating: 0, count: 16))
    for bad in [cut, half, nowhere, cutKey, zeros] {
      #expect(try client.error(PairingSetOutOfBand.self, bad)?.data?.name == "invalidParameter")
    }
    #expect(world.adapter.outOfBand.isEmpty)
  }
}
