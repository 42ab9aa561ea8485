import Adapter
import Bluetooth
import HCI
import Testing

@testable import Controllers

/// The kernel's events are written as it sends them: event, index, length, parameters.
@Suite("The keys of pairings")
final class KeyMachineTests {
  /// The bonds that the owner has kept.
  private var kept: [DeviceAddress: Bond] = [:]
  private let local = DeviceAddress(value: 0x00AA_0100_0000, kind: .public)
  private let identity = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)
  private let resolvable = DeviceAddress(value: 0x4A11_2233_4455, kind: .random)
  private let nonResolvable = DeviceAddress(value: 0x0A11_2233_4455, kind: .random)

  private func machine(_ links: (UInt16, DeviceAddress)...) -> KeyMachine {
    var machine = KeyMachine()
    for (handle, peer) in links { machine.linkBegan(handle, peer, identity: peer) }
    return machine
  }

  /// Receives a key, and makes the owner keep the reported bond.
  /// - Parameter isHeard: true if the owner receives it before the next key.
  private func receive(
    _ machine: inout KeyMachine, _ event: ManagementEvent, isHeard: Bool = true
  ) -> [KeyMachine.Action] {
    let actions = machine.receive(event, on: local) { kept[$0] }
    for case .tell(_, .bonded(let bond)) in actions where isHeard { kept[bond.peer] = bond }
    return actions
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
    #expect(receive(&machine, try resolving("cd", used: "55443322114a")).isEmpty)
    #expect(receive(&machine, try signature("ee")).isEmpty)
    #expect(kept.isEmpty && machine.identities.known(identity) == resolvable)
    let actions = receive(&machine, try encryption("ab"))
    let bond = try bonded(actions)
    #expect(actions == [.tell(resolvable, .bonded(bond))])
    #expect(bond.local == local && bond.peer == identity && bond.identityResolvingKey == octets(0xCD))
    #expect(bond.longTermKeys.map(\.value) == [octets(0xAB)] && bond.signatureKeys.map(\.value) == [octets(0xEE)])
    #expect(machine.bondMade(with: identity) == bond && machine.identities.identity(on: 0x40) == identity)
  }

  @Test("Legacy pairing gives a key for each role; both are of one bond", arguments: [true, false])
  func bothRoles(isHeard: Bool) throws {
    var machine = machine((0x40, identity))
    _ = receive(&machine, try resolving("cd"))
    _ = receive(&machine, try encryption("a1", type: 0, central: true), isHeard: isHeard)
    let bond = try bonded(receive(&machine, try encryption("a2", type: 0)))
    #expect(Set(bond.longTermKeys.map(\.role)) == [.central, .peripheral] && bond.identityResolvingKey == octets(0xCD))
  }

  @Test("Keys of a new pairing replace the whole bond: nothing of the earlier one stays")
  func replaced() throws {
    var machine = machine((0x40, identity))
    _ = receive(&machine, try signature("ee"))
    _ = receive(&machine, try encryption("ab"))
    _ = receive(&machine, try resolving("cd"))
    let bond = try bonded(receive(&machine, try encryption("ac")))
    #expect(bond.signatureKeys.isEmpty && bond.longTermKeys.map(\.value) == [octets(0xAC)])
    #expect(machine.bondMade(with: identity) == bond)
  }

  @Test("A key that is not to be stored makes no bond")
  func notStored() throws {
    var machine = machine((0x40, identity))
    #expect(receive(&machine, try encryption("ab", stored: false)) == [.tell(identity, .pairedWithoutBond)])
    #expect(machine.bondMade(with: identity) == nil)
  }

  @Test("A key of zeros resolves and signs nothing")
  func zeros() throws {
    var machine = machine((0x40, identity))
    _ = receive(&machine, try resolving("00"))
    _ = receive(&machine, try signature("00"))
    let bond = try bonded(receive(&machine, try encryption("ab")))
    #expect(bond.identityResolvingKey == nil && bond.signatureKeys.isEmpty)
  }

  @Test(
    "A debug key, or one of zeros, refuses all of the pairing, and the bond before it holds",
    arguments: [(4, "ab"), (2, "00")])
  func notSecret(type: Int, octet: String) throws {
    var machine = machine((0x40, identity))
    let earlier = try bonded(receive(&machine, try encryption("ab")))
    _ = receive(&machine, try resolving("cd"))
    let actions = receive(&machine, try encryption(octet, type: type))
    let device = ManagementAddress(identity)
    #expect(
      actions.dropFirst() == [
        .failed(device, .authenticationFailed), .tell(identity, .keysRefused(earlier: earlier)), .unpair(device),
      ])
    #expect(machine.bondMade(with: identity) == nil && !machine.acceptsKeys(on: 0x40))
    // No other key of the link is kept, also if it is secret.
    #expect(receive(&machine, try encryption("ac")).isEmpty && machine.bondMade(with: identity) == nil)
  }

  @Test("A key that is not secret, after one of the same pairing that was: the bond before both holds again")
  func secondKeyNotSecret() throws {
    var machine = machine((0x40, identity))
    let earlier = try bonded(receive(&machine, try encryption("ab", type: 1)))
    machine.linkEnded(0x40)
    machine.linkBegan(0x41, identity, identity: identity)
    _ = receive(&machine, try resolving("cd"))
    _ = receive(&machine, try encryption("a1", type: 0, central: true))
    let actions = receive(&machine, try encryption("00", type: 0))
    #expect(actions.contains(.tell(identity, .keysRefused(earlier: earlier))))
  }

  @Test("A key that is not secret, of the pairing after: the bond of the one before holds again")
  func nextPairingNotSecret() throws {
    var machine = machine((0x40, identity))
    _ = receive(&machine, try encryption("ab"))
    let second = try bonded(receive(&machine, try encryption("ac")))
    let actions = receive(&machine, try encryption("ad", type: 4))
    #expect(actions.contains(.tell(identity, .keysRefused(earlier: second))))
  }

  // MARK: - Identities

  @Test("An identity without an address that was used is that of the one link with a non-resolvable address")
  func nonResolvableClaim() throws {
    var machine = machine((0x40, nonResolvable), (0x41, resolvable))
    #expect(receive(&machine, try resolving("cd")).isEmpty)
    #expect(machine.identities.identity(on: 0x40) == identity)
    #expect(machine.identities.identity(on: 0x41) == resolvable && machine.identities.handles(of: identity) == [0x40])
  }

  @Test("An identity that another link has is refused: the claimant ends, neither link keeps keys")
  func stolenIdentity() throws {
    var machine = machine((0x40, identity), (0x41, resolvable))
    kept[identity] = Bond(local: local, peer: identity)
    let actions = receive(&machine, try resolving("cd", used: "55443322114a"))
    #expect(actions.dropFirst() == [.disconnect(handle: 0x41)])
    #expect(receive(&machine, try encryption("ab")).isEmpty)
    #expect(!machine.acceptsKeys(on: 0x40) && !machine.acceptsKeys(on: 0x41))
    // The kernel has the claimant's keys: it gets ours when no link uses any.
    machine.linkEnded(0x41)
    #expect(!machine.isReloadDue)
    machine.linkEnded(0x40)
    #expect(machine.isReloadDue)
  }

  @Test("An identity that two links may have is refused on both")
  func doubtfulIdentity() throws {
    let other = DeviceAddress(value: 0x0B11_2233_4455, kind: .random)
    var machine = machine((0x40, nonResolvable), (0x41, other))
    let actions = receive(&machine, try resolving("cd"))
    #expect(actions.dropFirst() == [.disconnect(handle: 0x40), .disconnect(handle: 0x41)])
    #expect(receive(&machine, try encryption("ab")).isEmpty && machine.bondMade(with: identity) == nil)
  }

  // MARK: - Bonds

  @Test("The kernel is told bonds that it does not know once, and without links")
  func newBonds() {
    var machine = machine((0x40, resolvable))
    machine.linkEnded(0x40)
    #expect(!machine.isReloadDue)
    machine.linkBegan(0x41, resolvable, identity: resolvable)
    machine.bondsAdded()
    #expect(!machine.isReloadDue)
    machine.linkEnded(0x41)
    #expect(machine.isReloadDue)
    machine.bondsAreLoaded([])
    #expect(!machine.isReloadDue)
  }

  @Test("The kernel has the keys that it was told or made, until they are refused, replaced or removed")
  func knownKeys() throws {
    var machine = machine((0x40, identity))
    let made = try bonded(receive(&machine, try encryption("ab")))
    #expect(machine.isKnown(made))
    let other = try bonded(receive(&machine, try encryption("cd")))
    #expect(machine.isKnown(other) && !machine.isKnown(made))
    machine.forget(identity)
    #expect(!machine.isKnown(other))
    machine.bondsAreLoaded([made])
    #expect(machine.isKnown(made) && !machine.isKnown(other))
    _ = receive(&machine, try encryption("ee", type: 4))
    #expect(!machine.isKnown(made), "the kernel has the key in its place, and removes it")
    machine.bondsAreLoaded([made])
    machine.bondsAreRefused()
    #expect(!machine.isKnown(made))
    // They are loaded again once there is no link.
    #expect(!machine.isReloadDue)
    machine.linkEnded(0x40)
    #expect(machine.isReloadDue)
    machine.bondsAreLoaded([made])
    #expect(machine.isKnown(made) && !machine.isReloadDue)
  }

  @Test("A link that ends during a pairing leaves its first keys without a bond, and the next link is not refused")
  func endsDuringPairing() throws {
    var machine = machine((0x40, resolvable))
    _ = receive(&machine, try resolving("cd", used: "55443322114a"))
    machine.linkEnded(0x40)
    #expect(machine.identities.known(identity) == identity && machine.identities.handles(of: identity).isEmpty)
    machine.linkBegan(0x40, identity, identity: identity)
    #expect(machine.acceptsKeys(on: 0x40))
    let bond = try bonded(receive(&machine, try encryption("ab")))
    #expect(bond.identityResolvingKey == octets(0xCD))
  }

  @Test("A bond that was refused, or removed, is not that of its link any more; the owner's is")
  func forgotten() throws {
    var machine = machine((0x40, identity))
    let own = Bond(local: local, peer: identity)
    kept[identity] = own
    _ = receive(&machine, try resolving("cd"))
    _ = receive(&machine, try encryption("ab"), isHeard: false)
    #expect(machine.bondMade(with: identity)?.identityResolvingKey == octets(0xCD))
    machine.forget(identity)
    #expect(machine.bondMade(with: identity) == nil)
    // A key without others belongs to the existing bond.
    let next = try bonded(receive(&machine, try encryption("ac")))
    #expect(next.identityResolvingKey == nil && next.longTermKeys.map(\.value) == [octets(0xAC)])
  }

  @Test("The bond that a pairing made ends with its link: the owner has it")
  func madeOnLink() throws {
    var machine = machine((0x40, identity))
    let bond = try bonded(receive(&machine, try encryption("ab")))
    machine.linkEnded(0x40)
    machine.linkBegan(0x40, identity, identity: identity)
    #expect(machine.bondMade(with: identity) == nil && kept[identity] == bond)
  }
}
