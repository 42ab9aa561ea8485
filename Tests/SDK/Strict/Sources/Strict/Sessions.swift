@preconcurrency import MultipeerConnectivity

/// Peers of the main actor, as programs in Swift 6 mode write it.
@MainActor
final class Peers: NSObject {
  private(set) var near: Set<MCPeerID> = []
  private let browser = MCNearbyServiceBrowser(peer: MCPeerID(displayName: "Strict"), serviceType: "strict")

  func start() {
    browser.delegate = self
    browser.startBrowsingForPeers()
  }
}

extension Peers: MCNearbyServiceBrowserDelegate {
  nonisolated func browser(
    _ browser: MCNearbyServiceBrowser, foundPeer peerID: MCPeerID, withDiscoveryInfo info: [String: String]?
  ) { Task { @MainActor in near.insert(peerID) } }

  nonisolated func browser(_ browser: MCNearbyServiceBrowser, lostPeer peerID: MCPeerID) {
    Task { @MainActor in near.remove(peerID) }
  }
}
