import MultipeerConnectivity

/// A program that joins whoever invites it. The methods of delegates that it does not need are absent.
final class Sessions: NSObject, MCNearbyServiceAdvertiserDelegate, MCSessionDelegate {
  private let session = MCSession(peer: MCPeerID(displayName: "Plain"))
  private lazy var advertiser = MCNearbyServiceAdvertiser(
    peer: session.myPeerID, discoveryInfo: nil, serviceType: "plain")
  private var states: [MCPeerID: MCSessionState] = [:]

  func start() {
    session.delegate = self
    advertiser.delegate = self
    advertiser.startAdvertisingPeer()
  }

  func advertiser(
    _ advertiser: MCNearbyServiceAdvertiser, didReceiveInvitationFromPeer peerID: MCPeerID, withContext context: Data?,
    invitationHandler: @escaping (Bool, MCSession?) -> Void
  ) { invitationHandler(true, session) }

  func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
    DispatchQueue.main.async { self.states[peerID] = state }
  }

  func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
    try? session.send(data, toPeers: [peerID], with: .reliable)
  }

  func session(
    _ session: MCSession, didReceive stream: InputStream, withName streamName: String, fromPeer peerID: MCPeerID
  ) {}

  func session(
    _ session: MCSession, didStartReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    with progress: Progress
  ) {}

  func session(
    _ session: MCSession, didFinishReceivingResourceWithName resourceName: String, fromPeer peerID: MCPeerID,
    at localURL: URL?, withError error: (any Error)?
  ) {}
}
