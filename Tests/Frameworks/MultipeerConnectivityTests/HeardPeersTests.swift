@testable import MultipeerConnectivity
@testable import NearbySessions
import Testing

/// Peers that are received as several devices.
@Suite struct HeardPeersTests {
  private static func peer(_ device: String, _ information: [String: String] = [:]) throws -> FoundPeer {
    FoundPeer(identifier: 5, name: "Bob", information: information, peripheral: device)
  }

  private static func found(_ change: NearbyChange?) -> FoundPeer? {
    if case .found(let peer)? = change { peer } else { nil }
  }

  @Test("another device with the identifier of a peer neither takes its place nor makes it lost")
  func stranger() throws {
    var heard = HeardPeers()
    let (bob, mallory) = (try Self.peer("a"), try Self.peer("b"))
    expect(Self.found(heard.change(.found(bob))) == bob)
    expect(heard.change(.found(mallory)) == nil)
    #expect(heard[5] == bob && heard.all == [bob])
    expect(heard.change(.lost(mallory)) == nil)
    expect(heard.change(.lost(mallory)) == nil)
    let changed = try Self.peer("a", ["level": "2"])
    expect(Self.found(heard.change(.found(changed))) == changed)
    #expect(heard[5] == changed)
    guard case .lost(changed)? = heard.change(.lost(changed)) else { throw Missing() }
    #expect(heard[5] == nil && heard.all.isEmpty)
  }

  @Test("a peer that is heard as another device stays")
  func restarted() throws {
    var heard = HeardPeers()
    let (former, new) = (try Self.peer("a"), try Self.peer("b"))
    _ = heard.change(.found(former))
    _ = heard.change(.found(new))
    expect(Self.found(heard.change(.lost(former))) == new)
    #expect(heard[5] == new)
  }

  private struct Missing: Error {}
}
