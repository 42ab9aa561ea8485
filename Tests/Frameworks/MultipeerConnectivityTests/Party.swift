import DaemonTestSupport
@testable import MultipeerConnectivity
import TestSupport

/// A program with a peer, an adapter of its own, and delegates that record their calls.
final class Party: NSObject, @unchecked Sendable {
  struct Log {
    var found: [(peer: MCPeerID, info: [String: String]?)] = []
    var lost: [MCPeerID] = []
    var failures: [any Error] = []
    var invitations: [(peer: MCPeerID, context: Data?, answer: (Bool, MCSession?) -> Void)] = []
    var states: [(peer: MCPeerID, state: MCSessionState)] = []
    var data: [Data] = []
    var streams: [(stream: InputStream, name: String)] = []
    var started: [(name: String, progress: Progress)] = []
    var finished: [(name: String, url: URL?, contents: Data?, error: MCError?)] = []
    var certificates: [[Any]?] = []
    var judgements: [(Bool) -> Void] = []
  }

  static let serviceType = "bled-test"

  let peer: MCPeerID
  private(set) var session: MCSession
  let advertiser: MCNearbyServiceAdvertiser
  let browser: MCNearbyServiceBrowser
  /// The answer to invitations; nil: the test gives it.
  var accepts: Bool? = true
  /// True to invite found peers, until they have been connected: on a busy machine an invitation may take too long.
  var invites = false
  /// The judgement of certificates; nil: the test gives it.
  var acceptsCertificates: Bool? = true
  private let lock = NSLock()
  private var log = Log()

  convenience init(
    _ name: String, _ daemon: Daemon, adapter: Int, encryption: MCEncryptionPreference = .required,
    identity: [Any]? = nil, info: [String: String]? = nil, clock: HeldClock = HeldClock()
  ) {
    let place = Place(socket: daemon.socket, adapter: daemon.adapter(adapter), clock: clock)
    self.init(
      MCPeerID(displayName: name, place: place), encryption: encryption, identity: identity, info: info)
  }

  init(
    _ peer: MCPeerID, encryption: MCEncryptionPreference = .required, identity: [Any]? = nil,
    info: [String: String]? = nil
  ) {
    self.peer = peer
    session = MCSession(peer: peer, securityIdentity: identity, encryptionPreference: encryption)
    advertiser = MCNearbyServiceAdvertiser(peer: peer, discoveryInfo: info, serviceType: Self.serviceType)
    browser = MCNearbyServiceBrowser(peer: peer, serviceType: Self.serviceType)
    super.init()
    session.delegate = self
    advertiser.delegate = self
    browser.delegate = self
  }

  func read<Value>(_ body: (Log) -> Value) -> Value { lock.withLock { body(log) } }

  private func write(_ body: (inout Log) -> Void) { lock.withLock { body(&log) } }

  /// The reported states of one peer.
  func states(of other: Party) -> [MCSessionState] {
    read { $0.states.filter { $0.peer == other.peer }.map(\.state) }
  }

  /// Waits until a peer is connected.
  func isConnected(with other: Party) async throws { try await until { states(of: other).last == .connected } }

  private func invite(_ peer: MCPeerID) {
    browser.invitePeer(peer, to: session, withContext: nil, timeout: Double(Patience.seconds))
  }

  /// Invites a peer that was found, until it is connected.
  func invite(_ other: Party) async throws {
    while states(of: other).last != .connected {
      let count = states(of: other).count
      invite(other.peer)
      try await until { states(of: other).count > count && states(of: other).last != .connecting }
    }
  }
}

extension Party: MCNearbyServiceAdvertiserDelegate, MCNearbyServiceBrowserDelegate {
  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) {
    let accepts = accepts
    if let accepts { invitationHandler(accepts, session) }
    write { $0.invitations.append((peerID, context, accepts == nil ? invitationHandler : { _, _ in })) }
  }

  func advertiser(_ advertiser: MCNearbyServiceAdvertiser, didNotStartAdvertisingPeer error: any Error) {
    write { $0.failures.append(error) }
  }

  func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) {
    write { $0.found.append((peerID, info)) }
    if invites { invite(peerID) }
  }

  func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) { write { $0.lost.append(peerID) } }

  func browser(_ browser: MCNearbyServiceBrowser, didNotStartBrowsingForPeers error: any Error) {
    write { $0.failures.append(error) }
  }
}

extension Party: MCSessionDelegate {
  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    write { $0.states.append((peerID, state)) }
    let isToConnect = read { log in
      log.found.contains { $0.peer == peerID } && !log.states.contains { $0 == (peerID, .connected) }
    }
    if invites, state == .notConnected, isToConnect { invite(peerID) }
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    write { $0.data.append(data) }
  }

  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
  ) { write { $0.streams.append((stream, streamName)) } }

  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress
  ) { write { $0.started.append((resourceName, progress)) } }

  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?
  ) {
    let contents = localURL.flatMap { try? Data(contentsOf: $0) }
    write { $0.finished.append((resourceName, localURL, contents, error as? MCError)) }
  }

  func session(
    _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
    certificateHandler: @escaping (Bool) -> Void
  ) {
    let accepts = acceptsCertificates
    if let accepts { certificateHandler(accepts) }
    write {
      $0.certificates.append(certificate)
      if accepts == nil { $0.judgements.append(certificateHandler) }
    }
  }
}

extension Party {
  /// Two parties with a connection.
  static func connected(_ daemon: Daemon) async throws -> (alice: Party, bob: Party) {
    let (alice, bob) = (Party("Alice", daemon, adapter: 0), Party("Bob", daemon, adapter: 1))
    alice.invites = true
    alice.browser.startBrowsingForPeers()
    bob.advertiser.startAdvertisingPeer()
    try await alice.isConnected(with: bob)
    try await bob.isConnected(with: alice)
    return (alice, bob)
  }
}
