import Adapter
import Bluetooth
import HCI
import Testing

@testable import KernelAdapter

/// The kernel's events are written as it sends them: event, index, length, parameters.
@Suite("The keys of pairings")
struct KeyMachineTests {
  private let local = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)
  private let identity = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
  private let resolvable = DeviceAddress(value: 0x4A11_2233_4455, kind: .random)
  private let nonResolvable = DeviceAddress(value: 0x0A11_2233_4455, kind: .random)

  private func machine(_ links: (UInt16, DeviceAddress)...) -> KeyMachine {
    var machine = KeyMachine()
    machine.local = local
    for (handle, peer) in links { machine.linkBegan(handle, peer, identity: peer) }
    return machine
  }

  private func event(_ code: String, _ parameters: String) throws -> ManagementEvent {
    let octets = try #require(Hex.decode(parameters.filter { $0 != " " }))
    let header = try #require(Hex.decode("\(code)0000")) + [UInt8(octets.count), 0]
    return try ManagementEvent(decoding: ManagementPacket(decoding: header + octets))
  }

  /// New Long Term Key of the identity. Types: 0 and 1 legacy, 2 and 3 Secure Connections, 4 debug; odd ones are
  /// authenticated.
  private func encryption(_ octet: String, type: Int = 2, central: Bool = false, stored: Bool = true) throws
    -> ManagementEvent
  {
    let value = String(repeating: octet, count: 16)
    return try event(
      "0a00",
      "\(stored ? "01" : "00") 01000000dec0 02 0\(type) \(central ? "01" : "00") 10 0000 0000000000000000 \(value)")
  }

  /// New Identity Resolving Key of the identity, which used this address.
  private func resolving(_ octet: String, used: String = "000000000000") throws -> ManagementEvent {
    try event("1800", "01 \(used) 01000000dec0 02" + String(repeating: octet, count: 16))
  }

  /// New Signature Resolving Key of the identity: 0 ours, 1 the device's.
  private func signature(_ octet: String, type: Int = 1) throws -> ManagementEvent {
    try event("1900", "01 01000000dec0 02 0\(type)" + String(repeating: octet, count: 16))
  }

  private func bonded(_ actions: [KeyMachine.Action], location: SourceLocation = #_sourceLocation) throws -> Bond {
    let bond: Bond? = if case .tell(_, .bonded(let bond)) = actions.last { bond } else { nil }
    return try #require(bond, sourceLocation: location)
  }

  private func octets(_ value: UInt8) -> [UInt8] { [UInt8](repeating: value, count: 16) }

  @Test("A bond is told with the key for encryption, with all that came before it, under the address that users know")
  func wholeBond() throws {
    var machine = machine((0x40, resolvable))
    #expect(machine.take(try resolving("cd", used: "55443322114a")).isEmpty)
    #expect(machine.take(try signature("ee")).isEmpty)
    #expect(machine.bonds.isEmpty && machine.known(identity) == resolvable)
    let actions = machine.take(try encryption("ab"))
    let bond = try bonded(actions)
    #expect(actions == [.tell(resolvable, .bonded(bond))])
    #expect(bond.local == local && bond.peer == identity && bond.identityResolvingKey == octets(0xCD))
    #expect(bond.longTermKeys.map(\.value) == [octets(0xAB)] && bond.signatureKeys.map(\.value) == [octets(0xEE)])
    #expect(machine.bond(with: resolvable) == bond && machine.identity(on: 0x40) == identity)
  }

  @Test("Legacy pairing gives a key for each role; both are of one bond")
  func bothRoles() throws {
    var machine = machine((0x40, identity))
    _ = machine.take(try resolving("cd"))
    _ = machine.take(try encryption("a1", type: 0, central: true))
    let bond = try bonded(machine.take(try encryption("a2", type: 0)))
    #expect(Set(bond.longTermKeys.map(\.role)) == [.central, .peripheral] && bond.identityResolvingKey == octets(0xCD))
    #expect(machine.bonds == [bond])
  }

  @Test("Keys of a new pairing replace the whole bond: nothing of the earlier one stays")
  func replaced() throws {
    var machine = machine((0x40, identity))
    _ = machine.take(try signature("ee"))
    _ = machine.take(try encryption("ab"))
    _ = machine.take(try resolving("cd"))
    let bond = try bonded(machine.take(try encryption("ac")))
    #expect(bond.signatureKeys.isEmpty && bond.longTermKeys.map(\.value) == [octets(0xAC)])
    #expect(machine.bonds == [bond])
  }

  @Test("A key that is not to be stored makes no bond")
  func notStored() throws {
    var machine = machine((0x40, identity))
    #expect(machine.take(try encryption("ab", stored: false)) == [.tell(identity, .pairedWithoutBond)])
    #expect(machine.bonds.isEmpty)
  }

  @Test("A key of zeros resolves and signs nothing")
  func zeros() throws {
    var machine = machine((0x40, identity))
    _ = machine.take(try resolving("00"))
    _ = machine.take(try signature("00"))
    let bond = try bonded(machine.take(try encryption("ab")))
    #expect(bond.identityResolvingKey == nil && bond.signatureKeys.isEmpty)
  }

  @Test(
    "A debug key, or one of zeros, refuses all of the pairing, and the bond before it holds",
    arguments: [(4, "ab"), (2, "00")])
  func notSecret(type: Int, octet: String) throws {
    var machine = machine((0x40, identity))
    let earlier = try bonded(machine.take(try encryption("ab")))
    _ = machine.take(try resolving("cd"))
    let actions = machine.take(try encryption(octet, type: type))
    let device = ManagementAddress(identity)
    #expect(
      actions.dropFirst() == [
        .failed(device, .authenticationFailed), .tell(identity, .keysRefused(earlier: earlier)), .unpair(device),
      ])
    #expect(machine.bonds.isEmpty && !machine.keepsKeys(on: 0x40))
    // No other key of the link is kept, also if it is secret.
    #expect(machine.take(try encryption("ac")).isEmpty && machine.bonds.isEmpty)
  }

  @Test("A key that is not secret, after one of the same pairing that was: the bond before both holds again")
  func secondKeyNotSecret() throws {
    var machine = machine((0x40, identity))
    let earlier = try bonded(machine.take(try encryption("ab", type: 1)))
    machine.linkEnded(0x40)
    machine.linkBegan(0x41, identity, identity: identity)
    _ = machine.take(try resolving("cd"))
    _ = machine.take(try encryption("a1", type: 0, central: true))
    let actions = machine.take(try encryption("00", type: 0))
    #expect(actions.contains(.tell(identity, .keysRefused(earlier: earlier))))
  }

  @Test("A key that is not secret, of the pairing after: the bond of the one before holds again")
  func nextPairingNotSecret() throws {
    var machine = machine((0x40, identity))
    _ = machine.take(try encryption("ab"))
    let second = try bonded(machine.take(try encryption("ac")))
    let actions = machine.take(try encryption("ad", type: 4))
    #expect(actions.contains(.tell(identity, .keysRefused(earlier: second))))
  }

  // MARK: - Identities

  @Test("An identity without an address that was used is that of the one link with a non-resolvable address")
  func nonResolvableClaim() throws {
    var machine = machine((0x40, nonResolvable), (0x41, resolvable))
    #expect(machine.take(try resolving("cd")).isEmpty)
    #expect(machine.identity(on: 0x40) == identity && machine.identity(on: 0x41) == resolvable)
    #expect(machine.handle(of: identity) == 0x40)
  }

  @Test("An identity that another link has is refused: the claimant ends, neither link keeps keys")
  func stolenIdentity() throws {
    var machine = machine((0x40, identity), (0x41, resolvable))
    machine.setBonds([Bond(local: local, peer: identity)], isRunning: false)
    let actions = machine.take(try resolving("cd", used: "55443322114a"))
    #expect(actions.dropFirst() == [.disconnect(handle: 0x41)])
    #expect(machine.take(try encryption("ab")).isEmpty)
    #expect(!machine.keepsKeys(on: 0x40) && !machine.keepsKeys(on: 0x41))
    // The kernel has the claimant's keys: it gets ours when no link uses any.
    machine.linkEnded(0x41)
    #expect(machine.takeNewBonds() == nil)
    machine.linkEnded(0x40)
    #expect(machine.takeNewBonds() == [Bond(local: local, peer: identity)])
    #expect(machine.takeNewBonds() == nil)
  }

  @Test("An identity that two links may have is refused on both")
  func doubtfulIdentity() throws {
    let other = DeviceAddress(value: 0x0B11_2233_4455, kind: .random)
    var machine = machine((0x40, nonResolvable), (0x41, other))
    let actions = machine.take(try resolving("cd"))
    #expect(actions.dropFirst() == [.disconnect(handle: 0x40), .disconnect(handle: 0x41)])
    #expect(machine.take(try encryption("ab")).isEmpty && machine.bonds.isEmpty)
  }

  // MARK: - Bonds

  @Test("New bonds of this adapter are given to the kernel once, without links, and while the controller runs")
  func newBonds() {
    let own = Bond(local: local, peer: identity)
    let other = Bond(local: DeviceAddress(value: 0x00AA_0100_0001, kind: .public), peer: identity)
    var machine = machine((0x40, resolvable))
    machine.setBonds([own, other], isRunning: false)
    machine.linkEnded(0x40)
    #expect(machine.takeNewBonds() == nil, "all are loaded when the controller is brought into use")
    machine.setBonds([own], isRunning: true)
    #expect(machine.takeNewBonds() == nil)
    let next = Bond(local: local, peer: resolvable)
    machine.setBonds([own, other, next], isRunning: true)
    machine.linkBegan(0x41, resolvable, identity: resolvable)
    #expect(machine.takeNewBonds() == nil)
    machine.linkEnded(0x41)
    #expect(machine.takeNewBonds() == [own, next])
  }

  @Test("A link that ends during a pairing leaves its first keys without a bond, and the next link is not refused")
  func endsDuringPairing() throws {
    var machine = machine((0x40, resolvable))
    _ = machine.take(try resolving("cd", used: "55443322114a"))
    machine.linkEnded(0x40)
    #expect(machine.bonds.isEmpty && machine.known(identity) == identity && machine.handle(of: identity) == nil)
    machine.linkBegan(0x40, identity, identity: identity)
    #expect(machine.keepsKeys(on: 0x40))
    let bond = try bonded(machine.take(try encryption("ab")))
    #expect(machine.bonds == [bond])
  }

  @Test("A bond that is forgotten is that of this adapter alone")
  func forgotten() {
    let other = Bond(local: DeviceAddress(value: 0x00AA_0100_0001, kind: .public), peer: identity)
    var machine = machine()
    machine.setBonds([Bond(local: local, peer: identity), other], isRunning: false)
    machine.forget(identity)
    #expect(machine.bonds == [other])
  }
}
