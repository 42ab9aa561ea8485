import BledClient
@testable import MultipeerConnectivity
import Testing

/// Peers and errors as values.
@Suite struct PeerTests {
  @Test("two peers with one name are different, in tables, too")
  func equality() {
    let (first, second) = (MCPeerID(displayName: "Bob"), MCPeerID(displayName: "Bob"))
    #expect(first != second && first == first)
    var table: [MCPeerID: Int] = [:]
    for number in 0..<1000 { table[MCPeerID(displayName: "Bob")] = number }
    #expect(table.count == 1000)
    for (peer, number) in table { #expect(table[peer] == number) }
    for peer in table.keys { table[peer] = nil }
    #expect(table.isEmpty)
  }

  @Test("a peer without a name has that of the host")
  func unnamed() {
    #expect(!MCPeerID(displayName: "").displayName.isEmpty)
    #expect(MCPeerID(displayName: String(repeating: "x", count: 63)).displayName.utf8.count == 63)
  }

  @Test("a peer of an archive is the same peer")
  func archive() throws {
    let peer = MCPeerID(displayName: "Bob \u{1F43B}")
    let archive = try NSKeyedArchiver.archivedData(withRootObject: peer, requiringSecureCoding: true)
    let restored = try #require(try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive))
    #expect(restored == peer && restored !== peer && restored.displayName == peer.displayName)
    #expect(restored.hash == peer.hash && [peer: 1][restored] == 1)
    #expect(restored.identifier == peer.identifier)
    #expect(peer.copy() as? MCPeerID == peer)
  }

  @Test("an archive that is none of a peer gives none")
  func foreignArchive() throws {
    let archive = try NSKeyedArchiver.archivedData(withRootObject: NSString(string: "Bob"), requiringSecureCoding: true)
    #expect((try? NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: archive)) == nil)
  }

  @Test("errors can be caught by type and by code")
  func errors() {
    let error: any Error = NSError.multipeer(.timedOut, "late")
    #expect((error as? MCError)?.code == .timedOut && MCErrorDomain == (error as NSError).domain)
    do { throw error } catch MCError.timedOut {} catch { Issue.record("not caught") }
    #expect(NSError.multipeer(GAPError.notConnected.error("")).code == MCError.Code.notConnected.rawValue)
    #expect(NSError.multipeer(BledError.limitReached.error("")).code == MCError.Code.unavailable.rawValue)
    #expect(Set([MCError(.timedOut), MCError(.timedOut), MCError(.unknown)]).count == 2)
    #expect(MCError.Code.unavailable.rawValue == 6 && MCSessionState.connected.rawValue == 2)
  }
}
