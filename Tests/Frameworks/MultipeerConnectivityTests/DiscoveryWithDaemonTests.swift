import DaemonTestSupport
@testable import MultipeerConnectivity
import Testing

/// Advertisers and browsers on one daemon, each with an adapter of its own.
@Suite(.timeLimit(.minutes(10))) struct DiscoveryWithDaemonTests {
  @Test("a browser finds an advertiser with its information, and loses it when it stops")
  func found() async throws {
    let daemon = try await Daemon(adapters: 2)
    let alice = Party("Alice", daemon, adapter: 0)
    let bob = Party("Bob", daemon, adapter: 1, info: ["game": "chess"])
    alice.browser.startBrowsingForPeers()
    bob.advertiser.startAdvertisingPeer()
    try await until { alice.read { !$0.found.isEmpty } }
    #expect(alice.read { $0.found.map(\.peer) } == [bob.peer])
    #expect(alice.read { $0.found.first?.peer.displayName } == "Bob")
    #expect(alice.read { $0.found.first?.info } == ["game": "chess"])
    bob.advertiser.stopAdvertisingPeer()
    try await until { alice.read { !$0.lost.isEmpty } }
    #expect(alice.read { $0.lost } == [bob.peer])
    // A browser that was stopped and started again finds all again.
    alice.browser.stopBrowsingForPeers()
    alice.browser.startBrowsingForPeers()
    bob.advertiser.startAdvertisingPeer()
    try await until { alice.read { $0.found.count == 2 } }
  }

  @Test("the information of another advertiser of the same peer is found, too")
  func changedInformation() async throws {
    let daemon = try await Daemon(adapters: 2)
    let alice = Party("Alice", daemon, adapter: 0)
    let bob = Party("Bob", daemon, adapter: 1, info: ["level": "1"])
    alice.browser.startBrowsingForPeers()
    bob.advertiser.startAdvertisingPeer()
    try await until { alice.read { $0.found.first?.info } == ["level": "1"] }
    bob.advertiser.stopAdvertisingPeer()
    let other = MCNearbyServiceAdvertiser(
      peer: bob.peer, discoveryInfo: ["level": "2"], serviceType: Party.serviceType)
    other.startAdvertisingPeer()
    try await until { alice.read { $0.found.last?.info } == ["level": "2"] }
    #expect(alice.read { $0.found.last?.peer } == bob.peer)
  }

  @Test("without a daemon, and with too much information, the delegate is told that nothing begins")
  func notStarted() async throws {
    let daemon = try await Daemon(adapters: 1)
    let place = Place(socket: daemon.folder.appendingPathComponent("none").path, adapter: nil)
    let lost = Party(MCPeerID(displayName: "Lost", place: place))
    lost.browser.startBrowsingForPeers()
    lost.advertiser.startAdvertisingPeer()
    try await until { lost.read { $0.failures.count == 2 } }
    #expect(lost.read { $0.failures.allSatisfy { ($0 as? MCError)?.code == .unavailable } })
    let verbose = Party("Verbose", daemon, adapter: 0, info: ["text": String(repeating: "x", count: 300)])
    verbose.advertiser.startAdvertisingPeer()
    try await until { verbose.read { !$0.failures.isEmpty } }
    #expect(verbose.read { ($0.failures.first as? MCError)?.code } == .invalidParameter)
  }
}
