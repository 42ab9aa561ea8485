import Adapter
import Bluetooth
import Testing

@testable import BledCore

/// The bond that gives way when there are too many.
@Suite struct BondEvictionTests {
  private func candidates(
    _ count: Int, of user: UInt32?, from first: UInt64 = 0, isAuthenticated: Bool = true, isLinked: Bool = false
  ) -> [BondEviction.Candidate] {
    (0..<UInt64(count)).map { index in
      var bond = Bond(
        local: DeviceAddress(value: 1, kind: .public),
        peer: DeviceAddress(value: 0xC000_0000_0000 + first + index, kind: .random))
      bond.add(
        LongTermKey(
          value: [UInt8](repeating: 5, count: 16), size: 16, diversifier: 0, random: 0,
          isAuthenticated: isAuthenticated, isSecureConnections: true, role: .central))
      return .init(bond: bond, user: user, isLinked: isLinked)
    }
  }

  private func victim(_ candidates: [BondEviction.Candidate]) -> Bond? {
    BondEviction(candidates: candidates).victim
  }

  @Test("a user who pairs too many devices loses their own", arguments: [UInt32(1001), nil])
  func share(user: UInt32?) {
    let most = user == nil ? BondEviction.maximumOfPolicy : BondEviction.maximumOfUser
    let others = candidates(100, of: 1002, from: 1000, isAuthenticated: false)
    #expect(victim(candidates(most, of: user) + others) == nil)
    let own = candidates(most + 1, of: user)
    #expect(victim(own + others) == own.last?.bond)
  }

  @Test("at the limit of all, the user with the most gives way; unauthenticated ones go first, connected ones never")
  func total() {
    let new = candidates(1, of: 1001)
    let root = candidates(200, of: 0, from: 1000)
    let others = candidates(56, of: 1002, from: 2000, isAuthenticated: false)
    #expect(victim(new + root + others) == root.last?.bond)
    let weak = candidates(1, of: 0, from: 3000, isAuthenticated: false)
    #expect(victim(new + weak + root.dropLast() + others) == weak[0].bond)
    let connected = candidates(200, of: 0, from: 1000, isLinked: true)
    #expect(victim(new + connected + others) == others.last?.bond)
  }

  @Test("where all others are connected, the new one is not kept")
  func allConnected() {
    let new = candidates(1, of: 1001)
    #expect(victim(new + candidates(256, of: 0, from: 1000, isLinked: true)) == new[0].bond)
  }
}
