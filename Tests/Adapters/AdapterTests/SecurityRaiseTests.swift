import Adapter
import Bluetooth
import Testing

/// The way to a more secure link.
struct SecurityRaiseTests {
  private let peer = DeviceAddress(value: 0xC0DE_0000_0001, kind: .random)

  private func way(_ level: Int, _ keyLevel: Int?, replacesBond: Bool) -> String {
    switch SecurityRaise(to: level, keyLevel: keyLevel, replacesBond: replacesBond, peer: peer) {
    case .encrypt: "encrypt"
    case .pair: "pair"
    case .refuse(let error): error.name
    }
  }

  @Test("keys that suffice are used; weaker ones are replaced on request only")
  func ways() {
    for replacesBond in [false, true] {
      #expect(way(2, nil, replacesBond: replacesBond) == "pair")
      #expect(way(2, 2, replacesBond: replacesBond) == "encrypt")
      #expect(way(3, 4, replacesBond: replacesBond) == "encrypt")
    }
    #expect(way(3, 2, replacesBond: false) == "pairingFailed")
    #expect(way(4, 3, replacesBond: true) == "pair")
  }

  @Test("keys for the other role give no level")
  func roles() {
    var bond = Bond(local: peer, peer: peer)
    bond.add(
      LongTermKey(
        value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 0, random: 1, isAuthenticated: true,
        isSecureConnections: false, role: .central))
    #expect(bond.level(as: .central) == 3 && bond.reaches(3, as: .central))
    #expect(bond.level(as: .peripheral) == nil && !bond.reaches(2, as: .peripheral))
  }
}
